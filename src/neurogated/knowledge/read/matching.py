"""Finds the wordings in a clause, and where their subjects and values stand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from neurogated.knowledge.read.clauses import ASKED, TIME, Clause
from neurogated.knowledge.read.wordings import GAP, KEY, NUMBER, OWNER, SUBJECT, VALUE, Element, Language, Wording
from neurogated.text.normalise import Token

_MOST_BEFORE, _MOST_BETWEEN, _MOST_OWNER, _MOST_KEY = 14, 8, 5, 3
"""Words before the first word of a wording, between two of its words, of an owner, and of a key."""
_TIGHT = frozenset({VALUE, KEY, NUMBER})
"""Variables directly after which the next word stands."""
Span = tuple[int, int]
_Places = tuple[Span, bool, Span, Span, tuple[int, ...]]
"""The fields of a match besides its wording."""


class Match(NamedTuple):
    """Where a wording found its parts: begin and end of each."""

    wording: Wording
    subject: Span
    is_owner: bool
    value: Span
    key: Span
    used: tuple[int, ...]
    """The places of its words."""


class _State(NamedTuple):
    """How far a wording fits: the place after it, its variables and the places of its words."""

    end: int
    bound: tuple[tuple[str, int, int], ...] = ()
    used: tuple[int, ...] = ()

    def bind(self, kind: str, end: int) -> _State:
        return _State(end, (*self.bound, (kind, self.end, end)), self.used)


def matches(clause: Clause, own: Language, *, asks: bool = False) -> list[Match]:
    """Return the matches of wordings with a clause, the most specific first."""
    matcher = _Matcher(clause, own, asks=asks)
    found = filter(None, map(matcher.match, own.candidates(token.word for token in clause.tokens)))
    return sorted(found, key=lambda each: -each.wording.words)


class _Matcher:
    def __init__(self, clause: Clause, own: Language, *, asks: bool) -> None:
        self._own, self._asks = own, asks
        self._tokens, self._labels = clause.tokens, clause.labels
        self._places: dict[int, _Places | None] = {}
        self._words = [token.word for token in clause.tokens[:_MOST_BEFORE]]
        self._small = own.words["joiners"] if asks else frozenset[str]()

    def match(self, wording: Wording) -> Match | None:
        """Return where a wording fits first; None if it does not."""
        if wording.only_asks and not self._asks:
            return None
        # Many wordings differ only in the kind of their value; a language has their elements once.
        key = id(wording.elements)
        if key not in self._places:
            self._places[key] = self._fit(wording)
        places = self._places[key]
        return Match(wording, *places) if places else None

    def _fit(self, wording: Wording) -> _Places | None:
        elements, first = wording.elements, wording.first
        if first > 1:
            found = self._rest(elements, 0, _State(next((n for n, label in enumerate(self._labels) if not label), 0)))
            return _places(found) if found and all(self._labels[found.end :]) else None
        for place, word in enumerate(self._words):
            if word not in wording.openings or (not first and not all(self._labels[:place])):
                continue
            start = next(n for n in range(first, len(elements)) if word in elements[n].forms)
            begin = _State(0).bind(elements[0].kind, place) if first else _State(place)
            value = ((VALUE, place, place + 1),) if elements[start].is_value else ()
            found = self._rest(elements, start + 1, _State(place + 1, begin.bound + value, (place,)))
            if found and all(self._labels[found.end :]):
                return _places(found)
        return None

    def _rest(self, elements: Sequence[Element], n: int, state: _State) -> _State | None:
        """Match the elements from `n` with the words after a state."""
        if n == len(elements):
            return state
        element, i = elements[n], state.end
        if not element.forms:
            return self._variable(elements, n, state)
        if i < len(self._tokens) and self._tokens[i].word in element.forms:
            after = state.bind(VALUE, i + 1) if element.is_value else state._replace(end=i + 1)
            if found := self._rest(elements, n + 1, after._replace(used=(*state.used, i))):
                return found
        if element.is_optional and (found := self._rest(elements, n + 1, state)):
            return found
        may_skip = i < len(self._tokens) and self._labels[i] and (not n or elements[n - 1].kind not in _TIGHT)
        if may_skip and (found := self._rest(elements, n, state._replace(end=i + 1))):
            return found
        return self._rest(elements, n + 1, state) if not element.forms.isdisjoint(self._small) else None

    def _variable(self, elements: Sequence[Element], n: int, state: _State) -> _State | None:
        kind, i = elements[n].kind, state.end
        while kind in (OWNER, KEY) and i < len(self._tokens) and self._labels[i]:
            i += 1
        state = state._replace(end=i)
        for end in self._ends(
            kind, i, is_last=n == len(elements) - 1, next_kind=elements[n + 1].kind if n + 1 < len(elements) else ""
        ):
            is_within_time = kind == VALUE and self._labels[end - 1 : end + 1] == [TIME, TIME]
            if is_within_time and self._tokens[end].word not in elements[n + 1].forms:
                continue
            after = state._replace(end=end) if kind == GAP else state.bind(kind, end)
            if found := self._rest(elements, n + 1, after):
                return found
        return None

    def _ends(self, kind: str, i: int, *, is_last: bool, next_kind: str) -> Iterable[int]:
        """Return the places where a variable that begins at `i` may end."""
        most = len(self._tokens)
        if kind in (OWNER, NUMBER):
            end = owner_end(self._tokens, i, self._own) if kind == OWNER else self._number_end(i)
            return [end] if end else []
        if kind == GAP:
            return [most] if is_last else range(i, min(most, i + _MOST_BETWEEN) + 1)
        if kind == KEY:
            return self._key_ends(i, is_last=is_last)
        if is_last:
            return [most] if i < most or (kind == VALUE and self._asks) else []
        if kind == SUBJECT and next_kind == VALUE:
            return self._subject_end(i)
        return range(i + 1, min(most, i + _MOST_BETWEEN) + 1)

    def _number_end(self, i: int) -> int | None:
        word = self._tokens[i].word if i < len(self._tokens) else " "
        if word[0].isdecimal() or word in self._own.words["numbers"]:
            return i + 1
        return i + 2 if self._asks and self._labels[i : i + 2] == [ASKED, ASKED] else None

    def _key_ends(self, i: int, *, is_last: bool) -> Iterable[int]:
        """Return where the words of an attribute may end: before a cue, and before a name."""
        most = min(len(self._tokens), i + (_MOST_KEY if self._own.has_spaces else _MOST_BETWEEN))
        if is_last:
            end = next((n for n in range(i, len(self._tokens)) if self._labels[n]), len(self._tokens))
            return [end] if i < end <= most else []
        names = (n for n in range(i, most) if self._own.has_spaces and not self._tokens[n].raw[:1].islower())
        return range(i + 1, next(names, most) + 1)

    def _subject_end(self, i: int) -> Iterator[int]:
        """Yield where a subject ends that a value follows: after "I", or before a cue or a number."""
        me, most = self._own.words["me"], len(self._tokens)
        end = next((n for n in range(i, most) if self._tokens[n].word not in me), most)
        if end == i:
            words = ((n, self._tokens[n].word) for n in range(i, most))
            numbers = self._own.words["numbers"]
            marked = (n for n, word in words if self._labels[n] or word[0].isdecimal() or word in numbers)
            end = next(marked, i)
        if end > i:
            yield end


def _places(state: _State) -> _Places:
    spans = {kind: (begin, end) for kind, begin, end in state.bound}
    values = [(begin, end) for kind, begin, end in state.bound if kind == VALUE]
    if values:
        spans[VALUE] = (min(values)[0], max(values)[1])
    number, none = spans.get(NUMBER), (state.end, state.end)
    return (
        spans.get(OWNER) or spans.get(SUBJECT) or (0, 0),
        OWNER in spans,
        number or spans.get(VALUE, none),
        spans.get(KEY, none),
        state.used,
    )


def owner_end(tokens: Sequence[Token], i: int, own: Language) -> int | None:
    """Return where a possessive ends that begins at `i`, as "my sister's" does; None if none begins there."""
    if not own.has_spaces:
        begin = i + (i < len(tokens) and tokens[i].word in own.words["mine"] | own.words["theirs"])
        marks = own.words["possessive"] - (frozenset() if begin > i else own.words["household"])
        end = next((n for n in range(i + 1, min(len(tokens), i + _MOST_OWNER)) if tokens[n].word in marks), None)
        return end + 1 if end else begin if begin > i else None
    for end in range(i + 1, min(len(tokens), i + _MOST_OWNER)):
        if tokens[end].word == "'s":
            return end + 1
    owners = own.any_of("mine", "theirs", "definite")
    return i + 1 if i < len(tokens) and tokens[i].word in owners else None
