"""The contract of time: valid time and expiry."""

from __future__ import annotations

from datetime import datetime, timedelta
from random import Random
from typing import Any

import hypothesis.strategies as st
from hypothesis import given

from graph_store_kit.contract.base import ContractBase, NewStore, assert_shows, assert_tells
from graph_store_kit.contract.reading import assert_searches_agree
from graph_store_kit.contract.writing import PROPERTY
from graph_store_kit.histories import NAMES, START, edge, node
from graph_store_kit.model import GraphModel
from graph_store_kit.reads import get_node, keyword_search, nearest, nodes_with, terms_of
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import SUBJECT
from neurogated.testing import ManualClock

_HOUR = timedelta(hours=1)
_INSTANT = timedelta(microseconds=1)
_LYON = SUBJECT + "lyon"


def _mortal(store: GraphStorePort, clock: ManualClock) -> GraphModel:
    """Put a node that expires in an hour and two that do not; return the model."""
    model = GraphModel()
    delta = GraphDelta(
        nodes=(
            node("a", 1.0, 0.0),
            node("m", 1.0, 0.0, content="a heron", title="Lyon", expires_at=clock() + _HOUR),
            node("z", 0.0, 1.0),
        ),
        edges=(edge("a", "m"), edge("m", "z", EdgeType.SIM), edge("a", "z")),
        at=clock(),
    )
    store.apply(delta)
    model.apply(delta)
    return model


class TimesContract(ContractBase):
    """`view(valid_at=…)` shows the nodes valid then. Expired nodes are hidden until they are removed."""

    # Expiry

    def test_a_node_is_there_until_it_expires_and_hidden_from_then_on(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        model = _mortal(store, clock)
        clock.advance(_HOUR - _INSTANT)
        assert_tells(store, model)
        assert store.snapshot().expired(clock()) == []
        clock.advance(_INSTANT)
        assert_tells(store, model, now=clock())
        assert store.snapshot().expired(clock()) == ["m"]
        # Maintenance must still be able to read it and its tags before it removes it.
        assert nodes_with(store, [_LYON]) == ["m"]
        assert _LYON in terms_of(store, ["m"])[0]
        assert get_node(store, "m").content == "a heron"
        assert store.view().find("m") is None

    def test_what_has_expired_is_not_found_and_takes_no_place(self, store: GraphStorePort, clock: ManualClock) -> None:
        _mortal(store, clock)
        assert [name for name, _ in nearest(store, [1.0, 0.0], 2)] == ["a", "m"]
        assert [name for name, _ in keyword_search(store, "heron", 2)] == ["m"]
        assert store.snapshot().existing_tags([_LYON]) == {_LYON}
        clock.advance(_HOUR)
        assert [name for name, _ in nearest(store, [1.0, 0.0], 2)] == ["a", "z"]
        assert keyword_search(store, "heron", 2) == []
        assert store.snapshot().existing_tags([_LYON]) == frozenset()
        assert_searches_agree(store, [1.0, 0.5])

    def test_a_view_taken_before_still_shows_what_expires(self, store: GraphStorePort, clock: ManualClock) -> None:
        model = _mortal(store, clock)
        view = store.view()
        clock.advance(_HOUR)
        assert_shows(view, model)
        assert [name for name, _ in nearest(store, [1.0, 0.0], 2, view)] == ["a", "m"]

    def test_a_clock_that_goes_back_shows_what_had_not_expired(self, store: GraphStorePort, clock: ManualClock) -> None:
        model = _mortal(store, clock)
        clock.advance(_HOUR)
        assert_tells(store, model, now=clock())
        clock.advance(-_HOUR)
        assert_tells(store, model)

    # Valid time

    def test_a_view_at_a_time_shows_what_held_in_the_world_then(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        start = clock()
        model = GraphModel()
        delta = GraphDelta(
            nodes=(
                node("always"),
                node("from", valid_from=start),
                node("to", valid_to=start),
                node("during", valid_from=start - _HOUR, valid_to=start + _HOUR),
            ),
            edges=(
                edge("always", "from"),
                edge("always", "to"),
                edge("always", "during", valid_from=start, valid_to=start + _HOUR / 2),
                edge("from", "during", EdgeType.CAUSE),
            ),
            at=start,
        )
        store.apply(delta)
        model.apply(delta)
        for moment in (-2 * _HOUR, -_HOUR, -_INSTANT, 0 * _HOUR, _HOUR / 2, _HOUR - _INSTANT, _HOUR, 2 * _HOUR):
            assert_shows(store.view(valid_at=start + moment), model.at(clock(), start + moment))
        # Without `valid_at`, everything is shown.
        assert_tells(store, model)

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(1, 9))
    @PROPERTY
    def test_any_graph_shows_at_any_time_what_dictionaries_show(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int
    ) -> None:
        store, model = new_store(), GraphModel()
        told: list[tuple[int, datetime, GraphModel]] = []
        clock.now = START
        for _ in range(deltas):
            clock.advance(_HOUR)
            delta = _random_times(random, model, clock)
            model.apply(delta)
            told.append((store.apply(delta), clock(), model.copy()))
            assert_tells(store, model, now=clock())
            assert set(store.snapshot().expired(clock())) == model.nodes.keys() - model.at(clock()).nodes.keys()
        for hours in range(-1, deltas + 4):
            moment = START + hours * _HOUR
            assert_shows(store.view(valid_at=moment), model.at(clock(), moment))
        for number, at, then in told:
            assert_tells(store.as_of(number), then, now=at, past=True)
            assert_shows(store.as_of(at).view(valid_at=at - _HOUR), then.at(at, at - _HOUR))


def _random_times(random: Random, model: GraphModel, clock: ManualClock) -> GraphDelta:
    """Return a delta that puts two nodes and an edge with random times."""

    def moment() -> timedelta:
        return random.randint(-3, 4) * _HOUR

    def span() -> dict[str, Any]:
        times = {"valid_from": clock() + moment(), "valid_to": clock() + moment()}
        return {name: time for name, time in times.items() if random.random() < 0.5}

    names = random.sample(NAMES, 2)
    mortal = {"expires_at": clock() + moment()} if random.random() < 0.5 else {}
    nodes = (node(names[0], at=clock(), **span(), **mortal), node(names[1], at=clock(), **span()))
    gone = tuple(name for name in model.nodes if name not in names and random.random() < 0.2)
    return GraphDelta(
        removed_nodes=gone, nodes=nodes, edges=(edge(names[0], names[1], at=clock(), **span()),), at=clock()
    )
