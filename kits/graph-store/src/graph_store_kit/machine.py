"""A Hypothesis state machine that compares a store with dictionaries over random histories and shrinks failures."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any, ClassVar, NamedTuple, Protocol

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from graph_store_kit.contract.base import assert_shows, assert_tells, journaled, shown_by, unused
from graph_store_kit.contract.reading import assert_searches_agree, keyword_scores
from graph_store_kit.histories import NAMES, TYPES, WORDS, edge, node, random_delta
from graph_store_kit.model import GraphModel
from neurogated.core.abilities import SupportsNamespaces
from neurogated.core.clock import Clock
from neurogated.core.delta import Access, Charge, Decay, GraphDelta, NodeChange, PendingTask, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView
from neurogated.errors import NeurogatedError
from neurogated.plasticity.undo import delta_back_to
from neurogated.testing import ManualClock

_QUERY = (1.0, 0.5)
_OWN = None
# Sixteenths are exact in binary, so the model and the stores agree to the last bit.
_WEIGHTS = st.integers(0, 16).map(lambda sixteenths: sixteenths / 16)
_SPANS = st.none() | st.integers(-48, 96).map(lambda hours: timedelta(hours=hours))
_RANDOMS = st.randoms(use_true_random=False)
_BEGINNINGS = st.sampled_from([5, 2, 0])
# Few names, which a careless store confuses.
_SPACES = ("a", "A", "a ", "../../x", "'; DROP TABLE nodes; --")
_FEW_SPACES = 3

ReopenStore = Callable[[GraphStorePort], GraphStorePort]
"""Opens a store again and returns it."""


class OpenStore(Protocol):
    """Creates a new, empty store."""

    def __call__(self, folder: Path, *, clock: Clock) -> GraphStorePort:
        """Return a new, empty store that writes only to `folder` and uses `clock`."""


class _Moment(NamedTuple):
    number: int
    model: GraphModel
    """All contents, including expired nodes."""
    at: datetime


class GraphStoreMachine(RuleBasedStateMachine):
    """Rules for writes of every kind, time, namespaces, views, the past and reopening; dictionaries are the reference.

    `store_machine` creates a subclass for a store.
    """

    open_store: ClassVar[OpenStore]
    reopen_store: ClassVar[ReopenStore | None] = None
    kill_store: ClassVar[ReopenStore | None] = None

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = ManualClock()
        self.store = type(self).open_store(Path(self.folder.name), clock=self.clock)
        self.models: dict[str | None, GraphModel] = {_OWN: GraphModel()}
        self.moments: dict[str | None, list[_Moment]] = {_OWN: []}
        self.here: str | None = _OWN
        self.seen: list[tuple[GraphView, object]] = []

    # Helpers of the rules

    @property
    def space(self) -> GraphStorePort:
        """The current graph."""
        return self._space(self.here)

    @property
    def model(self) -> GraphModel:
        """The expected contents of the current graph."""
        return self.models[self.here]

    def _space(self, name: str | None) -> GraphStorePort:
        if name is _OWN:
            return self.store
        assert isinstance(self.store, SupportsNamespaces)
        return self.store.in_namespace(name)

    def _apply(self, **changes: Any) -> None:  # noqa: ANN401 - fields of a delta
        self._make(GraphDelta(at=self.clock(), **changes))

    def _make(self, delta: GraphDelta) -> None:
        number = self.space.apply(delta)
        assert number > max((moment.number for moment in self.moments[self.here]), default=0)
        assert self.space.view().sequence == number
        # A journal need not keep what settles nothing.
        settled = tuple(task for task in delta.settled if task in self.model.waiting or task in delta.queued)
        self.model.apply(delta)
        if not replace(delta, settled=settled).tells_of_uses_only:
            self.moments[self.here].append(_Moment(number, self.model.copy(), self.clock()))

    def _keys(self, *, plastic: bool = False) -> list[EdgeKey]:
        return [key for key in self.model.edges if key.type.plastic or not plastic]

    # Writes

    @initialize(random=_RANDOMS, deltas=_BEGINNINGS)
    def begin(self, random: Random, deltas: int) -> None:
        """Start with a graph that has something to change."""
        for _ in range(deltas):
            self._make(random_delta(random, self.model, self.clock()))

    @rule(
        name=st.sampled_from(NAMES),
        words=st.lists(st.sampled_from(WORDS), max_size=3) | st.lists(st.text(max_size=5), max_size=1),
        vector=st.none() | st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
        energy=_WEIGHTS,
        until=_SPANS,
    )
    def put_node(
        self, name: str, words: Sequence[str], vector: tuple[int, int] | None, energy: float, until: timedelta | None
    ) -> None:
        """Upsert a node, perhaps with an end of its valid time."""
        now = self.clock()
        put = node(
            name,
            at=now,
            content=" ".join(words),
            embedding=vector,
            base_energy=energy,
            valid_to=None if until is None else now + until,
        )
        self._apply(nodes=(put,))

    @rule(names=st.sets(st.sampled_from(NAMES), min_size=1, max_size=2), hours=st.integers(-1, 40))
    def put_mortal(self, names: set[str], hours: int) -> None:
        """Upsert nodes that expire."""
        expires = self.clock() + timedelta(hours=hours)
        self._apply(nodes=tuple(node(name, at=self.clock(), expires_at=expires) for name in sorted(names)))

    @precondition(lambda self: len(self.model.nodes) > 1)
    @rule(data=st.data(), kind=st.sampled_from(TYPES), weight=_WEIGHTS, begins=_SPANS)
    def put_edge(self, data: st.DataObject, kind: EdgeType, weight: float, begins: timedelta | None) -> None:
        """Upsert an edge between two nodes, which may be expired."""
        names = st.sampled_from(sorted(self.model.nodes))
        source, target = data.draw(st.tuples(names, names).filter(lambda ends: ends[0] != ends[1]))
        begin = None if begins is None else self.clock() + begins
        self._apply(edges=(edge(source, target, kind, weight, at=self.clock(), valid_from=begin),))

    @precondition(lambda self: self.model.nodes)
    @rule(data=st.data())
    def remove_node(self, data: st.DataObject) -> None:
        """Remove a node."""
        self._apply(removed_nodes=(data.draw(st.sampled_from(sorted(self.model.nodes))),))

    @precondition(lambda self: self.model.edges)
    @rule(data=st.data())
    def remove_edge(self, data: st.DataObject) -> None:
        """Remove an edge."""
        self._apply(removed_edges=(data.draw(st.sampled_from(self._keys())),))

    @precondition(lambda self: self._keys(plastic=True))
    @rule(data=st.data(), weight=_WEIGHTS)
    def change_weight(self, data: st.DataObject, weight: float) -> None:
        """Learn: change the weight of a plastic edge."""
        self._apply(weights=(WeightChange(data.draw(st.sampled_from(self._keys(plastic=True))), weight),))

    @precondition(lambda self: self.model.nodes)
    @rule(data=st.data(), energy=st.none() | _WEIGHTS, importance=_WEIGHTS)
    def change_node(self, data: st.DataObject, energy: float | None, importance: float) -> None:
        """Change the importance of a node, and perhaps its energy."""
        name = data.draw(st.sampled_from(sorted(self.model.nodes)))
        self._apply(node_changes=(NodeChange(name, energy, importance=importance),))

    @rule(name=st.sampled_from(NAMES), data=st.data(), energy=st.none() | _WEIGHTS)
    def touch(self, name: str, data: st.DataObject, energy: float | None) -> None:
        """Access a node, which may not exist, and some edges; perhaps charge the node."""
        keys = data.draw(st.frozensets(st.sampled_from(self._keys()))) if self.model.edges else frozenset()
        charges = {} if energy is None else {name: Charge(energy, self.clock())}
        self._apply(touch=Access({name: 1}, keys, charges))

    @rule(days=st.integers(0, 3), floor=_WEIGHTS)
    def decay(self, days: int, floor: float) -> None:
        """Decay idle edges."""
        self._apply(operators=(Decay(0.5, self.clock() - timedelta(days=days), floor),))

    @rule(name=st.sampled_from(NAMES), settle=st.booleans())
    def judgement(self, name: str, settle: bool) -> None:  # noqa: FBT001 - drawn by Hypothesis
        """Queue a judgement, or settle one."""
        task = (PendingTask("cause", (name,)),)
        self._apply(settled=task) if settle else self._apply(queued=task)

    @rule(random=_RANDOMS)
    def change_much_at_once(self, random: Random) -> None:
        """Apply one delta with many parts."""
        self._make(random_delta(random, self.model, self.clock()))

    @rule(name=st.sampled_from(NAMES), others=st.sets(st.sampled_from(NAMES), max_size=2))
    def refused(self, name: str, others: set[str]) -> None:
        """Try a delta with an invalid last part; the invariants check that nothing of it was applied."""
        removed = tuple(sorted((others & self.model.nodes.keys()) - {name}))
        unfit = (edge(name, "nowhere"),)
        with pytest.raises(NeurogatedError):
            self.space.apply(
                GraphDelta(removed_nodes=removed, nodes=(node(name, at=self.clock()),), edges=unfit, at=self.clock())
            )

    # Time

    @rule(hours=st.integers(1, 48))
    def time_passes(self, hours: int) -> None:
        """Advance the clock past the expiry of some nodes."""
        self.clock.advance(timedelta(hours=hours))

    @precondition(lambda self: self.moments[self.here])
    @rule(data=st.data(), later=st.just(0) | st.integers(0, 30))
    def look_back(self, data: st.DataObject, later: int) -> None:
        """Compare the graph as of an earlier delta, and as of a time after it, with the model of then."""
        moment = data.draw(st.sampled_from(self.moments[self.here]))
        past = self.space.as_of(moment.number)
        assert_tells(past, moment.model, now=moment.at, past=True)
        assert_searches_agree(past, _QUERY)
        time = moment.at + timedelta(hours=later)
        last = [one for one in self.moments[self.here] if one.at <= time][-1]
        assert_tells(self.space.as_of(time), last.model, now=time, past=True)

    @precondition(lambda self: self.moments[self.here])
    @rule(data=st.data())
    def go_back(self, data: st.DataObject) -> None:
        """Undo: apply the delta that restores an earlier graph."""
        moment = data.draw(st.sampled_from(self.moments[self.here]))
        delta = delta_back_to(self.space.as_of(moment.number), self.space, reason="undo", at=self.clock())
        if delta:
            self._make(delta)
        assert _unused(self.model) == _unused(moment.model)
        assert self.model.nodes.keys() == moment.model.nodes.keys()

    @rule(hours=st.integers(-96, 96))
    def what_held(self, hours: int) -> None:
        """Compare the view at some valid time with the model."""
        moment = self.clock() + timedelta(hours=hours)
        view = self.space.view(valid_at=moment)
        assert_shows(view, self.model.at(self.clock(), moment))
        assert_searches_agree(self.space, _QUERY, view)

    @rule()
    def look(self) -> None:
        """Take a view, which must never change from now on."""
        self.seen = [*self.seen[-1:], (self.space.view(), shown_by(self.space.view()))]

    # Namespaces

    @precondition(lambda self: isinstance(self.store, SupportsNamespaces))
    @rule(name=st.none() | st.sampled_from(_SPACES), random=_RANDOMS, deltas=_BEGINNINGS)
    def enter(self, name: str | None, random: Random, deltas: int) -> None:
        """Continue in another graph of the store, perhaps a new one."""
        if name in self.models:
            self.here = name
        elif len(self.models) < _FEW_SPACES:
            self.here, self.models[name], self.moments[name] = name, GraphModel(), []
            self.begin(random, deltas)

    @precondition(lambda self: self.here is not _OWN)
    @rule()
    def drop(self) -> None:
        """Drop the current graph."""
        assert isinstance(self.store, SupportsNamespaces)
        assert self.here is not None
        self._space(self.here)
        self.store.drop_namespace(self.here)
        del self.models[self.here], self.moments[self.here]
        self.here = _OWN

    # Durability

    @precondition(lambda self: self.reopen_store is not None)
    @rule()
    def reopen(self) -> None:
        """Close the store and open it again."""
        self._again(type(self).reopen_store)

    @precondition(lambda self: self.kill_store is not None)
    @rule()
    def kill(self) -> None:
        """Open the store again without closing it, as after its process died."""
        self._again(type(self).kill_store)

    def _again(self, way: ReopenStore | None) -> None:
        assert way is not None
        self.store = way(self.store)
        self.all_graphs_tell_what_they_should()

    # Invariants

    @invariant()
    def the_graph_tells_what_it_should(self) -> None:
        """Compare the current graph with its model."""
        self._check(self.here)

    @invariant()
    def views_stay_as_they_were(self) -> None:
        """Compare earlier views with their contents when they were taken."""
        for view, shown in self.seen:
            assert shown_by(view) == shown

    def all_graphs_tell_what_they_should(self) -> None:
        """Compare every graph with its model."""
        for name in self.models:
            self._check(name)

    def _check(self, name: str | None) -> None:
        space, model = self._space(name), self.models[name]
        assert_tells(space, model, now=self.clock())
        assert space.pending() == list(model.waiting)
        assert set(space.snapshot().expired(self.clock())) == model.nodes.keys() - model.at(self.clock()).nodes.keys()
        assert_searches_agree(space, _QUERY)
        keyword_scores(space, "heron 苏州")
        changes = [moment.number for moment in self.moments[name]]
        assert [entry.sequence for entry in journaled(space, changes)] == changes

    def teardown(self) -> None:
        """Compare every graph with its model a last time, and clean up."""
        try:
            self.all_graphs_tell_what_they_should()
        finally:
            self.store.close()
            self.folder.cleanup()


def _unused(model: GraphModel) -> dict[EdgeKey, MemoryEdge]:
    return {key: unused(edge) for key, edge in model.edges.items()}


def store_machine(
    *, open_store: OpenStore, reopen: ReopenStore | None = None, kill: ReopenStore | None = None
) -> type[GraphStoreMachine]:
    """Return a state machine for a store; pytest runs its `TestCase`.

    Args:
        open_store: `open_store(folder, clock=clock)` creates a new, empty store.
        reopen: closes a store, opens it again and returns it; omit it for a store that is not durable.
        kill: opens a store again without closing it and returns it; omit it if that is impossible.
    """
    hooks = {"open_store": open_store, "reopen_store": reopen, "kill_store": kill}
    members = {name: staticmethod(hook) for name, hook in hooks.items() if hook is not None}
    machine: type[GraphStoreMachine] = type(
        "StoreMachine", (GraphStoreMachine,), {**members, "__doc__": GraphStoreMachine.__doc__}
    )
    machine.TestCase.settings = settings(max_examples=30, stateful_step_count=40, deadline=None)
    return machine
