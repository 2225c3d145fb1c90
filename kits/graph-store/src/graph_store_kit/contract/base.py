"""The base of the contract: creation of stores, their abilities, and comparison with the model."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from graph_store_kit.model import GraphModel
from graph_store_kit.reads import all_edges
from neurogated.core.clock import Clock, to_micros
from neurogated.core.delta import GraphDelta, JournalEntry
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView
from neurogated.testing import ManualClock

NewStore = Callable[[], GraphStorePort]
"""Creates another new, empty store."""


class ContractBase:
    """Creates stores. The overridden hooks, and the Protocols that the store fulfils, select the tests."""

    threads: ClassVar[bool] = True
    """Whether threads may share a store."""

    def open_store(self, folder: Path, *, clock: Clock) -> GraphStorePort:
        """Return a new, empty store. Every subclass must override this hook.

        Args:
            folder: an empty folder for the files of this store.
            clock: the clock by which nodes expire.
        """
        raise NotImplementedError(f"{type(self).__name__} must override open_store(folder, *, clock)")

    def reopen(self, store: GraphStorePort) -> GraphStorePort:
        """Close the store, open it again and return it; override it if the store is durable."""
        raise NotImplementedError(f"{type(self).__name__} does not override reopen(store)")

    def kill(self, store: GraphStorePort) -> GraphStorePort:
        """Open the store again without closing it, as after its process died; override it if the store is durable."""
        raise NotImplementedError(f"{type(self).__name__} does not override kill(store)")

    # Fixtures

    @pytest.fixture
    def clock(self) -> ManualClock:
        """Return the clock of the test's stores."""
        return ManualClock()

    @pytest.fixture
    def new_store(self, tmp_path_factory: pytest.TempPathFactory, clock: ManualClock) -> Iterator[NewStore]:
        """Yield a function that creates another new, empty store; all are closed after the test."""
        self._opened: list[GraphStorePort] = []

        def make() -> GraphStorePort:
            self._opened.append(self.open_store(tmp_path_factory.mktemp("store"), clock=clock))
            return self._opened[-1]

        yield make
        for store in self._opened:
            store.close()

    @pytest.fixture
    def store(self, new_store: NewStore) -> GraphStorePort:
        """Return a new, empty store."""
        return new_store()

    # Abilities

    def reopened(self, store: GraphStorePort) -> GraphStorePort:
        """Return the store after closing and reopening it; skip the test if it is not durable."""
        self._require_hook("reopen", "durability")
        return self._kept(self.reopen(store))

    def killed(self, store: GraphStorePort) -> GraphStorePort:
        """Return the store as after the death of its process; skip the test if it cannot be reopened then."""
        self._require_hook("kill", "survival of a process that dies")
        return self._kept(self.kill(store))

    def able(self, store: GraphStorePort, ability: type) -> Any:  # noqa: ANN401 - the ability, which is a Protocol
        """Return the store if it has an ability; otherwise skip the test."""
        if not isinstance(store, ability):
            pytest.skip(f"{type(store).__name__} is no {ability.__name__}, so this part of the contract was not tested")
        return store

    def require_threads(self) -> None:
        """Skip the test if threads may not share a store."""
        if not self.threads:
            pytest.skip(f"{type(self).__name__}.threads is False, so concurrent use was not tested")

    def _require_hook(self, hook: str, what: str) -> None:
        if getattr(type(self), hook) is getattr(ContractBase, hook):
            pytest.skip(f"{type(self).__name__} does not override {hook}(), so {what} was not tested")

    def _kept(self, store: GraphStorePort) -> GraphStorePort:
        self._opened.append(store)
        return store


def apply(store: GraphStorePort, clock: Clock, **changes: Any) -> int:  # noqa: ANN401 - fields of a delta
    """Apply one delta at the clock's time; return its number."""
    return store.apply(GraphDelta(at=clock(), **changes))


def plain(node: MemoryNode) -> MemoryNode:
    """Return a node without its accesses, which have no history."""
    fields = {name: getattr(node, name) for name in MemoryNode.__slots__}
    unaccessed = {"last_accessed": node.created_at, "uses": 0, "charge": 0.0, "charged_at": node.created_at}
    return MemoryNode.restored(**fields | unaccessed)


def journaled(store: GraphStorePort, changes: Collection[int]) -> list[JournalEntry]:
    """Return the journal without deltas of accesses only, which a store need not journal, except those in `changes`."""
    return [entry for entry in store.journal() if entry.sequence in changes or not entry.delta.tells_of_uses_only]


def unused(edge: MemoryEdge) -> MemoryEdge:
    """Return an edge without its last access, which has no history."""
    return replace(edge, last_activated=edge.created_at)


def assert_tells(store: GraphStorePort, model: GraphModel, *, now: datetime | None = None, past: bool = False) -> None:
    """Compare nodes, edges and their order with a model.

    Args:
        store: the store.
        model: its expected contents.
        now: views omit nodes that have expired by this time; if omitted, no node has expired.
        past: whether to ignore the accesses of nodes and edges.
    """
    nodes, edges = list(store.all_nodes()), all_edges(store)
    expected = {name: plain(node) if past else node for name, node in model.nodes.items()}
    assert {node.id: plain(node) if past else node for node in nodes} == expected
    assert len(nodes) == len(expected)
    # The store chooses the position of a node that was removed and added again.
    assert [n.id for n in nodes if n.id not in model.returned] == [n for n in expected if n not in model.returned]
    links = {key: unused(edge) if past else edge for key, edge in model.edges.items()}
    assert {edge.key: unused(edge) if past else edge for edge in edges} == links
    assert [edge.key for edge in edges] == list(model.edges)
    whole = store.snapshot(whole=True).view
    assert set(whole.names(whole.live_nodes())) == set(expected)
    assert_shows(store.view(), model if now is None else model.at(now))


def _vitals(node: MemoryNode) -> tuple[float, int, float]:
    return node.base_energy, to_micros(node.energy_at or node.created_at), node.importance


def assert_shows(view: GraphView, model: GraphModel) -> None:
    """Compare a view with a model: nodes, edges, values, and arcs in every direction."""
    rows = view.live_nodes()
    names = [view.ids[row] for row in rows.tolist()]
    assert sorted(names) == sorted(model.nodes)
    values = (view.base_energy.take(rows), view.energy_at.take(rows), view.importance.take(rows))
    shown = dict(zip(names, zip(*(column.tolist() for column in values), strict=True), strict=True))
    assert shown == {name: _vitals(node) for name, node in model.nodes.items()}
    kinds = [view.kinds[code] for code in view.kind.take(rows).tolist()]
    named = dict(zip(names, zip(kinds, map(view.scope_of, rows.tolist()), strict=True), strict=True))
    assert named == {name: (node.kind, node.scope) for name, node in model.nodes.items()}
    assert [view.find(name) for name in names] == rows.tolist()
    weights = {
        view.edge_key(row): view.weight.take(np.array([row], dtype=np.int64))[0] for row in view.live_edges().tolist()
    }
    assert weights == {key: edge.weight for key, edge in model.edges.items()}
    arcs = {(edge.source_id, edge.target_id, edge.type, edge.weight) for edge in model.edges.values()}
    assert _walked(view, inwards=False) == arcs
    assert {(source, target, *rest) for target, source, *rest in _walked(view, inwards=True)} == arcs
    for edge_type in {edge.type for edge in model.edges.values()}:
        found = view.arcs(rows, edge_type, both_ways=True)
        assert len(found.edge) == 2 * sum(edge.type is edge_type for edge in model.edges.values())
    for key, row in zip(model.edges, _edge_rows(view, model), strict=True):
        assert view.edge_key(row) == key


def shown_by(view: GraphView) -> tuple[list[str], list[tuple[EdgeKey, float]]]:
    """Return all contents of a view, for a later comparison."""
    edges = view.live_edges()
    weights = view.weight.take(edges).tolist()
    arcs = view.arcs(view.live_nodes(), both_ways=True)
    walked = [
        (view.edge_key(row), weight) for row, weight in zip(arcs.edge.tolist(), arcs.weight.tolist(), strict=True)
    ]
    listed = [(view.edge_key(row), weight) for row, weight in zip(edges.tolist(), weights, strict=True)]
    return [view.ids[row] for row in view.live_nodes().tolist()], listed + walked


def _walked(view: GraphView, *, inwards: bool) -> set[tuple[str, str, EdgeType, float]]:
    """Return source, target, type and weight of every arc that leaves a node of the view."""
    rows = view.live_nodes()
    arcs = view.arcs(rows, inwards=inwards)
    assert len(set(arcs.edge.tolist())) == arcs.edge.size, "an edge is walked twice"
    return {
        (view.ids[rows[origin]], view.ids[target], view.edge_key(row).type, weight)
        for origin, target, row, weight in zip(
            arcs.origin.tolist(), arcs.target.tolist(), arcs.edge.tolist(), arcs.weight.tolist(), strict=True
        )
    }


def _edge_rows(view: GraphView, model: GraphModel) -> list[int]:
    return [
        int(view.edge_rows(view.rows([key.source_id]), view.rows([key.target_id]), key.type)[0]) for key in model.edges
    ]
