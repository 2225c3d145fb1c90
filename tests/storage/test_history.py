"""What changed, the graph as it was, and taking back, run over each store."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from neurogated import (
    AccessMark,
    Decay,
    EdgeKey,
    EdgeType,
    GraphDelta,
    GraphStore,
    MemoryEdge,
    MemoryNode,
    WeightChange,
)
from neurogated.core.delta import PendingTask
from neurogated.errors import InputError
from neurogated.plasticity.undo import delta_back_to
from neurogated.testing import ManualClock

OpenStore = Callable[[], GraphStore]
State = tuple[list[MemoryNode], list[MemoryEdge]]


def _state(store: GraphStore) -> State:
    """Return all there is, but for when nodes were last accessed, which is no part of history."""
    nodes = sorted(store.all_nodes(), key=lambda node: node.id)
    plain = [
        MemoryNode(n.id, n.content, n.embedding, n.base_energy, n.created_at, n.metadata, n.created_at) for n in nodes
    ]
    return plain, sorted(store.all_edges(), key=lambda edge: str(edge.key))


def _live(store: GraphStore, clock: ManualClock) -> list[State]:
    """Let a memory live through every kind of change, and return its state after each delta, the empty one first."""
    states = [_state(store)]

    def apply(**changes: Any) -> None:  # noqa: ANN401 - fields of a delta
        clock.advance(timedelta(hours=7))
        store.apply(GraphDelta(at=clock(), **changes))
        states.append(_state(store))

    def node(name: str, text: str = "x") -> MemoryNode:
        return MemoryNode(name, text, [1.0, float(len(text))], created_at=clock(), last_accessed=clock())

    def edge(source: str, target: str, kind: EdgeType, weight: float) -> MemoryEdge:
        return MemoryEdge(source, target, kind, weight, created_at=clock())

    apply(nodes=(node("a"), node("b"), node("c")), reason="first")
    apply(
        edges=(
            edge("a", "b", EdgeType.SEQ, 0.7),
            edge("b", "c", EdgeType.SEQ, 0.3),
            edge("a", "c", EdgeType.SIM, 0.2),
        )
    )
    apply(weights=(WeightChange(EdgeKey("a", "b", EdgeType.SEQ), 0.9),), reason="feedback")
    apply(operators=(Decay(0.9, clock(), 0.1),), reason="decay")
    apply(touch=AccessMark(frozenset("a"), frozenset({EdgeKey("b", "c", EdgeType.SEQ)})), reason="touch")
    apply(operators=(Decay(0.4, clock(), 0.2),), reason="decay")
    apply(nodes=(node("b", "other words"),))
    apply(removed_nodes=("c",))
    apply(nodes=(node("c", "again"),), edges=(edge("c", "a", EdgeType.CAUSE, 0.5),))
    apply(edges=(edge("a", "b", EdgeType.SEQ, 0.11),))
    apply(removed_edges=(EdgeKey("c", "a", EdgeType.CAUSE),))
    return states


def test_the_graph_can_be_seen_as_of_every_delta(store: GraphStore, clock: ManualClock) -> None:
    states = _live(store, clock)
    for sequence, expected in enumerate(states):
        assert _state(store.as_of(sequence)) == expected


def test_the_past_and_the_future_are_named_when_they_do_not_exist(store: GraphStore) -> None:
    for sequence in (-1, 1):
        with pytest.raises(InputError, match=f"no delta {sequence}; the last one is 0"):
            store.as_of(sequence)


def test_history_says_what_changed_when_and_why_and_leaves_touches_out(store: GraphStore, clock: ManualClock) -> None:
    start = clock()
    _live(store, clock)
    entries = store.history()
    assert [entry.sequence for entry in entries] == [1, 2, 3, 4, 6, 7, 8, 9, 10, 11]
    assert entries[0].reason == "first"
    assert entries[0].at == start + timedelta(hours=7)
    assert entries[0].changes == {"nodes put": 3}
    assert entries[2].changes == {"weights changed": 1}
    assert entries[3].operators[0].factor == 0.9
    assert entries[7].changes == {"nodes put": 1, "edges put": 1}


@given(to=st.integers(0, 11), again=st.integers(0, 11))
@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_undo_restores_the_graph_bit_for_bit_and_can_be_undone(open_store: OpenStore, to: int, again: int) -> None:
    clock = ManualClock()
    with open_store() as store:
        states = _live(store, clock)
        for target in (to, again, len(states) - 1):
            delta = delta_back_to(store.as_of(target), store, reason="undo", at=clock())
            if delta:
                store.apply(delta)
            assert _state(store) == states[target]


def test_nothing_to_take_back_is_an_empty_delta(store: GraphStore, clock: ManualClock) -> None:
    _live(store, clock)
    assert not delta_back_to(store.as_of(store.view().sequence), store, reason="undo", at=clock())


def test_namespaces_have_histories_of_their_own(store: GraphStore) -> None:
    store.add_node(MemoryNode("a", "one"))
    other = store.in_namespace("other")
    other.add_node(MemoryNode("b", "two"))
    assert [entry.changes for entry in store.history()] == [{"nodes put": 1}]
    assert [node.id for node in other.as_of(other.view().sequence).all_nodes()] == ["b"]


def test_judgements_wait_until_they_are_settled(store: GraphStore) -> None:
    one, two = PendingTask("cause", ("a", "b")), PendingTask("entities", ("a",))
    store.apply(GraphDelta(queued=(one, two)))
    store.apply(GraphDelta(queued=(one,)))
    assert store.pending() == [one, two]
    store.apply(GraphDelta(settled=(one, PendingTask("cause", ("x", "y")))))
    assert store.pending() == [two]
    assert store.in_namespace("other").pending() == []
    assert store.history() == []
