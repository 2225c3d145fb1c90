import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import EdgeKey, EdgeType, GraphDelta, GraphStore, MemoryEdge, MemoryNode
from neurogated.ingestion.edge_builder import nearest_in, sequence_edges, similarity_edges
from neurogated.testing import ManualClock

AT = ManualClock().now

# A few numbers, so that equal vectors, opposite vectors and zeros occur.
crowded_vectors = st.lists(st.tuples(*[st.sampled_from([-1.0, 0.0, 0.5, 1.0, 3.0])] * 3), max_size=14)


def random_vectors(seed: int, count: int) -> list[tuple[float, ...]]:
    rows = np.random.default_rng(seed).normal(size=(count, 6)).astype(np.float32)
    return [tuple(map(float, row)) for row in rows]


def make_nodes(vectors: Sequence[Sequence[float]]) -> list[MemoryNode]:
    # The names do not sort in order of addition, so the test can distinguish the two orders.
    return [
        MemoryNode(f"{(7 * number) % 15:02d}-{number}", "text", vector, last_accessed=AT, created_at=AT)
        for number, vector in enumerate(vectors)
    ]


def build(nodes: Sequence[MemoryNode], neighbors: int, cuts: Sequence[int]) -> list[MemoryEdge]:
    """Store nodes in groups that end at `cuts` and return all edges."""
    store, edges = GraphStore(), []
    borders = [0, *sorted(cut for cut in cuts if cut < len(nodes)), len(nodes)]
    for begin, end in pairwise(borders):
        group = nodes[begin:end]
        new = list(similarity_edges(group, nearest_in(store), neighbors=neighbors, at=AT))
        store.apply(GraphDelta(nodes=tuple(group), edges=tuple(new), at=AT))
        edges.extend(new)
    return edges


def cosine(left: MemoryNode, right: MemoryNode) -> float:
    a, b = (list(map(float, np.asarray(node.embedding))) for node in (left, right))
    norms = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(x * x for x in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / norms if norms else 0.0


def weights(edges: Sequence[MemoryEdge]) -> dict[EdgeKey, float]:
    return {edge.key: edge.weight for edge in edges}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("neighbors", [1, 3, 30])
@pytest.mark.parametrize("cuts", [[], [1, 2, 3], [10], list(range(25))])
def test_each_node_is_linked_to_its_most_similar_predecessors(seed: int, neighbors: int, cuts: list[int]) -> None:
    nodes = make_nodes(random_vectors(seed, 25))

    edges = build(nodes, neighbors, cuts)

    expected: list[MemoryEdge] = []
    for position, node in enumerate(nodes):
        ranked = sorted(nodes[:position], key=lambda earlier, node=node: -cosine(node, earlier))  # type: ignore[misc]
        expected += [
            MemoryEdge(node.id, earlier.id, EdgeType.SIM, max(0.0, cosine(node, earlier)), created_at=AT)
            for earlier in ranked[:neighbors]
        ]
    assert weights(edges) == pytest.approx(weights(expected), abs=1e-6)
    assert len(edges) == len(expected)


@given(vectors=crowded_vectors, neighbors=st.integers(1, 6), data=st.data())
def test_among_equals_too_nothing_better_is_left_out(
    vectors: list[tuple[float, ...]], neighbors: int, data: st.DataObject
) -> None:
    nodes = make_nodes(vectors)
    edges = build(nodes, neighbors, data.draw(st.lists(st.integers(1, 13), unique=True)))
    linked: dict[str, dict[str, float]] = {node.id: {} for node in nodes}
    for edge in edges:
        linked[edge.source_id][edge.target_id] = edge.weight

    for position, node in enumerate(nodes):
        cosines = {earlier.id: cosine(node, earlier) for earlier in nodes[:position]}
        chosen = linked[node.id]
        best = sorted(cosines.values(), reverse=True)[:neighbors]
        assert sorted((cosines[id_] for id_ in chosen), reverse=True) == pytest.approx(best, abs=1e-6)
        assert chosen == pytest.approx({id_: max(0.0, cosines[id_]) for id_ in chosen}, abs=1e-6)


@given(
    vectors=crowded_vectors | st.builds(random_vectors, st.integers(0, 99), st.integers(0, 14)),
    neighbors=st.integers(1, 6),
    data=st.data(),
)
def test_how_nodes_are_grouped_makes_no_difference(
    vectors: list[tuple[float, ...]], neighbors: int, data: st.DataObject
) -> None:
    nodes = make_nodes(vectors)
    one_call = weights(build(nodes, neighbors, []))

    some_calls = weights(build(nodes, neighbors, data.draw(st.lists(st.integers(1, 13), unique=True))))
    a_call_each = weights(build(nodes, neighbors, range(1, len(nodes))))

    assert some_calls == pytest.approx(one_call, abs=1e-6)
    assert a_call_each == pytest.approx(one_call, abs=1e-6)


def test_a_negative_cosine_has_weight_zero_and_is_linked_all_the_same() -> None:
    for cuts in ([], [1]):
        (edge,) = build(make_nodes([(1.0, 0.0), (-1.0, 0.0)]), 5, cuts)
        assert edge.weight == 0.0


def test_equally_similar_nodes_are_taken_in_the_order_of_their_ids() -> None:
    nodes = [MemoryNode(name, "text", [1.0, 0.0]) for name in ("c", "a", "b", "z")]
    for cuts in ([], [1, 2, 3]):
        assert [edge.target_id for edge in build(nodes, 2, cuts) if edge.source_id == "z"] == ["a", "b"]


def test_edges_lead_from_new_to_old_at_the_time_given() -> None:
    first, second = nodes = make_nodes([(1.0, 0.0), (1.0, 1.0)])

    (edge,) = build(nodes, 1, [1])

    assert edge.key == EdgeKey(second.id, first.id, EdgeType.SIM)
    assert (edge.created_at, edge.last_activated) == (AT, AT)


@pytest.mark.parametrize("neighbors", [0, 3])
def test_no_nodes_or_no_neighbors_make_no_edges(neighbors: int) -> None:
    store = GraphStore()
    nodes = [] if neighbors else make_nodes(random_vectors(0, 4))

    assert list(similarity_edges(nodes, nearest_in(store), neighbors=neighbors, at=AT)) == []


@given(length=st.integers(0, 8), data=st.data())
def test_seq_edges_join_neighbours_if_one_of_the_two_is_new(length: int, data: st.DataObject) -> None:
    ids = [f"n{number}" for number in range(length)]
    new = data.draw(st.sets(st.sampled_from([*ids, "elsewhere"])))

    edges = list(sequence_edges(ids, new, weight=0.25, at=AT))

    assert edges == [
        MemoryEdge(ids[place - 1], ids[place], EdgeType.SEQ, 0.25, created_at=AT)
        for place in range(1, length)
        if {ids[place - 1], ids[place]} & new
    ]
