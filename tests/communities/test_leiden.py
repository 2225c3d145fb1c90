"""Communities: against brute force on small graphs, and their promises on random ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from neurogated.communities.algorithms import LeidenCommunities
from neurogated.core.communities import Communities, CommunityLinks

FINDER = LeidenCommunities()
RESOLUTION = 0.3


def links(pairs: Sequence[tuple[int, int, float]], owner: Sequence[int]) -> CommunityLinks:
    ends = np.array([pair[:2] for pair in pairs], dtype=np.int32).reshape(-1, 2)
    weight = np.array([pair[2] for pair in pairs], dtype=np.float64)
    return CommunityLinks(ends[:, 0], ends[:, 1], weight, np.array(owner, dtype=np.int32))


@st.composite
def graphs(draw: st.DrawFn, most: int = 12) -> CommunityLinks:
    count = draw(st.integers(1, most))
    node = st.integers(0, count - 1)
    pairs = draw(st.lists(st.tuples(node, node, st.sampled_from([0.0, 0.2, 0.5, 1.0])), max_size=30))
    return links(pairs, draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)))


def quality(labels: Sequence[int], graph: CommunityLinks) -> float:
    """Return the CPM quality of a partition, computed from its definition."""
    inside = 0.0
    for source, target, weight in zip(graph.source, graph.target, graph.weight, strict=True):
        same_owner = graph.owner[source] == graph.owner[target]
        if source != target and same_owner and labels[source] == labels[target]:
            inside += float(weight)
    sizes = [list(labels).count(label) for label in set(labels)]
    return inside - RESOLUTION * sum(size * (size - 1) / 2 for size in sizes)


def partitions(count: int) -> Iterator[list[int]]:
    def extended(labels: list[int]) -> Iterator[list[int]]:
        if len(labels) == count:
            yield labels
            return
        for label in range(max(labels, default=-1) + 2):
            yield from extended([*labels, label])

    yield from extended([])


def whole(labels: np.ndarray) -> list[int]:
    """Return labels in which every node without links is alone."""
    return [int(label) if label >= 0 else -2 - place for place, label in enumerate(labels)]


@given(graphs(most=6))
def test_the_quality_is_close_to_the_best_of_all_partitions(graph: CommunityLinks) -> None:
    best = max(quality(labels, graph) for labels in partitions(graph.owner.size))
    assert quality(whole(FINDER.find(graph, RESOLUTION).labels), graph) >= 0.8 * best - 1e-9


@given(graphs(), st.sampled_from([0.1, RESOLUTION]))
def test_every_community_is_of_one_owner_and_linked_throughout(graph: CommunityLinks, resolution: float) -> None:
    found = FINDER.find(graph, resolution)
    assert parts_of(found) == len(found.members())
    for rows in found.members():
        assert len(set(graph.owner[rows].tolist())) == 1


def parts_of(found: Communities) -> int:
    """Return into how many parts the communities fall, by the links within each."""
    parts = {node: {node} for rows in found.members() for node in rows.tolist()}
    for source, target, weight in zip(*found.links[:3], strict=True):
        same = found.labels[source] == found.labels[target] and found.links.owner[source] == found.links.owner[target]
        if weight > 0 and source != target and same:
            joined = parts[int(source)] | parts[int(target)]
            parts.update(dict.fromkeys(joined, joined))
    return len({id(part) for part in parts.values()})


@given(graphs())
def test_a_node_is_in_a_community_if_it_has_a_link_within_its_owner(graph: CommunityLinks) -> None:
    valid = (graph.weight > 0) & (graph.source != graph.target)
    valid &= graph.owner[graph.source] == graph.owner[graph.target]
    linked = {*graph.source[valid].tolist(), *graph.target[valid].tolist()}
    found = FINDER.find(graph, RESOLUTION)
    assert set(np.flatnonzero(found.labels >= 0).tolist()) == linked
