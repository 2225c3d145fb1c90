"""`GraphStore`: a log as the source of truth and a graph index that follows it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from itertools import chain
from typing import Self, cast, overload
from uuid import UUID

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsCompaction, SupportsNamespaces
from neurogated.core.clock import Clock, to_micros, utc_now
from neurogated.core.delta import LATEST, GraphDelta, HistoryEntry, JournalEntry, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import Foreseen
from neurogated.core.filters import Filter
from neurogated.core.habits import Uncopied
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, Neighbor, Vector
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView
from neurogated.errors import AmbiguousEdgeError, InputError, UnknownIdError
from neurogated.storage.compaction import rewrite
from neurogated.storage.index.graph.validity import micros_or_none
from neurogated.storage.index.graph_index import portions
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.live_graph import Family, LiveGraph
from neurogated.storage.log.log import Engine
from neurogated.storage.log.memory_log import MemoryEngine
from neurogated.storage.snapshot import GraphSnapshot
from neurogated.text.strings import checked_text

NodeRef = MemoryNode | str | UUID


class GraphStore(
    Uncopied,
    GraphStorePort,
    SupportsNamespaces,
    SupportsCompaction,
):
    """One graph of an engine: a `LiveGraph` (its log and index) and the shared `Family`. Threads may share a store."""

    def __init__(
        self,
        *,
        namespace: str = MemoryConfig().namespace,
        config: MemoryConfig | None = None,
        clock: Clock = utc_now,
        engine: Engine | None = None,
        family: Family | None = None,
    ) -> None:
        """Open a graph of an engine.

        Args:
            namespace: the name of the graph.
            config: only the storage settings are read; defaults to `MemoryConfig()`.
            clock: returns the current time.
            engine: holds the log, the source of truth; defaults to an engine in memory.
            family: the state shared with the other stores of this engine; the first store leaves it out.
        """
        checked_text("the name of a namespace", namespace)
        family = family or Family(engine or MemoryEngine(), config or MemoryConfig())
        self._clock = clock
        self._open_graphs = family.keep_open()
        self.graph = family.graphs.get(namespace) or LiveGraph(family, namespace)
        """The log of the graph and the index that follows it."""
        family.stores[namespace] = self

    def apply(self, delta: GraphDelta) -> int:
        return self.graph.apply(delta)

    def compute_terms(self, most: int) -> None:
        self.graph.family.term_texts = most
        for graph in self.graph.family.all():
            graph.compute_terms()

    def add_node(self, node: MemoryNode) -> None:
        """Add a node, or replace the node with its id."""
        self.apply(GraphDelta(nodes=(node,), reason="add_node", at=self._clock()))

    @overload
    def add_edge(self, source: MemoryEdge) -> None: ...
    @overload
    def add_edge(self, source: NodeRef, target: NodeRef, type: EdgeType | str, weight: float = 1.0) -> None: ...

    def add_edge(
        self,
        source: MemoryEdge | NodeRef,
        target: NodeRef | None = None,
        type: EdgeType | str | None = None,  # noqa: A002 - the specification's name
        weight: float = 1.0,
    ) -> None:
        """Add an edge, or replace the edge with the same ends (nodes or ids) and type; raises InputError."""
        now = self._clock()
        if not isinstance(source, MemoryEdge):
            if target is None or type is None:
                raise InputError("add_edge needs a MemoryEdge, or source, target and type")
            source_id, target_id = (str(getattr(node, "id", node)) for node in (source, target))
            source = MemoryEdge(source_id, target_id, EdgeType(type), weight, created_at=now)
        self.apply(GraphDelta(edges=(source,), reason="add_edge", at=now))

    def remove_node(self, node_id: str | UUID) -> None:
        """Remove a node and its edges; raises UnknownIdError."""
        self.apply(GraphDelta(removed_nodes=(str(node_id),), reason="remove_node", at=self._clock()))

    def remove_edge(self, edge: MemoryEdge | EdgeKey) -> None:
        """Remove one edge."""
        keys = (edge.key if isinstance(edge, MemoryEdge) else EdgeKey(*edge),)
        self.apply(GraphDelta(removed_edges=keys, reason="remove_edge", at=self._clock()))

    def bind_embedder(self, name: str, dimension: int | None) -> None:
        self.graph.bind_embedder(name, dimension)

    def exclusively(self, patience: float | None = None) -> AbstractContextManager[None]:
        return self.graph.exclusively(patience)

    def get_nodes(self, node_ids: Sequence[str | UUID], *, missing_ok: bool = False) -> list[MemoryNode]:
        def read(state: GraphState) -> list[MemoryNode]:
            return state.nodes(state.view.rows(map(str, node_ids), missing_ok=missing_ok), to_micros(self._clock()))

        return self.graph.read(read)

    def has_node(self, node_id: str | UUID) -> bool:
        """Return whether the node exists."""
        return self.graph.latest().view.find(str(node_id)) is not None

    def get_node(self, node_id: str | UUID) -> MemoryNode:
        """Return a node; raises UnknownIdError."""
        return self.get_nodes([node_id])[0]

    def foreseen(self, delta: GraphDelta) -> Foreseen:
        return self.graph.read(lambda state: state.foreseen(delta))

    def get_edge(self, source_id: str | UUID, target_id: str | UUID, edge_type: EdgeType | None = None) -> MemoryEdge:
        """Return an edge; raises UnknownIdError, or AmbiguousEdgeError if several types connect the nodes."""
        edges = self.graph.read(lambda state: state.edges_between(str(source_id), str(target_id), edge_type))
        if not edges:
            kind = "" if edge_type is None else f"{edge_type.name} "
            raise UnknownIdError(f"no {kind}edge from {source_id!r} to {target_id!r} in the memory")
        if len(edges) > 1:
            names = " and ".join(edge.type.name for edge in edges)
            raise AmbiguousEdgeError(f"{names} edges lead from {source_id!r} to {target_id!r}; name the type")
        return edges[0]

    def get_neighbors(self, node_id: str | UUID) -> list[Neighbor]:
        """Return the nodes to which edges lead, each with its edge."""
        found = self.snapshot(whole=True)
        leaving = np.sort(found.view.links(found.view.rows([str(node_id)])).edge)
        return [Neighbor(edge.target_id, edge) for edge in found.edges(leaving)]

    def all_nodes(self) -> Iterator[MemoryNode]:
        found = self._isolated()
        return chain.from_iterable(map(found.nodes, portions(found.view.live_nodes())))

    def all_edges(self) -> Iterator[MemoryEdge]:
        """Yield every edge in its present version, stored ones in the order they were added; reads them in batches."""
        found = self._isolated()
        stored, nodes = portions(found.view.live_edges()), portions(found.view.live_nodes())
        return chain.from_iterable(map(found.edges, chain(stored, map(found.view.computed_numbers, nodes))))

    def find_edges(self, relation: str, *, edge_type: EdgeType | None = None) -> list[MemoryEdge]:
        """Return the edges with a relation, in the order they were added; reads all edges."""
        checked_text("a relation", relation)
        return [one for one in self.all_edges() if one.relation == relation and edge_type in (None, one.type)]

    def _isolated(self) -> GraphSnapshot:
        """Return a snapshot of everything, which later writes do not change."""
        state = self.graph.ask(GraphState.isolated)
        return GraphSnapshot(self.graph, state, state.view, to_micros(self._clock()))

    def __len__(self) -> int:
        return self.graph.latest().view.live_nodes().size

    @property
    def embedder(self) -> tuple[str, int] | None:
        return self.graph.latest().embedder

    def is_frozen(self) -> bool:
        return self.graph.family.engine.is_frozen()

    def record_frozen(self, *, frozen: bool) -> None:
        with self.exclusively():
            self.graph.family.engine.record({"frozen": "1" if frozen else None})

    def copies(self) -> list[str]:
        return self.graph.family.engine.copies()

    def record_copy(self, place: str, *, exists: bool = True) -> None:
        if (place in self.copies()) != exists:
            self.graph.family.engine.record_copy(place, exists=exists)

    def pending(self) -> list[PendingTask]:
        return list(self.graph.latest().pending)

    def view(self, *, valid_at: datetime | None = None, filters: Filter | None = None) -> GraphView:
        return self.snapshot(valid_at=valid_at, filters=filters).view

    def snapshot(
        self,
        view: GraphView | None = None,
        *,
        valid_at: datetime | None = None,
        filters: Filter | None = None,
        without: Collection[str] = (),
        whole: bool = False,
    ) -> GraphSnapshot:
        now, moment = to_micros(self._clock()), micros_or_none(valid_at)

        def taken(state: GraphState) -> tuple[GraphState, GraphView]:
            self.graph.require_bound(state)
            return state, view or (state.view if whole else state.form.validity.visible(state.view, now, moment))

        # The searches of a view do not need later writes of other processes.
        state, seen = self.graph.ask(taken, latest=view is None or self.graph.follower.borrows)
        found = GraphSnapshot(self.graph, state, seen, now)
        return found if filters is None and not without else found.restricted(filters, without)

    def vector_search(self, query_vec: Vector, k: int | None = None) -> list[tuple[MemoryNode, float]]:
        """Return the `k` nodes most similar to a vector by cosine, best first; `k` defaults to `TOP_K_ANCHORS`."""
        found = self.snapshot()
        ((rows, scores),) = found.nearest([query_vec], self.graph.family.config.TOP_K_ANCHORS if k is None else k)
        cosines = dict(zip(rows.tolist(), scores.tolist(), strict=True))
        # Another thread may have removed a node.
        return [(node, cosines[found.view.row(node.id)]) for node in found.nodes(rows)]

    def history(self, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        with self.graph.lock:
            last = self.graph.latest().view.sequence
            entries = self.graph.log.history(after, min(last, up_to))
        return [entry for entry in entries if entry.changes or entry.operators]

    def journal(self, after: int = 0, up_to: int = LATEST, *, about: str | None = None) -> Iterator[JournalEntry]:
        self.graph.latest()
        if about is None:
            return self.graph.log.entries(after, up_to)
        return (entry for entry in self.graph.log.entries_of(about) if after < entry.sequence <= up_to)

    def as_of(self, moment: int | datetime) -> GraphStore:
        graph = self.graph
        engine, then = graph.past(moment)
        past = GraphStore(namespace=graph.name, config=graph.family.config, clock=lambda: then, engine=engine)
        past.compute_terms(graph.family.term_texts)
        return past

    def in_namespace(self, namespace: str) -> Self:
        family = self.graph.family
        with self.graph.lock:
            if (known := family.graphs.get(namespace)) is not None:
                # Its creation may have been rolled back.
                known.renew()
            self.graph.require_open()
            store = family.stores.get(namespace)
            if store is None or store.graph is not family.graphs.get(namespace):
                store = type(self)(namespace=namespace, config=family.config, clock=self._clock, family=family)
            return cast("Self", store)

    def namespaces(self) -> list[str]:
        with self.graph.lock:
            self.graph.require_open()
            return self.graph.family.engine.namespaces()

    def drop_namespace(self, namespace: str) -> None:
        with self.graph.family.erasing(), self.exclusively():
            if namespace not in self.namespaces():
                raise UnknownIdError(f"there is no namespace {namespace!r}; there are: {', '.join(self.namespaces())}")
            if namespace == self.graph.name:
                raise InputError(f"namespace {namespace!r} is in use here; drop it from another one")
            self.graph.family.drop(namespace)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        with self.exclusively(), self.graph.family.transaction():
            yield

    def compact(self, *, history: bool = False) -> int:
        with self.graph.lock:
            self.graph.require_open()
            if self.graph.family.changing.locked():
                raise InputError("compact cannot be rolled back, so it cannot run in a transaction; call it afterwards")
        with self.graph.family.erasing(), self.exclusively():
            engine = self.graph.family.engine
            if engine.erases:
                # Invalidate first, so that the indexes are reloaded even if the erasure fails.
                self.graph.family.invalidate()
                return engine.erase_removed(history=history)
            return sum(rewrite(self.in_namespace(name).graph, history=history) for name in self.namespaces())

    def erased_up_to(self) -> int:
        return self.graph.log.erased_up_to()

    def record_erased(self, up_to: int) -> None:
        self.graph.log.record_erased(up_to)

    @property
    def identity(self) -> tuple[str, int]:
        return self.graph.family.engine.identity(), self.graph.log.position().epoch

    @property
    def closed(self) -> bool:
        return self.graph.closed

    def close(self) -> None:
        if not self.graph.closed:
            self.graph.family.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
