"""Both stores against an obvious model of dictionaries, over random histories."""

import tempfile
from datetime import timedelta
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

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
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock

NAMES = st.sampled_from("abcde")
TYPES = st.sampled_from([EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE])
# Sixteenths are exact in binary, so that model and stores agree to the last bit.
WEIGHTS = st.integers(0, 16).map(lambda sixteenths: sixteenths / 16)


class StoresAgree(RuleBasedStateMachine):
    """Puts, removals, weight changes, decay, touches and reopening; afterwards everyone tells the same story."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.clock = ManualClock()
        self.path = Path(self.folder.name) / "memory.db"
        self.in_memory = GraphStore(overlay_edges=3, clock=self.clock)
        self.on_disk = SqliteStore.open(self.path, overlay_edges=3, clock=self.clock)
        self.nodes: dict[str, tuple[str, Any]] = {}
        self.edges: dict[EdgeKey, tuple[float, Any]] = {}

    def _apply(self, **changes: Any) -> None:  # noqa: ANN401 - fields of a delta
        delta = GraphDelta(at=self.clock(), **changes)
        for store in (self.in_memory, self.on_disk):
            store.apply(delta)

    @rule(name=NAMES, text=st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
    def put_node(self, name: str, text: str) -> None:
        node = MemoryNode(
            id=name,
            content=text,
            embedding=[1.0, float(len(text))],
            created_at=self.clock(),
            last_accessed=self.clock(),
        )
        self._apply(nodes=(node,))
        self.nodes[name] = (text, self.clock())

    @rule(source=NAMES, other=NAMES, kind=TYPES, weight=WEIGHTS)
    def put_edge(self, source: str, other: str, kind: EdgeType, weight: float) -> None:
        if source == other or not {source, other} <= self.nodes.keys():
            return
        self._apply(edges=(MemoryEdge(source, other, kind, weight, created_at=self.clock()),))
        key = EdgeKey(source, other, kind)
        self.edges.pop(key, None)
        self.edges[key] = (weight, self.clock())

    @precondition(lambda self: self.nodes)
    @rule(data=st.data())
    def remove_node(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.nodes)))
        self._apply(removed_nodes=(name,))
        del self.nodes[name]
        self.edges = {key: value for key, value in self.edges.items() if name not in key[:2]}

    @precondition(lambda self: self.edges)
    @rule(data=st.data())
    def remove_edge(self, data: st.DataObject) -> None:
        key = data.draw(st.sampled_from(sorted(self.edges, key=str)))
        self._apply(removed_edges=(key,))
        del self.edges[key]

    @precondition(lambda self: any(key.type.plastic for key in self.edges))
    @rule(data=st.data(), weight=WEIGHTS)
    def change_weight(self, data: st.DataObject, weight: float) -> None:
        key = data.draw(st.sampled_from(sorted((k for k in self.edges if k.type.plastic), key=str)))
        self._apply(weights=(WeightChange(key, weight),))
        self.edges[key] = (weight, self.clock())

    @rule(name=NAMES, data=st.data())
    def touch(self, name: str, data: st.DataObject) -> None:
        keys = data.draw(st.frozensets(st.sampled_from(sorted(self.edges, key=str)))) if self.edges else frozenset()
        self._apply(touch=AccessMark(frozenset({name}), keys))
        if name in self.nodes:
            self.nodes[name] = (self.nodes[name][0], self.clock())
        for key in keys:
            self.edges[key] = (self.edges[key][0], self.clock())

    @rule(days=st.integers(0, 3), floor=WEIGHTS)
    def decay(self, days: int, floor: float) -> None:
        before = self.clock() - timedelta(days=days)
        self._apply(operators=(Decay(0.5, before, floor),))
        for key, (weight, activated) in list(self.edges.items()):
            if key.type.plastic and activated < before:
                self.edges[key] = (weight * 0.5, activated)
                if weight * 0.5 < floor:
                    del self.edges[key]

    @rule(hours=st.integers(1, 48))
    def time_passes(self, hours: int) -> None:
        self.clock.advance(timedelta(hours=hours))

    @rule()
    def reopen(self) -> None:
        self.on_disk.close()
        self.on_disk = SqliteStore.open(self.path, overlay_edges=3, clock=self.clock)

    @invariant()
    def nodes_agree(self) -> None:
        for store in (self.in_memory, self.on_disk):
            assert {n.id: (n.content, n.last_accessed) for n in store.all_nodes()} == self.nodes
            found = store.vector_search([1.0, 1.0], len(self.nodes) + 1)
            assert sorted(node.id for node, _ in found) == sorted(self.nodes)
        assert list(self.in_memory.all_nodes()) == list(self.on_disk.all_nodes())

    @invariant()
    def edges_agree(self) -> None:
        for store in (self.in_memory, self.on_disk):
            assert {e.key: (e.weight, e.last_activated) for e in store.all_edges()} == self.edges
            for name in self.nodes:
                walked = [(name, neighbor, edge.type) for neighbor, edge in store.get_neighbors(name)]
                assert sorted(walked, key=str) == sorted((tuple(k) for k in self.edges if k[0] == name), key=str)
        assert list(self.in_memory.all_edges()) == list(self.on_disk.all_edges())

    def teardown(self) -> None:
        self.on_disk.close()
        self.folder.cleanup()


TestStoresAgree = StoresAgree.TestCase
TestStoresAgree.settings = settings(max_examples=40, stateful_step_count=30, deadline=None)
