"""Derived memories: which they are, and from which sources."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from neurogated import EdgeType, GraphDelta, GraphStore, MemoryEdge, MemoryNode
from neurogated.core.derivation import are_original, derived_from, is_derived, source_rows
from neurogated.core.filters import Filter
from neurogated.retrieval.similarity import shares_of_sources

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
