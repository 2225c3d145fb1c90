"""When nodes and edges are valid: valid time, expiry, and the views that hide invalid ones."""

import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from neurogated import GraphDelta, GraphStore, MemoryNode
from neurogated.core.conflicts import Conflict, edges_of
from neurogated.core.delta import Owner
from neurogated.core.judgements import RelationKind
from neurogated.core.view import GraphView
from neurogated.storage.index.graph.validity import Validity
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock

HOUR = timedelta(hours=1)
INSTANT = timedelta(microseconds=1)


def _names(view: GraphView) -> set[str]:
    return {view.ids[row] for row in view.live_nodes().tolist()}


def test_ten_thousand_lifetimes_are_looked_through_once() -> None:
    clock = ManualClock()
    with tempfile.TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db", clock=clock) as store:
        nodes = tuple(MemoryNode(str(row), "", expires_at=clock() + (1 + row % 7) * HOUR) for row in range(10_000))
        store.apply(GraphDelta(nodes=nodes))
        assert store.view() is store.view()
        clock.advance(HOUR)
        view = store.view()
        assert len(_names(view)) == sum(1 for row in range(10_000) if row % 7)
        clock.advance(HOUR - INSTANT)
        assert store.view() is view
        clock.advance(INSTANT)
        assert store.view() is not view


def test_a_conflict_ends_a_text_that_states_no_fact_when_its_winner_begins_even_if_that_moves() -> None:
    begin, day = datetime(2020, 1, 1, tzinfo=UTC), timedelta(days=1)
    old, new = MemoryNode("old", "x", created_at=begin), MemoryNode("new", "y", created_at=begin + day)
    conflict = Conflict(
        f"conflict-{0:032}",
        "old",
        "new",
        RelationKind.SUPERSESSION,
        1,
        outcome="superseded",
        loser="old",
        status="resolved",
    )
    store = GraphStore()
    for delta in (
        GraphDelta(nodes=(old, new)),
        GraphDelta(nodes=(conflict.node((old, new), begin),), edges=edges_of(conflict, begin), owner=Owner.LOG),
    ):
        store.apply(delta)
    assert store.get_node("old").valid_to == begin + day
    store.apply(GraphDelta(nodes=(MemoryNode("new", "y", created_at=begin + day, valid_from=begin + 9 * day),)))
    assert store.get_node("old").valid_to == begin + 9 * day
    store.apply(GraphDelta(nodes=(MemoryNode("old", "x", created_at=begin, valid_to=begin + 2 * day),)))
    assert store.get_node("old").valid_to == begin + 2 * day


_MOMENTS = st.integers(0, 20)
_STEPS = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 6), st.one_of(st.none(), _MOMENTS)),
    st.tuples(st.just("remove"), st.integers(0, 6), st.none()),
    st.tuples(st.just("ask"), _MOMENTS, st.none()),
)


@given(st.lists(_STEPS, max_size=40))
def test_expired_nodes_are_known_at_every_moment_of_any_clock(steps: list[tuple[str, int, int | None]]) -> None:
    store = GraphStore()
    store.apply(GraphDelta(nodes=tuple(MemoryNode(str(row), "") for row in range(7))))
    whole, spans, expiry = store.view(), Validity(), dict[int, int]()
    for step, number, time in steps:
        if step == "put":
            spans.put_node(number, None, None, time)
        if step != "ask":
            expiry.pop(number, None)
            expiry |= {} if time is None else {number: time}
        if step == "remove":
            spans.remove(np.array([number]), np.empty(0, dtype=np.int64))
        if step == "ask":
            due = sorted(row for row, time in expiry.items() if time <= number)
            assert spans.visible(whole, number, None).hidden.tolist() == due
            assert spans.expired(number).tolist() == due
