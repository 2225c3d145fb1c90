"""Columns and views return the written values in every layout."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given, settings

from neurogated import EdgeType, GraphDelta, GraphStore, MemoryEdge, MemoryNode
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.storage.index.graph.columns import PatchedColumn

EDGES = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([EdgeType.SEQ, EdgeType.SIM])).filter(
        lambda edge: edge[0] != edge[1]
    ),
    unique=True,
    max_size=40,
)


def _store(edges: list[tuple[int, int, EdgeType]], overlay_edges: int) -> GraphStore:
    store = GraphStore(config=MemoryConfig(runtime=RuntimeSettings(overlay_edges=overlay_edges)))
    store.apply(GraphDelta(nodes=tuple(MemoryNode(id=str(name), content="x") for name in range(8))))
    for place, (source, target, kind) in enumerate(edges):
        store.apply(GraphDelta(edges=(MemoryEdge(str(source), str(target), kind, place / 64),)))
    return store


@given(EDGES, st.integers(1, 9))
@settings(deadline=None)
def test_the_layout_in_layers_makes_no_difference(edges: list[tuple[int, int, EdgeType]], overlay_edges: int) -> None:
    one, other = _store(edges, overlay_edges).view(), _store(edges, 10_000).view()
    rows = np.arange(8)
    for kind in (EdgeType.SEQ, EdgeType.SIM):
        for left, right in zip(
            one.arcs(rows, kind, both_ways=True), other.arcs(rows, kind, both_ways=True), strict=True
        ):
            assert left.tolist() == right.tolist()


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=9),
    st.lists(st.tuples(st.integers(0, 8), st.integers(-9, 9)), max_size=30),
    st.integers(1, 6),
)
def test_a_patched_column_equals_a_list_and_its_snapshots_never_change(
    start: list[int], changes: list[tuple[int, int]], fold_at: int
) -> None:
    column = PatchedColumn(np.int64, fold_at)
    column.extend(start)
    expected = list(start)
    snapshots = []
    for row, value in changes:
        snapshots.append((column.snapshot(), list(expected)))
        if row < len(expected):
            column.set([row], [value])
            expected[row] = value
        else:
            column.extend([value])
            expected.append(value)
    snapshots.append((column.snapshot(), list(expected)))
    for snapshot, values in snapshots:
        assert snapshot.all().tolist() == values
        rows = np.array([place for place in range(len(values)) for _ in range(2)][::-1])
        assert snapshot.take(rows).tolist() == [values[row] for row in rows]
