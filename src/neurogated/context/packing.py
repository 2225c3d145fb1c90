"""Memories as lines of a prompt: blocks, and what fits a budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, timedelta, timezone
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.model import MemoryNode
from neurogated.core.quoting import CLOSING, GAP, LATER_LINE, OPENING, quoted, quoted_memory, sentences_of

_OMITTED = GAP.strip()
_ZONES = (UTC, timezone(timedelta(hours=-12)), timezone(timedelta(hours=14)))
"""Any zone has the day of one of these."""
_BREAK = re.compile(f"\n(?!{re.escape(LATER_LINE[1:])})")
"""Between two memories."""
_MARKS = re.compile(r"- (?:\([^()]*\) (?=[^:]))*")
"""The marks before the speaker or the day, which change with what is known."""


def without_blocks(text: str, nodes: Sequence[MemoryNode]) -> tuple[str, list[str]]:
    """Return a text without the blocks that consist of lines of memories among `nodes`, and the ids of these memories.

    A block is made by `Recall.as_text` or `get_context`. It is kept if anything in it was changed or added, except
    marks and whole sentences that were left out.
    """
    before, *parts = text.split(f"{OPENING}\n")
    kept, found = [before], list[str]()
    for part in parts:
        block, closing, rest = part.partition(f"\n{CLOSING}")
        names = [_quoted(_bare(line), nodes) for line in _BREAK.split(block)] if closing else [None]
        if None not in names:
            found += [name for name in names if name is not None]
            kept.append(rest)
        else:
            kept.append(f"{OPENING}\n{part}")
    return ("".join(kept).strip(), list(dict.fromkeys(found))) if found else (text, [])


def _bare(line: str) -> str:
    return _MARKS.sub("- ", line, count=1)


def _quoted(line: str, nodes: Sequence[MemoryNode]) -> str | None:
    """Return the memory whose line this is, whole or cut to sentences; None if it is none's."""
    for node, zone in product(nodes, _ZONES):
        head = _bare(quoted_memory(node, content="", zone=zone))
        if line == _bare(quoted_memory(node, zone=zone)):
            return node.id
        if _OMITTED in line and line.startswith(head) and _is_cut(_on_one_line(line.removeprefix(head)), node.content):
            return node.id
    return None


def _on_one_line(text: str) -> str:
    return " ".join(text.replace(LATER_LINE, " ").split())


def _is_cut(text: str, content: str) -> bool:
    """Return whether a text has only whole sentences of a memory, in their order, or the beginning of one of them."""
    sentences = [_on_one_line(quoted(one)) for one in sentences_of(content)]
    pieces = [piece.strip() for piece in text.split(_OMITTED) if piece.strip()]
    if len(pieces) == 1 and text.endswith(_OMITTED) and any(one.startswith(pieces[0]) for one in sentences):
        return True
    place = 0
    for piece in pieces:
        starts = (at for at in range(place, len(sentences)) if piece.startswith(sentences[at]))
        place = next((end for at in starts if (end := _end(sentences, at, piece))), 0)
        if not place:
            return False
    return bool(pieces)


def _end(sentences: Sequence[str], begin: int, piece: str) -> int:
    """Return the end of the sentences from `begin` on that are exactly a piece; 0 if there is none."""
    text = ""
    for end in range(begin, len(sentences)):
        text = f"{text} {sentences[end]}".strip()
        if len(text) >= len(piece):
            return end + 1 if text == piece else 0
    return 0


_Values = NDArray[np.float64]
_Places = NDArray[np.int64]

REPETITION_COST = 0.2
"""Cost of the cosine of a memory with those that are already in the context; more costs evidence."""
_LONG = 96
_LENGTH_COST = 0.3
"""A line of more than so many tokens has its relevance divided by this power of how many times as long it is."""


class Candidates(NamedTuple):
    """Memories in parallel arrays."""

    relevance: _Values
    """(n,) scores divided by the best, 0–1."""
    sizes: _Places
    """(n,) tokens of each line."""
    likeness: _Values
    """(n, n) cosines of the vectors, 0–1."""
    opposed: Mapping[int, Sequence[int]]
    """The memories that contradict a memory, by places."""
    later: Mapping[int, Sequence[int]]
    """The memories that must stand beside a memory, because they were said later about the same, by places."""


class Picked(NamedTuple):
    """A chosen memory, and why it was chosen."""

    place: int
    """From 0."""
    value: float
    repetition: float
    """Cosine with the most similar memory chosen before."""
    repeats: int | None
    """Place of that memory; None for the first."""
    tokens: int


def pack(candidates: Candidates, budget: int, cut: Callable[[int, int], int] = lambda _place, _room: 0) -> list[Picked]:
    """Choose memories greedily by maximal marginal relevance (Carbonell and Goldstein, 1998), in order of choice.

    The relevance falls with the length, as in budgeted coverage (Lin and Bilmes, 2010), and with the cosine with what
    is chosen already. A memory that contradicts a chosen one has at least its value. A memory is chosen with its later
    ones, or not at all. All lines have at most `budget` tokens.

    `cut` shortens the best memory that is left to so many tokens if it does not fit, and returns how many it has then;
    0 if it cannot. Then all memories that do not fit are skipped.
    """
    sizes = candidates.sizes.copy()
    relevance = candidates.relevance * np.maximum(1.0, sizes / _LONG) ** -_LENGTH_COST
    repetition, repeats = np.zeros(sizes.size), np.full(sizes.size, -1)
    free, chosen = np.ones(sizes.size, dtype=np.bool_), set[int]()
    least = np.full(sizes.size, -np.inf)
    picked: list[Picked] = []
    while np.logical_or.reduce(free):
        value = np.where(free, np.maximum(least, relevance - REPETITION_COST * repetition), -np.inf)
        best = int(value.argmax())
        group = standing_beside(best, candidates.later, chosen)
        needed = int(np.add.reduce(sizes[group]))
        if needed > budget:
            # The later ones stay whole.
            room = budget - needed + int(sizes[best])
            size = cut(best, room) if room > 0 else 0
            if not 0 < size <= room:
                free[best] = False
                free &= sizes <= budget
                continue
            sizes[best] = size
        for place in group:
            repeated = int(repeats[place]) if repeats[place] >= 0 else None
            tokens = int(sizes[place])
            picked.append(Picked(place, float(value[best]), float(repetition[place]), repeated, tokens))
            chosen.add(place)
            budget, free[place] = budget - tokens, False
            closer = candidates.likeness[place] > repetition
            repetition[closer], repeats[closer] = candidates.likeness[place][closer], place
            if least[place] == -np.inf:
                opposed = list(candidates.opposed.get(place, ()))
                least[opposed] = np.maximum(least[opposed], value[best])
    return picked


def standing_beside(place: int, later: Mapping[int, Sequence[int]], chosen: Collection[int]) -> list[int]:
    """Return a place and those of the memories that must stand beside it, and beside them, that are not chosen yet."""
    group, following = [place], list(later.get(place, ()))
    while following:
        one = following.pop()
        if one not in group and one not in chosen:
            group.append(one)
            following += later.get(one, ())
    return group
