"""Wordings of attributes: compiled from the file of a language, and matched with the words of a clause."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from neurogated.core.claims import Change
from neurogated.knowledge.read.table import Attribute, attributes, packaged_table
from neurogated.text.normalise import Token, tokens_of

__all__ = ["Language", "Match", "Wording", "attribute_of_words", "language"]

_SUBJECT, _OWNER, _VALUE, _GAP = "{s}", "{s's}", "{v}", "…"
_MOST_BEFORE, _MOST_BETWEEN = 14, 8
"""Words before the first word of a wording, and words between two of its words."""
_CHANGES = {"+": Change.BEGINS, "-": Change.ENDS}


class Element(NamedTuple):
    """A part of a wording: a variable, or a word in some forms."""

    kind: str
    forms: frozenset[str] = frozenset()
    is_optional: bool = False


class Wording(NamedTuple):
    """One way to say the value of an attribute."""

    attribute: str
    elements: tuple[Element, ...]
    change: Change | None = None
    is_timeless: bool = False
    """Whether its tense does not say when it holds, as in "was born in"."""

    @property
    def words(self) -> int:
        """The number of its words, which shows how specific it is."""
        return sum(not each.kind for each in self.elements)


class Match(NamedTuple):
    """Where a wording found its parts: begin and end of each."""

    wording: Wording
    subject: tuple[int, int]
    is_owner: bool
    value: tuple[int, int]
    used: tuple[int, ...]
    """The places of its words."""
    verb: str
    """Its first word as it stands in the clause."""


class Language:
    """The words and wordings of one language."""

    def __init__(self, code: str) -> None:
        data = packaged_table(code)
        self.code = code
        self.has_spaces = code != "zh"
        self._verbs: dict[str, str] = data.get("verbs", {})
        self.words: dict[str, frozenset[str]] = {
            name: frozenset(word.strip() for word in words.split("|")) for name, words in data["words"].items()
        }
        self.cues = _cue_index(data["cues"])
        self.wordings = tuple(self._wordings(data["wordings"]))
        counts = Counter(form for each in self.wordings for element in each.elements for form in element.forms)
        self._by_key: dict[str, list[Wording]] = {}
        for wording in self.wordings:
            needed = [each for each in wording.elements if each.forms and not each.is_optional]
            rarest = min(needed, key=lambda each: max(counts[form] for form in each.forms))
            for form in rarest.forms:
                self._by_key.setdefault(form, []).append(wording)
        self.past = (
            frozenset(word for forms in self._verbs.values() for word in forms.split()[:1]) - {"am", "has"}
            | {form for each in counts for form in (each,) if self.has_spaces and each.endswith("ed")}
            | self.words.get("past", frozenset())
        )
        self.verbs = frozenset(
            form
            for each in self.wordings
            for before, element in zip(each.elements, each.elements[1:], strict=False)
            if before.kind == _SUBJECT
            for form in element.forms
        )

    @functools.cached_property
    def finite(self) -> frozenset[str]:
        """Verbs of wordings after which a value follows."""
        return frozenset(form for form in self.verbs if not form.endswith("ing"))

    def forms(self, lemma: str) -> frozenset[str]:
        """Return the forms of a verb."""
        if not self.has_spaces:
            return frozenset((lemma,))
        if lemma in self._verbs:
            own = self._verbs[lemma].split()
            return frozenset((lemma, f"{lemma}s", f"{lemma}ing", *own))
        stem = lemma.removesuffix("e")
        third = f"{lemma}es" if lemma.endswith(("s", "sh", "ch", "x", "o")) else f"{lemma}s"
        return frozenset((lemma, third, f"{stem}ing", f"{stem}ed"))

    def _wordings(self, tables: dict[str, Any]) -> Iterator[Wording]:
        for key, table in tables.items():
            for line in filter(None, map(str.strip, table.get("says", "").split("\n"))):
                yield self._compiled(key, line)
            for noun in filter(None, table.get("nouns", "").split("|")):
                for pattern in packaged_table(self.code)["patterns"]["noun"].strip().split("\n"):
                    yield self._compiled(key, pattern.replace("{noun}", noun.strip()))

    def _compiled(self, key: str, line: str) -> Wording:
        change = _CHANGES.get(line[0])
        parts = line.lstrip("+-!").split() if self.has_spaces else _han_parts(line.lstrip("+-!"))
        elements: list[Element] = []
        for part in parts:
            if part in (_SUBJECT, _OWNER, _GAP):
                elements.append(Element(part))
            elif part.startswith("{v"):
                elements.append(Element(_VALUE, frozenset()))
            else:
                bare = part.strip("()")
                is_verb = bool(elements) and elements[-1].kind == _SUBJECT
                forms: set[str] = set()
                for word in bare.split("/"):
                    forms |= self.forms(word) if is_verb or word in ("be", "have") else {word}
                elements.append(Element("", frozenset(forms), is_optional=part.startswith("(")))
        return Wording(key, tuple(elements), change, is_timeless=line[0] in "+-!")

    def matches(self, tokens: Sequence[Token], labels: Sequence[str], *, asks: bool = False) -> Iterator[Match]:
        """Yield the matches of wordings with a clause whose words have labels: the names of the cues that they are."""
        keys = {token.word for token in tokens}
        tried: set[int] = set()
        matcher = _Matcher(self, tokens, labels, asks=asks)
        for key in keys & self._by_key.keys():
            for wording in self._by_key[key]:
                if id(wording) not in tried:
                    tried.add(id(wording))
                    if found := matcher.match(wording):
                        yield found


def _han_parts(line: str) -> list[str]:
    parts, rest = [], line.replace(" ", "")
    while rest:
        size = rest.index("}") + 1 if rest[0] == "{" else rest.index(")") + 1 if rest[0] == "(" else 1
        while rest[size : size + 1] == "/":
            size += 2
        parts.append(rest[:size])
        rest = rest[size:]
    return parts


def _cue_index(cues: dict[str, str]) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    index: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for label, phrases in cues.items():
        for phrase in phrases.split("|"):
            words = tuple(token.word for token in tokens_of(phrase.strip()))
            index.setdefault(words[0], []).append((words, label))
    for found in index.values():
        found.sort(key=lambda each: -len(each[0]))
    return index


class _State(NamedTuple):
    """How far a wording fits: the place after it, its variables and the places of its words."""

    end: int
    bound: tuple[tuple[str, int, int], ...] = ()
    used: tuple[int, ...] = ()


class _Matcher:
    """Matches the wordings with one clause."""

    def __init__(self, language: Language, tokens: Sequence[Token], labels: Sequence[str], *, asks: bool) -> None:
        self._words, self._tokens, self._labels, self._asks = language.words, tokens, labels, asks
        self._past = language.past

    def match(self, wording: Wording) -> Match | None:
        """Return where the wording fits first; None if it does not."""
        elements, tokens = wording.elements, self._tokens
        first = next(n for n, each in enumerate(elements) if each.forms)
        for place in range(min(len(tokens), _MOST_BEFORE)):
            start = first
            while elements[start].is_optional and tokens[place].word not in elements[start].forms:
                start += 1
            if tokens[place].word not in elements[start].forms:
                continue
            if not first and any(not self._labels[n] for n in range(place)):
                continue
            before = ((elements[0].kind, 0, place),) if first else ()
            found = self._rest(elements, start + 1, _State(place + 1, before, (place,)))
            if found and all(self._labels[found.end :]):
                return self._found(wording, found)
        return None

    def _found(self, wording: Wording, state: _State) -> Match:
        spans = {kind: (begin, end) for kind, begin, end in state.bound}
        subject = spans.get(_OWNER) or spans.get(_SUBJECT) or (0, 0)
        verb = self._tokens[state.used[0]].word
        return Match(wording, subject, _OWNER in spans, spans.get(_VALUE, (state.end, state.end)), state.used, verb)

    def _rest(self, elements: Sequence[Element], n: int, state: _State) -> _State | None:
        """Match the elements from `n` with the words after a state."""
        tokens, i = self._tokens, state.end
        if n == len(elements):
            return state
        element = elements[n]
        if element.forms:
            if i < len(tokens) and tokens[i].word in element.forms:
                found = self._rest(elements, n + 1, _State(i + 1, state.bound, (*state.used, i)))
                if found:
                    return found
            if i < len(tokens) and self._labels[i] and (found := self._rest(elements, n, state._replace(end=i + 1))):
                return found
            is_open = element.is_optional or (self._asks and not element.forms.isdisjoint(self._words["small"]))
            return self._rest(elements, n + 1, state) if is_open else None
        return self._variable(elements, n, state)

    def _variable(self, elements: Sequence[Element], n: int, state: _State) -> _State | None:
        kind, i, most = elements[n].kind, state.end, len(self._tokens)
        if kind == _OWNER:
            end = _owner_end(self._tokens, i, self._words)
            return self._rest(elements, n + 1, _State(end, (*state.bound, (kind, i, end)), state.used)) if end else None
        if n == len(elements) - 1:
            return _State(most, (*state.bound, (kind, i, most)), state.used) if i < most else None
        for end in range(i + (kind != _GAP), min(most, i + _MOST_BETWEEN) + 1):
            if found := self._rest(elements, n + 1, _State(end, (*state.bound, (kind, i, end)), state.used)):
                return found
        return None


def _owner_end(tokens: Sequence[Token], i: int, words: dict[str, frozenset[str]]) -> int | None:
    if i < len(tokens) and tokens[i].word in words["mine"] | words["theirs"]:
        i += 1
        if i + 1 < len(tokens) and tokens[i + 1].word == "'s":
            return i + 2
        return i
    for end in range(i + 1, min(len(tokens), i + 5)):
        if tokens[end].word == "'s":
            return end + 1
    return None


@functools.cache
def language(code: str) -> Language:
    """Return the words and wordings of a language by its code, such as `en`."""
    return Language(code)


@functools.lru_cache(4_096)
def attribute_of_words(words: str) -> Attribute | None:
    """Return the attribute that words between a subject and a value name in a wording; None if none does."""
    english = language("en")
    for text in (f"Xx {words} Yy", f"Xx's {words} Yy", f"Xx's {words} is Yy"):
        tokens = tokens_of(text)
        labels = [""] * len(tokens)
        if found := max(english.matches(tokens, labels), key=lambda each: each.wording.words, default=None):
            whole = found.value == (len(tokens) - 1, len(tokens))
            if whole and tokens[found.subject[0]].word == "xx":
                return attributes()[found.wording.attribute]
    return None
