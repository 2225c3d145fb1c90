"""Finds the wordings in a clause, and where their subjects and values stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from neurogated.knowledge.read.clauses import ASKED, TIME, Clause
from neurogated.knowledge.read.wordings import GAP, KEY, NUMBER, OWNER, SUBJECT, VALUE, Element, Language, Wording
from neurogated.text.normalise import Token

__all__ = ["Match", "matches", "owner_end"]

_MOST_BEFORE, _MOST_BETWEEN, _MOST_OWNER, _MOST_KEY = 14, 8, 5, 3
"""Words before the first word of a wording, between two of its words, of an owner, and of a key."""
_TIGHT = frozenset({VALUE, KEY, NUMBER})
"""Variables directly after which the next word stands."""
Span = tuple[int, int]


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
        self._small = own.words["joiners"] if asks else frozenset[str]()

    def match(self, wording: Wording) -> Match | None:
        """Return where a wording fits first; None if it does not."""
        if wording.only_asks and not self._asks:
            return None
        elements = wording.elements
        first = next(n for n, each in enumerate(elements) if each.forms)
        if first > 1:
            found = self._rest(elements, 0, _State(next((n for n, label in enumerate(self._labels) if not label), 0)))
            return _match(wording, found) if found and all(self._labels[found.end :]) else None
        for place in range(min(len(self._tokens), _MOST_BEFORE)):
            start = first
            while elements[start].is_optional and self._tokens[place].word not in elements[start].forms:
                start += 1
            is_there = self._tokens[place].word in elements[start].forms
            if not is_there or (not first and not all(self._labels[:place])):
                continue
            begin = _State(0).bind(elements[0].kind, place) if first else _State(place)
            value = ((VALUE, place, place + 1),) if elements[start].is_value else ()
            found = self._rest(elements, start + 1, _State(place + 1, begin.bound + value, (place,)))
            if found and all(self._labels[found.end :]):
                return _match(wording, found)
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
        may_skip = i < len(self._tokens) and self._labels[i] and (not n or elements[n - 1].kind not in _TIGHT)
        if may_skip and (found := self._rest(elements, n, state._replace(end=i + 1))):
            return found
        is_open = element.is_optional or not element.forms.isdisjoint(self._small)
        return self._rest(elements, n + 1, state) if is_open else None

    def _variable(self, elements: Sequence[Element], n: int, state: _State) -> _State | None:
        kind, i = elements[n].kind, state.end
        for end in self._ends(kind, i, is_last=n == len(elements) - 1):
            is_within_time = kind == VALUE and self._labels[end - 1 : end + 1] == [TIME, TIME]
            if is_within_time and self._tokens[end].word not in elements[n + 1].forms:
                continue
            after = state._replace(end=end) if kind == GAP else state.bind(kind, end)
            if found := self._rest(elements, n + 1, after):
                return found
        return None

    def _ends(self, kind: str, i: int, *, is_last: bool) -> Iterator[int]:
        """Yield the places where a variable that begins at `i` may end."""
        most = len(self._tokens)
        if kind == OWNER:
            if end := owner_end(self._tokens, i, self._own):
                yield end
        elif kind == NUMBER:
            if i < most and (self._tokens[i].word[0].isdecimal() or self._tokens[i].word in self._own.words["numbers"]):
                yield i + 1
            elif self._asks and self._labels[i : i + 2] == [ASKED, ASKED]:
                yield i + 2
        elif kind == GAP:
            yield from [most] if is_last else range(i, min(most, i + _MOST_BETWEEN) + 1)
        elif is_last and kind == KEY:
            end = next((n for n in range(i, most) if self._labels[n]), most)
            yield from [end] if i < end <= i + _MOST_KEY * (1 + (not self._own.has_spaces)) else []
        elif kind == KEY:
            longest = min(most, i + (_MOST_KEY if self._own.has_spaces else _MOST_BETWEEN))
            plain = (n for n in range(i, longest) if not self._tokens[n].raw[:1].islower() and self._own.has_spaces)
            yield from range(i + 1, next(plain, longest) + 1)
        elif is_last:
            yield from [most] if i < most or (kind == VALUE and self._asks) else []
        else:
            least = i + (kind != SUBJECT or self._own.has_spaces)
            yield from range(
                least, min(most, i + (_MOST_KEY if kind == KEY and self._own.has_spaces else _MOST_BETWEEN)) + 1
            )


def _match(wording: Wording, state: _State) -> Match:
    spans = {kind: (begin, end) for kind, begin, end in state.bound}
    values = [(begin, end) for kind, begin, end in state.bound if kind == VALUE]
    if values:
        spans[VALUE] = (min(values)[0], max(values)[1])
    number, none = spans.get(NUMBER), (state.end, state.end)
    return Match(
        wording,
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
    owners = own.words["mine"] | own.words["theirs"] | own.words["definite"]
    return i + 1 if i < len(tokens) and tokens[i].word in owners else None
