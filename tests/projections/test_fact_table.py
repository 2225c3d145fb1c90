"""The table of facts shows the facts of a graph, in every database, after any history."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.clock import utc_now
from neurogated.core.delta import GraphDelta
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.scope import Scope
from neurogated.plasticity.undo import undo
from neurogated.projections.fact_table import FactTable
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.sqlite_store import SqliteStore
from tests.projections.rows import DERIVED, fact, put, reference, rows_in, without_sequence

NAMES = "abcdef"


def test_a_row_has_all_columns(table: FactTable, url: str, store: GraphStore) -> None:
    moment = datetime(2020, 2, 3, 4, 5, 6, 789, tzinfo=UTC)
    scope = Scope("ana", "bot", "s1", ("home", "notes"))
    times = {name: moment + timedelta(days=place) for place, name in enumerate(("valid_from", "valid_to", "timestamp"))}
    store.apply(put(MemoryNode("x", "x", scope=scope), fact("f", "Łódź 里昂 '\"\0", scope=scope, **times)))
    store.apply(put(edges=(MemoryEdge("f", "x", DERIVED),)))
    assert table.catch_up(store, "default") == 1
    (row,) = rows_in(url)
    (wanted,) = reference(store)
    for name in ("value", "statement"):
        wanted[name] = wanted[name].replace("\0", "\ufffd")
    assert row == wanted
    assert row["sources"] == ["x"]
    assert row["sequence"] == 2


_ACTIONS = st.one_of(
    st.tuples(st.just("put"), st.sampled_from(NAMES), st.sampled_from(["fact", "episode"]), st.text(max_size=3)),
    st.tuples(st.just("remove"), st.sampled_from(NAMES)),
    st.tuples(st.just("derive"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("detach"), st.sampled_from(NAMES), st.sampled_from(NAMES)),
    st.tuples(st.just("undo"), st.integers(0, 9)),
    st.tuples(st.just("compact"), st.booleans()),
    st.tuples(st.just("catch up")),
)


def _act(store: GraphStore, table: FactTable, action: tuple[Any, ...]) -> None:
    name, *details = action
    there = {node.id for node in store.all_nodes()}
    if name == "put":
        node = fact(details[0], details[2] or "x") if details[1] == "fact" else MemoryNode(details[0], details[2])
        store.apply(put(node))
    elif name == "remove" and details[0] in there:
        store.apply(GraphDelta(removed_nodes=(details[0],)))
    elif name == "derive" and details[0] != details[1] and there >= set(details):
        store.apply(put(edges=(MemoryEdge(details[0], details[1], DERIVED),)))
    elif name == "detach" and any((e.source_id, e.target_id) == tuple(details) for e in store.all_edges()):
        store.apply(GraphDelta(removed_edges=(EdgeKey(details[0], details[1], DERIVED),)))
    elif name == "undo" and store.view().sequence >= details[0]:
        undo(store, details[0], utc_now)
    elif name == "compact":
        store.compact(history=details[0])
    elif name == "catch up":
        table.catch_up(store, "default")


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
@given(actions=st.lists(_ACTIONS, max_size=25))
def test_after_any_history_the_rows_are_those_of_the_graph(
    tmp_path_factory: pytest.TempPathFactory, storage: str, actions: list[tuple[Any, ...]]
) -> None:
    folder = tmp_path_factory.mktemp("facts")
    url = f"sqlite:///{folder}/facts.db"
    table = FactTable(url, seconds=5.0)
    with SqliteStore.open(folder / "memory.db") if storage == "sqlite" else GraphStore() as store:
        for action in actions:
            _act(store, table, action)
        table.catch_up(store, "default")
        assert without_sequence(rows_in(url)) == without_sequence(reference(store))
        assert table.catch_up(store, "default") == 0
