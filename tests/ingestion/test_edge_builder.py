import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import EdgeKey, EdgeType, GraphDelta, GraphStore, MemoryEdge, MemoryNode
from neurogated.ingestion.edge_builder import UserGraphs, sequence_edges, similarity_edges
from neurogated.testing import ManualClock

AT = ManualClock().now


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
        new = list(similarity_edges(group, UserGraphs(store.snapshot()).nearest, neighbors=neighbors, at=AT))
        store.apply(GraphDelta(nodes=tuple(group), edges=tuple(new), at=AT))
        edges.extend(new)
    return edges


def cosine(left: MemoryNode, right: MemoryNode) -> float:
    a, b = (list(map(float, np.asarray(node.embedding))) for node in (left, right))
    norms = math.sqrt(math.fsum(x * x for x in a)) * math.sqrt(math.fsum(x * x for x in b))
    return math.fsum(x * y for x, y in zip(a, b, strict=True)) / norms if norms else 0.0


def weights(edges: Sequence[MemoryEdge]) -> dict[EdgeKey, float]:
    return {edge.key: edge.weight for edge in edges}


@pytest.mark.parametrize("seed", range(2))
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


@given(length=st.integers(0, 8), data=st.data())
def test_seq_edges_join_neighbours_if_one_of_the_two_is_new(length: int, data: st.DataObject) -> None:
    ids = [f"n{number}" for number in range(length)]
    new = data.draw(st.sets(st.sampled_from([*ids, "elsewhere"])))

    edges = list(sequence_edges(ids, new, at=AT))

    assert edges == [
        MemoryEdge(ids[place - 1], ids[place], EdgeType.SEQ, 1.0, created_at=AT)
        for place in range(1, length)
        if {ids[place - 1], ids[place]} & new
    ]
