"""Stores of every kind, and random histories for them."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import hypothesis.strategies as st
import numpy as np

from neurogated import (
    Access,
    Decay,
    EdgeKey,
    EdgeType,
    GraphDelta,
    GraphStore,
    MemoryEdge,
    MemoryNode,
    WeightChange,
)
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.delta import PendingTask
from neurogated.core.ports import GraphStorePort
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.plasticity.undo import delta_back_to
from neurogated.testing import ManualClock

OpenStore = Callable[[ManualClock], GraphStore]
Step = tuple[str, int, int, int]

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
NAMES = ("a", "b'\"; DROP TABLE nodes;--", "../../c", "d\n\u2028e", "井", "\0", "f" * 300)
WORDS = ("the pump failed", "field of barley", "valve", "the field was dry", "herring at sea", "why the pump", "井 dry")
KINDS = (
    "put", "put", "put", "edges", "edges", "remove", "cut", "weigh", "decay", "touch", "queue", "settle", "wait", "mix",
    "undo",
)  # fmt: skip


def stores(kind: str, folder: Path) -> OpenStore:
    """Return a function that opens new, empty stores of a kind."""
    made: list[None] = []

    def make(clock: ManualClock) -> GraphStore:
        made.append(None)
        if kind == "memory":
            return GraphStore(config=MemoryConfig(runtime=RuntimeSettings(overlay_edges=4)), clock=clock)
        from neurogated.storage.sqlite_store import SqliteStore

        return SqliteStore.open(
            folder / f"{len(made)}-{id(made)}.db",
            config=MemoryConfig(runtime=RuntimeSettings(overlay_edges=4)),
            clock=clock,
        )

    return make


def histories() -> st.SearchStrategy[list[Step]]:
    """Return random histories. Each step has numbers that select among the nodes and edges at that step."""
    number = st.integers(0, 999)
    return st.lists(st.tuples(st.sampled_from(KINDS), number, number, number), max_size=25)


class History:
    """Applies the steps of a history to a graph."""

    def __init__(self, store: GraphStorePort, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.tasks = [PendingTask("cause", ("a", "b\n")), PendingTask("entities", ("井",))]

    def live(self, steps: list[Step]) -> None:
        for kind, first, second, third in steps:
            self._step(kind, first, second, third)

    def _step(self, kind: str, first: int, second: int, third: int) -> None:  # noqa: C901, PLR0912 - a case a kind
        nodes, edges = list(self.store.all_nodes()), list(self.store.all_edges())
        if kind == "put":
            self._apply(reason=f"put \u2028 {third}", nodes=(self._node(first, second, third),))
        elif kind == "edges" and len(nodes) > 1:
            source, target = nodes[first % len(nodes)].id, nodes[second % len(nodes)].id
            if source != target:
                now = self.clock()
                edge = MemoryEdge(source, target, (*EdgeType,)[third % 4], third / 999, created_at=now, valid_to=now)
                self._apply(reason="edges", edges=(edge,))
        elif kind == "remove" and nodes:
            self._apply(reason="remove", removed_nodes=(nodes[first % len(nodes)].id,))
        elif kind == "cut" and edges:
            self._apply(reason="cut", removed_edges=(edges[first % len(edges)].key,))
        elif kind == "weigh":
            plastic = [edge.key for edge in edges if edge.type.plastic]
            if plastic:
                change = WeightChange(plastic[first % len(plastic)], second / 999, self.clock() if third % 2 else None)
                self._apply(reason="weigh", weights=(change,))
        elif kind == "decay":
            self._apply(reason="decay", operators=(Decay(0.7, self.clock() - timedelta(hours=first), third / 9999),))
        elif kind == "touch":
            used = frozenset(node.id for node in nodes[: 1 + first % 3])
            keys: frozenset[EdgeKey] = frozenset(edge.key for edge in edges[: second % 3])
            self._apply(reason="touch", touch=Access.of(used, keys))
        elif kind == "queue":
            self._apply(reason="queue", queued=tuple(self.tasks[: 1 + first % 2]))
        elif kind == "settle":
            self._apply(reason="settle", settled=(self.tasks[first % 2],))
        elif kind == "mix":
            self._mix(first, second, third, nodes, edges)
        elif kind == "undo":
            numbers = [0, *(entry.sequence for entry in self.store.journal())]
            past = self.store.as_of(numbers[first % len(numbers)])
            delta = delta_back_to(past, self.store, reason="undo", at=self.clock())
            if delta:
                self.store.apply(delta)
        elif kind == "wait":
            # Clocks sometimes go backwards.
            self.clock.advance(timedelta(hours=first - 200, microseconds=second))

    def _mix(self, first: int, second: int, third: int, nodes: list[MemoryNode], edges: list[MemoryEdge]) -> None:
        """Return one delta of every combinable change: removed and added nodes and edges, a touch, queued tasks."""
        new = self._node(first, second, third)
        gone = [node for node in nodes if node.id != new.id][: first % 2]
        ends = {node.id for node in gone}
        self._apply(
            reason="mix",
            removed_nodes=tuple(ends),
            removed_edges=tuple(e.key for e in edges if not ends & {e.source_id, e.target_id})[: second % 3],
            nodes=(new,),
            touch=Access.of(frozenset(node.id for node in nodes), frozenset(edge.key for edge in edges[: third % 3])),
            queued=tuple(self.tasks[: second % 2]),
        )

    def _node(self, first: int, second: int, third: int) -> MemoryNode:
        now, words = self.clock(), WORDS[second % len(WORDS)]
        vector = None if third % 5 == 0 else HashEmbedder().embed_documents([words])[0]
        return MemoryNode(
            NAMES[first % len(NAMES)],
            words,
            vector,
            base_energy=third / 999,
            last_accessed=now,
            title=words[:5] if third % 2 else None,
            metadata={"n": [third, {"x": None}, 0.1], "\u2028": "\U0001f41f"} if third % 2 else {},
            created_at=now,
            valid_from=now if second % 2 else None,
            expires_at=now + timedelta(days=400) if third % 7 == 0 else None,
        )

    def _apply(self, **changes: object) -> None:
        self.store.apply(GraphDelta(at=self.clock(), **changes))  # type: ignore[arg-type]


def plain(nodes: list[MemoryNode]) -> list[tuple[object, ...]]:
    """Return nodes without their access times, which are not part of the history."""
    return [
        (n.id, n.content, n.base_energy, n.metadata, n.created_at, n.valid_from, n.valid_to, n.expires_at,
         None if n.embedding is None else np.asarray(n.embedding).tobytes())
        for n in nodes
    ]  # fmt: skip
