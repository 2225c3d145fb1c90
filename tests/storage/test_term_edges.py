"""TERM edges are computed from the texts: never stored, always as the present texts say, whatever an old log holds."""

from datetime import UTC, datetime
from pathlib import Path
from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from neurogated import EdgeType, GraphDelta, GraphStore, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.core.delta import WeightChange
from neurogated.core.model import EdgeKey
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.storage.index import term_edges
from neurogated.storage.sqlite_store import SqliteStore
from tests.ingestion.test_mentions import reference

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORDS = ["heron", "lyon", "mill", "pump", "trout", "river"]
USERS = ["ann", "bo", None]


def node(name: str, text: str, user: str | None = None) -> MemoryNode:
    return MemoryNode(name, text, scope=Scope(user), created_at=NOW)


def terms_of(store: GraphStore) -> dict[frozenset[str], float]:
    return {
        frozenset((edge.source_id, edge.target_id)): edge.weight
        for edge in store.all_edges()
        if edge.type is EdgeType.TERM
    }


def expected(store: GraphStore, most: int) -> dict[frozenset[str], float]:
    """Return the TERM edges by their formula, for each user alone."""
    view = store.view()
    derived = {edge.source_id for edge in store.all_edges() if edge.type is EdgeType.DERIVED_FROM}
    nodes = [one for one in store.all_nodes() if one.id not in derived and view.find(one.id) is not None]
    found: dict[frozenset[str], float] = {}
    for user in USERS:
        found |= reference([one for one in nodes if one.scope.user_id == user], most, 0)[0]
    return found


texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=4).map(" ".join)
changes = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 11), texts),
    st.tuples(st.just("remove"), st.integers(0, 11), st.just("")),
    st.tuples(st.just("derive"), st.integers(0, 11), st.just("")),
    st.tuples(st.just("back"), st.integers(0, 5), st.just("")),
)


@given(st.lists(changes, max_size=14), st.integers(1, 4), st.sampled_from([0, 1_000]), st.data())
def test_the_edges_of_each_user_follow_the_formula_after_every_change_and_as_of_it(
    history: list[tuple[str, int, str]], most: int, few: int, data: st.DataObject
) -> None:
    store = GraphStore()
    store.compute_terms(most)
    then: list[dict[frozenset[str], float]] = [{}]
    with patch.object(term_edges, "_FEW_TEXTS", few):
        for what, number, text in history:
            view, name = store.view(), f"n{number}"
            if what == "put":
                store.add_node(node(name, text, USERS[number % 3]))
            elif what == "remove" and view.find(name) is not None:
                store.remove_node(name)
            elif what == "derive" and None not in (view.find(name), view.find(f"n{(number + 3) % 12}")):
                store.add_edge(name, f"n{(number + 3) % 12}", EdgeType.DERIVED_FROM)
            else:
                continue
            then.append(expected(store, most))
            assert terms_of(store) == pytest.approx(then[-1])
            rows = store.view().live_nodes()
            chosen = np.array(sorted(data.draw(st.sets(st.sampled_from(rows.tolist())))) if rows.size else [], np.int64)
            assert_linked(store, chosen)
        moment = data.draw(st.integers(0, len(then) - 1))
        assert terms_of(store.as_of(moment)) == pytest.approx(then[moment])


def assert_linked(store: GraphStore, rows: np.ndarray) -> None:
    """Assert that a walk from some nodes meets the edges that the store lists, and no others."""
    view, edges = store.view(), list(store.all_edges())
    links = view.links(rows, both_ways=True)
    assert len(set(zip(links.origin.tolist(), links.edge.tolist(), strict=True))) == links.edge.size
    found = {(view.ids[rows[at]], view.edge_key(edge)) for at, edge in zip(links.origin, links.edge, strict=True)}
    names = {view.ids[row] for row in rows.tolist()}
    assert found == {(end, edge.key) for edge in edges for end in edge.key[:2] if end in names}
    for ways in ({"inwards": False}, {"inwards": True}):
        one_way = view.links(rows, **ways)
        ends = {view.edge_key(edge)[ways["inwards"]] for edge in one_way.edge.tolist()}
        assert ends <= names
        assert one_way.along.all() != ways["inwards"] or not one_way.along.size


def test_a_view_of_an_earlier_state_keeps_its_edges_once_it_was_asked() -> None:
    store = GraphStore()
    store.compute_terms(5)
    store.apply(GraphDelta(nodes=(node("a", "A heron."), node("b", "The heron.")), at=NOW))
    view = store.view()
    assert view.computed_edges()[2].tolist() == [0.5]
    store.add_node(node("b", "The mill."))
    assert view.computed_edges()[2].tolist() == [0.5]
    assert store.view().computed_edges()[2].tolist() == []


def test_nobody_stores_an_edge_that_is_computed() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        first, second = memory.add("A heron."), memory.add("A mill.")
        with pytest.raises(InputError, match="TERM edges follow from the words"):
            memory.store.apply(GraphDelta(edges=(MemoryEdge(first[0], second[0], EdgeType.TERM, 0.5),)))
        memory.add("The heron.")
        stored = [edge for one in memory.store.journal() for edge in one.delta.edges if edge.type is EdgeType.TERM]
        assert stored == []


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """Return a file of a time when TERM edges were stored and weighed again."""
    with SqliteStore.open(tmp_path / "memory.db") as store:
        key = EdgeKey("b", "a", EdgeType.TERM)
        store.apply(GraphDelta(nodes=(node("a", "A heron."), node("b", "The heron.")), edges=(MemoryEdge(*key, 0.5),)))
        more = MemoryEdge("c", "b", EdgeType.TERM, 0.3)
        lower = WeightChange(key, 0.4, derived=True)
        store.apply(GraphDelta(nodes=(node("c", "Heron and mill."),), edges=(more,), weights=(lower,)))
        store.apply(GraphDelta(nodes=(node("d", "A pump."),), removed_edges=(more.key,)))
    return tmp_path / "memory.db"


def test_what_an_old_log_says_of_them_no_longer_counts(old: Path) -> None:
    for _ in range(2):
        with SqliteStore.open(old) as store:
            store.compute_terms(5)
            third = pytest.approx(1 / 3)
            assert terms_of(store) == {frozenset("ab"): third, frozenset("ac"): third, frozenset("bc"): third}
            assert terms_of(store.as_of(1)) == {frozenset("ab"): 0.5}
            assert store.check() == []
            assert store.view().live_edges().size == 0
    with SqliteStore.open(old) as store:
        store.compute_terms(5)
        store.remove_node("b")
        assert terms_of(store) == {frozenset("ac"): 0.5}
        store.compact(history=True)
        assert terms_of(store) == {frozenset("ac"): 0.5}
        assert store.check() == []
