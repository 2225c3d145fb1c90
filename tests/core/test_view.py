"""Columns of views, and the edges of views that say what is derived and what is an echo."""

from __future__ import annotations

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from neurogated import EdgeType, GraphDelta, GraphStore, MemoryEdge, MemoryNode
from neurogated.core.derivation import are_original, derived_from, is_derived, source_rows
from neurogated.core.filters import Filter
from neurogated.core.same_as import are_echoes, echoed_rows
from neurogated.retrieval.similarity import shares_of_sources
from neurogated.storage.index.graph import topology
from neurogated.storage.index.graph.topology import PatchedColumn

# Columns and views return the written values in every layout


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=9),
    st.lists(st.tuples(st.integers(0, 8), st.integers(-9, 9)), max_size=30),
    st.integers(1, 6),
)
def test_a_patched_column_equals_a_list_and_its_snapshots_never_change(
    start: list[int], changes: list[tuple[int, int]], fold_at: int
) -> None:
    column, expected, snapshots = PatchedColumn(np.int64), list(start), []
    column.extend(start)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(topology, "OVERLAY_EDGES", fold_at)
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


# Derived memories: which they are, and from which sources


PAIRS = st.sets(st.tuples(st.integers(0, 5), st.integers(0, 5)).filter(lambda pair: pair[0] != pair[1]), max_size=10)


def store_of(derived: set[tuple[int, int]], others: set[tuple[int, int]]) -> GraphStore:
    store = GraphStore()
    edges = [MemoryEdge(str(one), str(other), EdgeType.DERIVED_FROM) for one, other in derived]
    edges += [MemoryEdge(str(one), str(other), EdgeType.ASSOC) for one, other in others]
    nodes = tuple(MemoryNode(str(name), f"Text {name}.") for name in range(6))
    store.apply(GraphDelta(nodes=nodes, edges=tuple(edges)))
    return store


@given(PAIRS, PAIRS, st.sets(st.integers(0, 5)))
def test_derivation_follows_the_edges_to_their_end(
    derived: set[tuple[int, int]], others: set[tuple[int, int]], given_nodes: set[int]
) -> None:
    view = store_of(derived, others).view()
    reached, grown = set(given_nodes), True
    while grown:
        more = {one for one, other in derived if other in reached} - reached
        reached, grown = reached | more, bool(more)
    assert set(derived_from(view, map(str, given_nodes))) == {str(name) for name in reached - given_nodes}
    assert np.flatnonzero(~are_original(view)).tolist() == sorted({one for one, _ in derived})
    assert source_rows(view).tolist() == sorted({other for _, other in derived})
    assert np.flatnonzero(is_derived(view, np.arange(6))).tolist() == np.flatnonzero(~are_original(view)).tolist()


@given(PAIRS, st.sets(st.integers(0, 5)))
def test_the_cost_of_a_fact_shrinks_with_the_sources_that_are_left_out(
    derived: set[tuple[int, int]], admitted: set[int]
) -> None:
    store = store_of(derived, set())
    for name in admitted:
        store.apply(GraphDelta(nodes=(MemoryNode(str(name), f"Text {name}.", tags=("in",)),)))
    view = store.view(filters=Filter(tags={"in"}))
    shares = shares_of_sources(view, np.arange(6), view.admitted)
    for name in range(6):
        sources = {other for one, other in derived if one == name}
        expected = len(sources & admitted) / len(sources) if sources else 0.0
        assert shares[name] == expected


# Echoes are hidden only while a reader sees every memory that they repeat


NAMES = [f"m{number}" for number in range(6)]
SOURCES = st.dictionaries(st.sampled_from(NAMES), st.sets(st.sampled_from(NAMES), max_size=3))


@given(sources=SOURCES, apart=st.sets(st.sampled_from(NAMES)), gone=st.sets(st.sampled_from(NAMES)), data=st.data())
def test_a_message_is_an_echo_while_all_its_memories_are_seen(
    sources: dict[str, set[str]], apart: set[str], gone: set[str], data: st.DataObject
) -> None:
    store = GraphStore()
    for name in NAMES:
        store.add_node(MemoryNode(name, name))
    said = {name: told - {name} for name, told in sources.items()}
    for name, told in said.items():
        for other in sorted(told):
            store.add_edge(name, other, EdgeType.ECHO, 0.0 if name in apart else 1 / len(told))
    for name in sorted(gone):
        store.remove_node(name)
    seen = data.draw(st.sets(st.sampled_from(NAMES)))
    view = store.view()
    alive = [name for name in NAMES if name not in gone]
    rows = view.rows(alive)
    visible = np.isin(np.arange(view.node_count), view.known_rows(seen))
    found = are_echoes(view, rows, visible.take)
    for name, is_echo in zip(alive, found.tolist(), strict=True):
        told = said.get(name, set())
        expected = bool(told) and name not in apart and told <= seen - gone
        assert is_echo == expected
    repeated = [{view.ids[row] for row in each} for each in echoed_rows(view, rows)]
    assert repeated == [set() if name in apart else said.get(name, set()) - gone for name in alive]
