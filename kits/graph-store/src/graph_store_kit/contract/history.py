"""The contract of the past: history, journal, the graph as of any delta or time, and undo."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import given

from graph_store_kit.contract.base import ContractBase, NewStore, apply, assert_tells, journaled, unused
from graph_store_kit.contract.reading import assert_searches_agree
from graph_store_kit.contract.writing import PROPERTY, three_nodes
from graph_store_kit.histories import QUERIES, edge, history_of, node
from graph_store_kit.model import GraphModel
from graph_store_kit.reads import all_edges, get_node, has_node, keyword_search, nearest
from neurogated.core.delta import Access, Charge, Decay, GraphDelta, PendingTask, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey
from neurogated.core.ports import GraphStorePort
from neurogated.errors import InputError
from neurogated.plasticity.undo import delta_back_to
from neurogated.storage.graph_store import GraphStore
from neurogated.testing import ManualClock

_QUERY = (1.0, 0.5)
_SEQ = EdgeKey("a", "b", EdgeType.SEQ)

Found = tuple[list[tuple[str, float]], dict[str, list[tuple[str, float]]]]


class Moment:
    """A store right after a delta: its number, its time, its contents, and its search results."""

    def __init__(self, number: int, at: datetime, model: GraphModel, store: GraphStorePort) -> None:
        self.number = number
        self.at = at
        self.model = model
        self.found = found_by(store)


def found_by(store: GraphStorePort) -> Found:
    """Return the results of searches, each with all its scores."""
    return nearest(store, _QUERY, 99), {query: keyword_search(store, query, 99) for query in QUERIES}


def assert_searched_alike(store: GraphStorePort, expected: Found) -> None:
    """Compare search results with earlier ones; keyword scores may differ in rounding."""
    nearest, keywords = found_by(store)
    assert nearest == expected[0]
    for query, found in keywords.items():
        assert dict(found) == pytest.approx(dict(expected[1][query]))


def live_through(store: GraphStorePort, random: Random, clock: ManualClock, deltas: int) -> list[Moment]:
    """Apply a random history; return the moment after each delta, starting with the empty store.

    A delta of accesses only is not part of the history; the moment before it gets the new model.
    """
    moments = [Moment(0, clock(), GraphModel(), store)]
    for delta, model in history_of(random, clock, deltas):
        number = store.apply(delta)
        if delta.tells_of_uses_only:
            moments[-1].model = model
        else:
            moments.append(Moment(number, delta.at, model, store))
    return moments


def replayed(store: GraphStorePort, clock: ManualClock) -> GraphStore:
    """Return an in-memory graph to which the whole journal was applied."""
    fresh = GraphStore(clock=clock)
    for entry in store.journal():
        fresh.apply(entry.delta)
    return fresh


class HistoryContract(ContractBase):
    """Nothing is overwritten: a caller can ask for the graph after any delta."""

    def test_history_says_what_changed_when_and_why_and_leaves_touches_out(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        start = clock()
        numbers = []
        for changes in (
            {"nodes": (node("a"), node("b")), "reason": "first 一"},
            {"touch": Access.of(frozenset("a")), "reason": "touch"},
            {"edges": (edge("a", "b"),), "nodes": (node("b"),)},
            {"weights": (WeightChange(_SEQ, 0.9),), "reason": "feedback"},
            {"operators": (Decay(0.9, start, 0.1),), "reason": "decay"},
            {"removed_nodes": ("a",)},
        ):
            clock.advance(timedelta(hours=7))
            numbers.append(apply(store, clock, **changes))
        entries = store.history()
        assert [entry.sequence for entry in entries] == [numbers[0], *numbers[2:]]
        assert [entry.reason for entry in entries] == ["first 一", "", "feedback", "decay", ""]
        assert entries[0].at == start + timedelta(hours=7)
        assert [dict(entry.changes) for entry in entries] == [
            {"nodes put": 2},
            {"nodes put": 1, "edges put": 1},
            {"weights changed": 1},
            {},
            {"nodes removed": 1},
        ]
        assert entries[3].operators == (Decay(0.9, start, 0.1),)
        assert store.history(numbers[0], numbers[4]) == entries[1:4]
        assert [entry.sequence for entry in store.journal(numbers[1], numbers[3])] == numbers[2:4]

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(0, 14))
    @PROPERTY
    def test_the_journal_played_again_makes_the_same_graph(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int
    ) -> None:
        store = new_store()
        moments = live_through(store, random, clock, deltas)
        entries = journaled(store, {moment.number for moment in moments})
        assert [entry.sequence for entry in entries] == [moment.number for moment in moments[1:]]
        assert [entry.delta.at for entry in entries] == [moment.at for moment in moments[1:]]
        fresh = replayed(store, clock)
        assert_tells(fresh, moments[-1].model, past=True)
        assert_searched_alike(fresh, moments[-1].found)
        told = [(entry.at, entry.reason, entry.operators) for entry in store.history()]
        assert [(entry.at, entry.reason, entry.operators) for entry in fresh.history()] == told

    def test_uses_of_a_node_outlive_its_removal(self, store: GraphStorePort, clock: ManualClock) -> None:
        first = apply(store, clock, nodes=(node("a", uses=2), node("b")))
        clock.advance(timedelta(hours=7))
        apply(store, clock, touch=Access({"a": 3, "b": 1}))
        used = clock()
        clock.advance(timedelta(hours=7))
        apply(store, clock, removed_nodes=("a",))
        apply(store, clock, touch=Access({"a": 4}))
        then = store.as_of(first)
        assert [(one.id, one.uses, one.last_accessed) for one in then.all_nodes()] == [("a", 5, used), ("b", 1, used)]
        apply(store, clock, nodes=(get_node(then, "a"),))
        again = self.reopened(store)
        assert (get_node(again, "a").uses, get_node(again, "a").last_accessed) == (5, used)
        apply(again, clock, nodes=(node("a"),))
        assert [one.uses for one in (get_node(again, "a"), get_node(again.as_of(first), "a"))] == [0, 0]

    def test_the_journal_names_no_memory_that_was_gone_before_it_was_used_or_judged(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        task = PendingTask("claims", ("gone",))
        apply(store, clock, nodes=(node("a"), node("gone"), node("b")), edges=(edge("gone", "a"),), queued=(task,))
        apply(store, clock, removed_nodes=("gone",), settled=(task,))
        last, used = store.view().sequence, Charge(0.5, clock())
        # Another process recalled the memory before, and writes this after it was deleted.
        touch = Access({"a": 1, "gone": 2}, frozenset({edge("gone", "a").key}), {"gone": used, "b": used})
        apply(store, clock, touch=touch, settled=(task,))
        for entry in store.journal(after=last):
            assert "gone" not in repr(entry.delta)
        assert get_node(store, "a").uses == 1
        assert store.pending() == []

    def test_the_journal_can_be_read_from_any_delta_on(self, store: GraphStorePort, clock: ManualClock) -> None:
        numbers = [apply(store, clock, nodes=(node(name),)) for name in "abc"]
        for place, number in enumerate(numbers):
            later = list(store.journal(after=number))
            assert [entry.sequence for entry in later] == numbers[place + 1 :]
            assert [entry.delta.nodes[0].id for entry in later] == list("abc"[place + 1 :])
        assert len(list(store.journal(0))) == len(numbers)

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(0, 12))
    @PROPERTY
    def test_the_graph_as_of_any_delta_and_its_time_is_the_graph_of_then(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int
    ) -> None:
        store = new_store()
        moments = live_through(store, random, clock, deltas)
        for moment in random.sample(moments, min(4, len(moments))):
            for past in (
                store.as_of(moment.number),
                store.as_of(moment.at),
                store.as_of(moment.at + timedelta(hours=6)),
            ):
                assert_tells(past, moment.model, past=True)
                assert_searched_alike(past, moment.found)
        assert_tells(store, moments[-1].model)
        assert_searched_alike(store, moments[-1].found)

    def test_a_time_stands_for_the_last_delta_at_it_or_before(self, store: GraphStorePort, clock: ManualClock) -> None:
        before = clock()
        clock.advance(timedelta(hours=1))
        for name in "ab":
            apply(store, clock, nodes=(node(name),))
        made = clock()
        clock.advance(timedelta(hours=1))
        apply(store, clock, nodes=(node("c"),))
        moment = timedelta(microseconds=1)
        for at, expected in (
            (before, []), (made - moment, []), (made, ["a", "b"]), (clock() - moment, ["a", "b"]),
            (clock(), ["a", "b", "c"]), (clock() + timedelta(days=9), ["a", "b", "c"]),
        ):  # fmt: skip
            assert [one.id for one in store.as_of(at).all_nodes()] == expected

    def test_a_write_with_a_clock_ahead_hides_none_of_the_later_writes(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        begin = clock()
        for name, hours in (("a", 1), ("b", 9), ("c", -6), ("d", 6)):
            clock.advance(timedelta(hours=hours))
            apply(store, clock, nodes=(node(name),))
        for hours, expected in (
            (0, []), (1, ["a"]), (3, ["a"]), (4, ["a", "b", "c"]), (9, ["a", "b", "c"]), (10, ["a", "b", "c", "d"]),
        ):  # fmt: skip
            past = store.as_of(begin + timedelta(hours=hours))
            assert [one.id for one in past.all_nodes()] == expected

    def test_a_delta_that_does_not_exist_is_named(self, store: GraphStorePort, clock: ManualClock) -> None:
        number = apply(store, clock, nodes=(node("a"),))
        for unknown in (-1, number + 1):
            with pytest.raises(InputError, match=f"{unknown}"):
                store.as_of(unknown)

    def test_the_past_is_searched_and_walked_as_it_was(self, store: GraphStorePort, clock: ManualClock) -> None:
        model = three_nodes(store)
        number = store.view().sequence
        before = found_by(store)
        apply(store, clock, removed_nodes=("a",), nodes=(node("b", 0.0, 1.0, content="A stone."), node("z")))
        past = store.as_of(number)
        assert_tells(past, model, past=True)
        assert_searched_alike(past, before)
        assert_searches_agree(past, _QUERY)
        assert get_node(past, "b").content == "text of b"
        assert not has_node(past, "z")
        assert past.view().sequence == number

    def test_writing_goes_on_while_the_past_is_read(self, store: GraphStorePort, clock: ManualClock) -> None:
        model = three_nodes(store)
        past = store.as_of(store.view().sequence)
        apply(store, clock, nodes=(node("a", content="heron"),), removed_nodes=("c",))
        assert_tells(past, model, past=True)
        past.close()
        assert not store.closed
        assert get_node(store, "a").content == "heron"

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(1, 9))
    @PROPERTY
    def test_taking_back_restores_the_graph_bit_for_bit_and_can_be_taken_back(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int
    ) -> None:
        store = new_store()
        moments = live_through(store, random, clock, deltas)
        for moment in (random.choice(moments), random.choice(moments), moments[-1]):
            delta = delta_back_to(store.as_of(moment.number), store, reason="undo", at=clock())
            if delta:
                store.apply(delta)
            assert {one.id: one for one in store.all_nodes()}.keys() == moment.model.nodes.keys()
            there = {one.key: unused(one) for one in all_edges(store)}
            assert there == {key: unused(one) for key, one in moment.model.edges.items()}
            assert_searched_alike(store, moment.found)
        assert delta_back_to(store.as_of(store.view().sequence), store, reason="undo", at=clock()) == GraphDelta(
            reason="undo", at=clock()
        )
