"""The words and wordings of a language, compiled from its file."""

from __future__ import annotations

import functools
import itertools
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from typing import NamedTuple

from neurogated.core.claims import Change
from neurogated.knowledge.read.forms import Conjugation
from neurogated.knowledge.read.table import attributes, packaged_table
from neurogated.text.language import FUNCTION_WORDS
from neurogated.text.normalise import tokens_of

SUBJECT, OWNER, VALUE, KEY, NUMBER, GAP = "{s}", "{s's}", "{v}", "{k}", "{n}", "…"
_DETAIL = {OWNER: 0.1, NUMBER: 1}
"""How much a variable makes a wording more specific, in words."""
_OF_NOUNS = ("mine", "theirs", "articles")
"""Lists of words that stand before nouns."""
_NUMBERED = frozenset({"number", "date", "time", "id", "address"})
"""Types of values that may stand after their noun without a verb, as numbers; "my home three rooms" names no place."""
_CHANGES = {"+": Change.BEGINS, "-": Change.ENDS}
_PART = re.compile(r"\{[^}]*\}|\([^)]*\)|\[[^\]]*\]|\S+")
_HAN_PART = re.compile(r"\{[^}]*\}|\[[^\]]*\]|…|[a-z0-9]+|\S")
_CHOICE = re.compile(r"\(([^)]*)\)")


class Element(NamedTuple):
    """A part of a wording: a variable, or a word in some forms."""

    kind: str = ""
    """The variable, or nothing for a word."""
    forms: frozenset[str] = frozenset()
    is_optional: bool = False
    is_value: bool = False
    """Whether the word is the value, too."""
    is_verb: bool = False


@dataclass(frozen=True)
class Wording:
    """One way to say the value of an attribute."""

    attribute: str
    elements: tuple[Element, ...]
    value_kind: str = ""
    change: Change | None = None
    is_denied: bool = False
    is_timeless: bool = False
    """Whether its tense does not say when it holds, as in "was born in"."""
    only_asks: bool = False
    is_past: bool = False
    """Whether it says what was so before, as the perfect of German does."""

    @functools.cached_property
    def first(self) -> int:
        """The place of its first word."""
        return next(n for n, each in enumerate(self.elements) if each.forms)

    @functools.cached_property
    def openings(self) -> frozenset[str]:
        """The words with which its words may begin: optional ones at the beginning may be missing."""
        found = frozenset[str]()
        for each in self.elements[self.first :]:
            found |= each.forms
            if not each.is_optional:
                break
        return found

    @functools.cached_property
    def words(self) -> float:
        """How specific it is: the number of its words, and a little for a kind of value."""
        detail = 0.5 * bool(self.value_kind) + sum(_DETAIL.get(each.kind, 0) for each in self.elements)
        return sum(not each.kind and not each.is_optional for each in self.elements) + detail


class Language:
    """The words and wordings of one language."""

    def __init__(self, code: str) -> None:
        data = packaged_table(code)
        self.code, self.has_spaces = code, code != "zh"
        self.joint = " " if self.has_spaces else ""
        lists = {name: _phrases(words) for name, words in data["words"].items()}
        self.words: defaultdict[str, frozenset[str]] = defaultdict(frozenset, lists)
        """Lists of words by their name; one that the file lacks is empty."""
        self._joined: dict[tuple[str, ...], frozenset[str]] = {}
        self.kinds = {name: _phrases(words) for name, words in data["kinds"].items()}
        self.asks = {word: _phrases(types) for word, types in data["asks"].items()}
        """The types of value that a question word asks for."""
        self.cues = _cue_index(data["cues"], code)
        verbs = (line.split() for line in data.get("forms", {}).get("verbs", "").split(";"))
        self._verbs = {line[0]: line[1:] for line in verbs if line}
        self.persons = {noun: key for key, nouns in data["persons"].items() for noun in _phrases(nouns)}
        self.nouns = self.persons | {noun: key for key, nouns in data["nouns"].items() for noun in _phrases(nouns)}
        self.conjugation = Conjugation(data.get("forms", {}).get("conjugation", ""))
        self.orders = [line.split() for line in _lines(data["patterns"].get("orders", ""))]
        """The orders of a subject, its verb and the rest, besides this one."""
        self.lemmas: set[str] = set()
        """Verbs of subjects as wordings name them, which are commands where they open a sentence."""
        shared: dict[tuple[Element, ...], tuple[Element, ...]] = {}
        self.wordings = tuple(
            replace(one, elements=shared.setdefault(one.elements, one.elements))
            for one in _unique(self._wordings(data))
        )
        self.past = frozenset(form for forms in self._verbs.values() for form in forms[:1]) | self.words["past"]
        self.past |= self.conjugation.past
        after_subject = [element for each in self.wordings for element in each.elements if element.is_verb]
        self.progressive = frozenset(
            f for each in after_subject for f in each.forms if self._verbs and f.endswith("ing")
        )
        self.finite = frozenset(form for each in after_subject for form in each.forms) - self.progressive
        words = frozenset(form for each in self.wordings for element in each.elements for form in element.forms)
        said = (each.elements for each in self.wordings if each.elements[0].kind == SUBJECT)
        after = frozenset(form for elements in said for element in elements for form in element.forms)
        named = {word for noun in self.nouns for word in noun.split()}.union(*(self.words[name] for name in _OF_NOUNS))
        self.predicates = after - self.finite - named
        """Words of wordings that are neither verbs of a subject nor nouns."""
        functional = next((own for language, own in FUNCTION_WORDS.items() if language == code), frozenset[str]())
        self.known = words.union(*self.words.values(), self.cues, functional)
        self._by_word = self._index()

    def _index(self) -> dict[str, list[int]]:
        """Return the places of the wordings by the rarest word that each needs."""
        counts = Counter(form for each in self.wordings for element in each.elements for form in element.forms)
        index: dict[str, list[int]] = {}
        for place, wording in enumerate(self.wordings):
            needed = [each.forms for each in wording.elements if each.forms and not each.is_optional]
            for form in min(needed, key=lambda forms: max(counts[form] for form in forms)):
                index.setdefault(form, []).append(place)
        return index

    def candidates(self, words: Iterable[str]) -> list[Wording]:
        """Return the wordings that a clause of these words may have, in the order of the file."""
        places = {place for word in words for place in self._by_word.get(word, ())}
        return [self.wordings[place] for place in sorted(places)]

    def any_of(self, *names: str) -> frozenset[str]:
        """Return the words of several lists."""
        found = self._joined.get(names)
        if found is None:
            found = self._joined[names] = frozenset[str]().union(*(self.words[name] for name in names))
        return found

    def is_noun(self, words: Sequence[str]) -> bool:
        """Return whether words without a mark of possession may belong to somebody, as a person or a noun does."""
        text = self.joint.join(words)
        return words[0] in self.words["possessive"] or text.startswith(tuple(self.nouns)) or text.isascii()

    def is_past(self, word: str) -> bool:
        """Return whether a form of a verb is in the past tense."""
        return word in self.past or (bool(self._verbs) and word.endswith("ed"))

    def _forms(self, lemma: str) -> frozenset[str]:
        if not self._verbs:
            return self.conjugation.forms(lemma)
        stem = lemma.removesuffix("e")
        third = f"{lemma}es" if lemma.endswith(("s", "sh", "ch", "x", "o")) else f"{lemma}s"
        past = self._verbs.get(lemma, [f"{stem}ied" if lemma.endswith("ry") else f"{stem}ed"])
        return frozenset((lemma, third, f"{stem}ing", *past))

    def _wordings(self, data: dict[str, dict[str, str]]) -> Iterator[Wording]:
        for key, lines in data["wordings"].items():
            for line in _lines(lines):
                for wording in self._compiled(key, line):
                    yield from self._ordered(wording)
        for key, nouns, pattern in self._noun_patterns(data):
            for noun in _phrases(nouns):
                own = noun if key == "titles" else key
                value = f"{{v:{key}}}" if key in self.kinds and "{v}" in pattern else "{v}"
                for wording in self._compiled(own, pattern.replace("{noun}", noun).replace("{v}", value)):
                    yield from self._ordered(wording)

    @staticmethod
    def _noun_patterns(data: dict[str, dict[str, str]]) -> Iterator[tuple[str, str, str]]:
        """Yield each list of nouns with each pattern; "is called" says the name of one of several persons."""
        for name, kinds in (("nouns", ("noun",)), ("persons", ("single", "person"))):
            for key, nouns in data[name].items():
                is_many = name == "persons" and key in attributes() and not attributes()[key].is_single
                is_numbered = key not in attributes() or attributes()[key].type in _NUMBERED
                for kind in kinds[1:] if is_many else kinds:
                    patterns = _lines(data["patterns"][kind])
                    yield from ((key, nouns, each) for each in patterns if is_numbered or "{v:number}" not in each)

    def _compiled(self, key: str, line: str) -> Iterator[Wording]:
        signs = line[: len(line) - len(line.lstrip("+-~!?<"))]
        body = line[len(signs) :]
        for said in [body] if self.has_spaces else _choices(body):
            kinds = re.findall(r"\{v:([^}]*)\}", said)
            yield Wording(
                key,
                tuple(self._elements(said)),
                kinds[0] if kinds else "",
                next((_CHANGES[sign] for sign in signs if sign in _CHANGES), None),
                is_denied="~" in signs,
                is_timeless=bool(set(signs) & set("+-!")),
                only_asks="?" in signs,
                is_past="<" in signs,
            )

    def _ordered(self, wording: Wording) -> Iterator[Wording]:
        """Yield a wording in each order of its subject, its verb and the rest."""
        yield wording
        elements = wording.elements
        if len(elements) > 1 and elements[0].kind == SUBJECT and elements[1].is_verb:
            parts = {SUBJECT: elements[:1], "V": elements[1:2], "R": elements[2:]}
            for order in self.orders:
                yield replace(wording, elements=tuple(itertools.chain.from_iterable(parts[part] for part in order)))

    def _elements(self, said: str) -> Iterator[Element]:
        before = ""
        for part in (_PART if self.has_spaces else _HAN_PART).findall(said):
            if part.startswith("{v"):
                yield Element(VALUE)
            elif part.startswith("{") or part == GAP:
                yield Element(part)
            elif part.startswith("[") and not self.has_spaces:
                yield from (Element("", frozenset((sign,)), is_value=True) for sign in part[1:-1])
            else:
                words = part.strip("()[]=").split("/")
                is_verb = before == SUBJECT and not part.startswith("=")
                inflects = is_verb or part.startswith("[")
                self.lemmas.update(words if is_verb else ())
                forms = [self._forms(word) if inflects or word in self._always else {word} for word in words]
                forms += [] if before == SUBJECT else [set(words)]
                yield Element("", frozenset().union(*forms), part.startswith("("), part.startswith("["), is_verb)
            before = SUBJECT if part.startswith("{v") and not before else part if not part.startswith("(") else before

    @property
    def _always(self) -> frozenset[str]:
        """Verbs that have forms wherever they stand."""
        return self.words["always"] or frozenset(("be", "have"))


def _unique(wordings: Iterator[Wording]) -> Iterator[Wording]:
    """Yield each wording that has a word once; choices in parentheses may leave none."""
    yield from (each for each in dict.fromkeys(wordings) if any(element.forms for element in each.elements))


def _phrases(words: str) -> frozenset[str]:
    """Return phrases; one such as `lehrer(in)` is two."""
    phrases = (word.strip() for word in words.split("|"))
    return frozenset(filter(None, itertools.chain.from_iterable(map(_with_ending, phrases))))


def _with_ending(word: str) -> tuple[str, ...]:
    stem, _, ending = word.partition("(")
    return (stem, f"{stem}{ending[:-1]}") if ending else (stem,)


def _lines(lines: str) -> list[str]:
    return [line for line in map(str.strip, lines.replace("\n", " ").split(";")) if line]


def _choices(line: str) -> Iterator[str]:
    """Yield each wording of a line with choices in parentheses."""
    parts = _CHOICE.split(line.replace(" ", ""))
    for chosen in itertools.product(*(part.split("|") for part in parts[1::2])):
        yield "".join(itertools.chain.from_iterable(itertools.zip_longest(parts[::2], chosen, fillvalue="")))


def _cue_index(cues: dict[str, str], code: str) -> dict[str, list[tuple[tuple[str, ...], str]]]:
    """Return the cues by their first word: the words and the label of each, the longest first."""
    index: dict[str, list[tuple[tuple[str, ...], str]]] = {}
    for label, phrases in cues.items():
        for phrase in _phrases(phrases):
            words = tuple(token.word for token in tokens_of(phrase, code))
            index.setdefault(words[0], []).append((words, label))
    for found in index.values():
        found.sort(key=lambda each: -len(each[0]))
    return index


@functools.cache
def languages() -> frozenset[str]:
    """Return the codes of the languages that have a file."""
    names = (each.name for each in resources.files(__package__).iterdir())
    return frozenset(name.removesuffix(".toml") for name in names if len(name) == len("en.toml"))


@functools.cache
def language(code: str) -> Language:
    """Return the words and wordings of a language by its code, such as `en`."""
    return Language(code)
