"""Which versions of present nodes may repeat words of erased ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Generic, NamedTuple, TypeVar

Node = TypeVar("Node")
Span = tuple[int, int]
"""The number of the delta with which something began, and of the delta with which it ended."""


class Derivation(NamedTuple, Generic[Node]):
    """A DERIVED_FROM edge."""

    node: Node
    source: Node
    since: int
    until: int


def repeated(
    erased: Mapping[Node, int], ended: Mapping[Node, Sequence[Span]], derivations: Iterable[Derivation[Node]]
) -> dict[Node, list[Span]]:
    """Return the ended versions that were derived from erased ones, directly or through others.

    Args:
        erased: the deltas until which nodes are erased.
        ended: the ended versions of present nodes that are not erased, oldest first.
        derivations: all derivations of present and past nodes.

    Returns:
        Their spans by node; consecutive versions are one span.
    """
    derived = defaultdict[Node, list[Derivation[Node]]](list)
    for one in derivations:
        derived[one.source].append(one)
    found = defaultdict[Node, set[Span]](set)
    work = [(node, (0, until)) for node, until in erased.items()]
    while work:
        source, (since, until) = work.pop()
        for one in derived[source]:
            begin, end = max(since, one.since), min(until, one.until)
            for span in ended.get(one.node, ()):
                if max(begin, span[0]) < min(end, span[1]) and span not in found[one.node]:
                    found[one.node].add(span)
                    work.append((one.node, span))
    return {node: joined(sorted(spans)) for node, spans in found.items() if spans}


def joined(spans: Sequence[Span]) -> list[Span]:
    """Return spans, in order, with those that follow each other as one."""
    if not spans:
        return []
    gaps = [place for place, (one, other) in enumerate(pairwise(spans), 1) if one[1] != other[0]]
    return [(spans[begin][0], spans[end - 1][1]) for begin, end in pairwise([0, *gaps, len(spans)])]
