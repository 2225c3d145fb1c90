"""When nodes and edges are valid: valid time, expiry, and the views that hide invalid ones."""

import sys
import tempfile
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from neurogated import EdgeKey, EdgeType, GraphDelta, GraphStore, MemoryEdge, MemoryNode
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.view import GraphView
from neurogated.storage.index.graph import validity
from neurogated.storage.index.graph.validity import Validity
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock

OpenStore = Callable[[], GraphStore]
HOUR = timedelta(hours=1)
INSTANT = timedelta(microseconds=1)


def _names(view: GraphView) -> set[str]:
    return {view.ids[row] for row in view.live_nodes().tolist()}


def _keys(view: GraphView) -> set[EdgeKey]:
    return {view.edge_key(row) for row in view.live_edges().tolist()}


def _fill(store: GraphStore, clock: ManualClock) -> None:
    """Three nodes in a row. The middle one expires in two hours."""
    middle = MemoryNode("b", "brief news", [1.0, 0.1], title="Brief", expires_at=clock() + 2 * HOUR)
    nodes = (MemoryNode("a", "lasting news", [1.0, 0.0]), middle, MemoryNode("c", "old news", [0.0, 1.0]))
    edges = tuple(MemoryEdge(one, two, EdgeType.SEQ, 0.5, created_at=clock()) for one, two in ("ab", "bc", "ca"))
    store.apply(GraphDelta(nodes=nodes, edges=edges, at=clock()))


def _shows_the_middle(store: GraphStore) -> bool:
    """Return whether views and all searches show the expiring node. Fail if they disagree.

    By its id the node can be read until it is removed.
    """
    view = store.view()
    shown = {
        "b" in _names(view),
        "b" in [name for name, _ in store.nearest([1.0, 0.1], 3)],
        "b" in [node.id for node, _ in store.vector_search([1.0, 0.1], 1)],
        "b" in [name for name, _ in store.keyword_search("brief news", 1)],
        bool(store.existing_tags(["subject brief"])),
        EdgeKey("b", "c", EdgeType.SEQ) in _keys(view),
        view.arcs(view.rows(["c"]), inwards=True).edge.size == 1,
        view.find("b") is not None,
        "b" not in store.expired(store._clock()),
    }
    assert len(shown) == 1
    assert store.has_node("b")
    assert store.get_node("b").id == "b"
    assert len(list(store.all_nodes())) == len(list(store.all_edges())) == len(store) == 3
    assert store.get_edge("a", "b").weight == 0.5
    return shown.pop()


def test_a_node_is_hidden_exactly_from_its_expiry_on(store: GraphStore, clock: ManualClock) -> None:
    _fill(store, clock)
    assert _shows_the_middle(store)
    clock.advance(2 * HOUR - INSTANT)
    assert _shows_the_middle(store)
    clock.advance(INSTANT)
    assert not _shows_the_middle(store)
    clock.advance(-INSTANT)
    assert _shows_the_middle(store), "a clock that is set back shows it again"
    clock.advance(365 * 24 * HOUR)
    assert not _shows_the_middle(store)
    assert store.get_edge("c", "a").weight == 0.5


def test_expiry_can_be_moved_lifted_and_set(store: GraphStore, clock: ManualClock) -> None:
    _fill(store, clock)
    (middle,) = store.get_nodes(["b"])

    def put(expires: object) -> None:
        store.add_node(replace(middle, expires_at=expires))  # type: ignore[arg-type]

    clock.advance(3 * HOUR)
    assert not _shows_the_middle(store)
    put(clock() + HOUR)
    assert _shows_the_middle(store), "its edges are restored with it"
    clock.advance(HOUR)
    assert not _shows_the_middle(store)
    put(None)
    assert _shows_the_middle(store)
    put(clock())
    assert not _shows_the_middle(store)
    store.remove_node("a")
    store.apply(GraphDelta(removed_nodes=("b",)))
    assert store.expired(clock()) == []
    store.add_node(MemoryNode("b", "born again"))
    assert store.get_node("b").expires_at is None


def test_a_view_without_expired_nodes_is_built_once(store: GraphStore, clock: ManualClock) -> None:
    _fill(store, clock)
    for moment in (clock(), clock() + 5 * HOUR):
        clock.now = moment
        view = store.view()
        clock.advance(INSTANT)
        assert store.view() is view
    store.add_node(MemoryNode("d", "d"))
    assert store.view() is not view
    assert _names(view) == {"a", "c"}, "later writes do not show in a view"


def test_a_view_does_not_change_when_a_node_expires(store: GraphStore, clock: ManualClock) -> None:
    _fill(store, clock)
    view = store.view()
    clock.advance(2 * HOUR)
    assert _names(view) == {"a", "b", "c"}
    assert [name for name, _ in store.nearest([1.0, 0.1], 1, view)] == ["b"]
    assert store.existing_tags(["subject brief"], view) == {"subject brief"}
    assert [name for name, _ in store.nearest([1.0, 0.1], 1)] == ["a"]


def test_expiry_is_read_from_disk_and_from_the_past(tmp_path: Path, clock: ManualClock) -> None:
    with SqliteStore.open(tmp_path / "memory.db", clock=clock) as store:
        _fill(store, clock)
    clock.advance(2 * HOUR)
    with SqliteStore.open(tmp_path / "memory.db", clock=clock) as store:
        assert not _shows_the_middle(store)
        assert store.expired(clock()) == ["b"]
        # As of a delta the time is the present. As of a time it is that time.
        assert _shows_the_middle(store.as_of(1))
        assert not _shows_the_middle(store.as_of(clock()))
        assert _shows_the_middle(store.as_of(clock() - INSTANT))
        store.remove_node("b")
        assert store.expired(clock()) == []


def test_the_past_of_a_number_from_another_namespace_has_the_time_of_its_own(
    tmp_path: Path, clock: ManualClock
) -> None:
    with SqliteStore.open(tmp_path / "memory.db", "one", clock=clock) as store:
        clock.advance(3 * HOUR)
        store.in_namespace("two").apply(GraphDelta(nodes=(MemoryNode("x", "x"),), at=clock()))
        _fill(store, clock)
        early = MemoryNode("gone", "gone", expires_at=clock() - HOUR)
        store.apply(GraphDelta(nodes=(early,), at=clock()))
        store.in_namespace("two").apply(GraphDelta(nodes=(MemoryNode("x", "x"),), at=clock() - 9 * HOUR))
        store.add_node(MemoryNode("d", "d"))
        assert _names(store.as_of(4).view()) == {"a", "b", "c"}
        store.drop_namespace("two")
        assert _names(store.as_of(4).view()) == {"a", "b", "c"}


@pytest.mark.parametrize(("begin", "end"), [(1, 3), (None, 3), (1, None), (None, None), (2, 2), (3, 1)])
def test_validity_includes_its_start_and_excludes_its_end(
    store: GraphStore, clock: ManualClock, begin: int | None, end: int | None
) -> None:
    span: dict[str, Any] = {
        "valid_from": None if begin is None else clock() + begin * HOUR,
        "valid_to": None if end is None else clock() + end * HOUR,
    }
    nodes = (MemoryNode("a", "a news"), MemoryNode("b", "b news", [1.0], **span), MemoryNode("c", "c"))
    edges = (MemoryEdge("a", "b", EdgeType.SIM), MemoryEdge("a", "c", EdgeType.CAUSE, **span))
    store.apply(GraphDelta(nodes=nodes, edges=edges))
    assert _names(store.view()) == {"a", "b", "c"}
    for micros in (-1, 0, 1):
        for hour in range(5):
            moment = clock() + hour * HOUR + micros * INSTANT
            holds = (begin is None or moment >= span["valid_from"]) and (end is None or moment < span["valid_to"])
            view = store.view(valid_at=moment)
            assert _names(view) == ({"a", "b", "c"} if holds else {"a", "c"})
            assert len(_keys(view)) == (2 if holds else 0)
            assert bool(store.nearest([1.0], 1, view)) == holds
            assert ("b" in dict(store.keyword_search("news", 2, view))) == holds
    assert _names(store.view()) == {"a", "b", "c"}


def test_valid_time_follows_replacement_removal_and_decay(store: GraphStore, clock: ManualClock) -> None:
    later = clock() + HOUR
    store.add_node(MemoryNode("a", "a"))
    store.add_node(MemoryNode("b", "b", valid_from=later))
    store.add_edge(MemoryEdge("a", "b", EdgeType.SEQ, valid_from=later))
    assert _names(store.view(valid_at=clock())) == {"a"}
    store.add_node(MemoryNode("b", "b"))
    assert _names(store.view(valid_at=clock())) == {"a", "b"}
    assert _keys(store.view(valid_at=clock())) == set()
    store.add_edge(MemoryEdge("a", "b", EdgeType.SEQ))
    assert len(_keys(store.view(valid_at=clock()))) == 1
    store.remove_node("b")
    assert _names(store.view(valid_at=clock())) == {"a"}


@st.composite
def _graphs(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, int, int]], set[int], set[int]]:
    nodes = draw(st.integers(1, 7))
    ends = st.tuples(st.integers(0, nodes - 1), st.integers(0, nodes - 1), st.integers(0, 2), st.integers(0, 4))
    edges = draw(st.lists(ends, max_size=15, unique_by=lambda edge: edge[:3]))
    edges = [edge for edge in edges if edge[0] != edge[1]]
    hidden = draw(st.sets(st.integers(0, nodes - 1)))
    return nodes, edges, hidden, draw(st.sets(st.integers(0, max(len(edges) - 1, 0)))) if edges else set()


@settings(max_examples=60)
@given(_graphs(), st.booleans())
def test_a_view_without_rows_is_the_graph_without_them(
    graph: tuple[int, list[tuple[int, int, int, int]], set[int], set[int]],
    twice: bool,  # noqa: FBT001 - drawn
) -> None:
    count, ends, hidden, cut = graph
    kinds = (EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE)
    store = GraphStore(config=MemoryConfig(runtime=RuntimeSettings(overlay_edges=3)))
    store.apply(GraphDelta(nodes=tuple(MemoryNode(str(row), str(row)) for row in range(count))))
    for source, target, kind, weight in ends:
        store.add_edge(str(source), str(target), kinds[kind], weight / 4)
    whole = store.view()
    nodes, edges = (np.array(sorted(rows), dtype=np.int64) for rows in (hidden, cut))
    nothing = np.empty(0, dtype=np.int64)
    view = whole.without(nodes, nothing).without(nodes, edges) if twice else whole.without(nodes, edges)
    left = [
        (source, target, kinds[kind], weight / 4)
        for row, (source, target, kind, weight) in enumerate(ends)
        if row not in cut and not {source, target} & hidden
    ]
    assert view.live_nodes().tolist() == [row for row in range(count) if row not in hidden]
    assert view.hidden.tolist() == sorted(hidden)
    assert [(*view.edge_key(row), view.weight.take(np.array([row]))[0]) for row in view.live_edges()] == [
        (str(source), str(target), kind, weight) for source, target, kind, weight in left
    ]
    for row in range(count):
        assert (view.find(str(row)) is None) == (row in hidden)
        for wanted in (None, *kinds):
            walked = view.arcs(np.array([row]), wanted)
            expected = [(t, w) for s, t, k, w in left if s == row and wanted in (None, k)]
            assert list(zip(walked.target.tolist(), walked.weight.tolist(), strict=True)) == expected
            back = view.arcs(np.array([row]), wanted, inwards=True)
            assert back.target.tolist() == [s for s, t, k, _ in left if t == row and wanted in (None, k)]
    assert whole.live_nodes().size == count, "the view it was made of is as it was"
    assert whole.live_edges().size == len(ends)


@settings(max_examples=60)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=10),
    st.lists(st.tuples(st.sets(st.integers(0, 9)), st.integers(0, 9)), max_size=4),
)
def test_a_patched_column_is_the_column_with_those_values(
    values: list[int], patches: list[tuple[set[int], int]]
) -> None:
    store = GraphStore()
    store.apply(GraphDelta(nodes=tuple(MemoryNode(str(row), "", base_energy=v / 9) for row, v in enumerate(values))))
    column, expected = store.view().base_energy, np.array(values) / 9
    for rows, value in patches:
        changed = np.array([row for row in rows if row < len(values)] * 2, dtype=np.int64)
        column = column.patched(changed, value)
        expected[changed] = value
    assert column.all().tolist() == expected.tolist()
    assert column.take(np.arange(len(values))[::-1]).tolist() == expected[::-1].tolist()
    assert store.view().base_energy.all().tolist() == (np.array(values) / 9).tolist()


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


_MOMENTS = st.integers(0, 20)
_STEPS = st.one_of(
    st.tuples(st.just("put"), st.integers(0, 6), st.one_of(st.none(), _MOMENTS)),
    st.tuples(st.just("remove"), st.integers(0, 6), st.none()),
    st.tuples(st.just("ask"), _MOMENTS, st.none()),
)


@given(st.lists(_STEPS, max_size=40))
def test_expired_nodes_are_known_at_every_moment_of_any_clock(
    steps: list[tuple[str, int, int | None]],
) -> None:
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


def _lines_of_a_view_after_a_write(count: int) -> int:
    """Return how many lines of the module run after an addition to `count` nodes that will expire."""
    clock, lines = ManualClock(), 0
    store = GraphStore(clock=clock)
    nodes = tuple(MemoryNode(str(row), "", expires_at=clock() + (1 + row) * HOUR) for row in range(count))
    store.apply(GraphDelta(nodes=nodes))
    store.view()
    store.add_node(MemoryNode("new", "", expires_at=clock() + HOUR))

    def watch(frame: FrameType, event: str, _: Any) -> Any:  # noqa: ANN401
        nonlocal lines
        lines += event == "line"
        return watch if frame.f_code.co_filename == validity.__file__ else None

    before = sys.gettrace()
    sys.settrace(watch)
    try:
        store.view()
    finally:
        sys.settrace(before)
    return lines


def test_a_view_after_a_write_is_as_much_work_however_many_nodes_are_to_expire() -> None:
    assert 0 < _lines_of_a_view_after_a_write(1000) == _lines_of_a_view_after_a_write(10)
