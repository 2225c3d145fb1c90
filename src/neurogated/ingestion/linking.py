"""The deltas that write or remove nodes together with the edges that follow from their texts."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.conflicts import conflicts_about
from neurogated.core.delta import GraphDelta, Owner, PendingTask
from neurogated.core.derivation import common_metadata, derived_from, is_derived, same_source
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryNode
from neurogated.core.ports import GraphReader, GraphStorePort
from neurogated.core.view import GraphView
from neurogated.ingestion.drafts import Analysed
from neurogated.ingestion.duplicates import Deduplicator, DuplicateLinks
from neurogated.ingestion.edge_builder import UserGraphs, fitted, nearest_in, similarity_edges, temporal_edges
from neurogated.ingestion.mentions import text_edges
from neurogated.ingestion.sessions import rejoined

Check = Callable[[GraphDelta, Sequence[MemoryNode]], GraphDelta]
"""The last stage of a write, which may add conflicts and links.

It returns a delta with additions, given the delta and the memories whose texts or times are new."""


def unchecked(delta: GraphDelta, fresh: Sequence[MemoryNode]) -> GraphDelta:  # noqa: ARG001 - as every check
    """Return the delta."""
    return delta


class Linker:
    """Links nodes with the stored nodes. It computes deltas and does not apply them."""

    def __init__(self, store: GraphStorePort, config: MemoryConfig, duplicates: Deduplicator) -> None:
        self._store = store
        self._config = config
        self._duplicates = duplicates

    def writing(self, analysed: Analysed, reader: GraphReader, *, reason: str) -> GraphDelta:
        """Return the delta that writes analysed nodes to the graph of `reader`, and removes those that they replace.

        It also removes the memories that were derived from removed nodes, or from old versions of changed nodes.
        """
        at, view, graphs = analysed.at, reader.view, UserGraphs(reader)
        gone = self._with_derived(view, analysed.gone, analysed.known)
        mentions = text_edges(self._store, analysed.nodes, at, gone, graphs=graphs)
        moved = [*analysed.new, *_originals(view, (node for node in analysed.known if node.id in analysed.moved))]
        nearest = nearest_in(graphs.__getitem__, without=frozenset(gone))
        similar = similarity_edges(moved, nearest, neighbors=self._config.MAX_SIM_NEIGHBORS, at=at)
        # Stored nodes may have new vectors that are not stored yet.
        similarities = list(fitted(similar, analysed.nodes) if analysed.known else similar)
        same = self._duplicates.among(view, analysed.nodes, similarities, gone, at)
        temporal = temporal_edges(self._store, analysed.new, self._config.metabolism, at, gone)
        put = (*analysed.sequences, *similarities, *mentions.put, *analysed.causes, *temporal, *same.put)
        outdated = [key for kind in (EdgeType.CAUSE, EdgeType.ECHO) for key in self._edges_of(analysed.retold, kind)]
        outdated += self._edges_of(analysed.moved, EdgeType.SIM)
        removed = dict.fromkeys((*analysed.parted, *mentions.removed, *outdated, *_remaining(same, gone)))
        for edge in put if removed else ():
            removed.pop(edge.key, None)
        waiting = self._waiting({*gone, *analysed.retold})
        return GraphDelta(
            removed_edges=tuple(removed),
            removed_nodes=tuple(gone),
            nodes=(*analysed.nodes, *self._following(analysed.known, gone)),
            edges=put,
            weights=tuple(mentions.reweighted),
            queued=analysed.failed,
            settled=tuple(task for task in waiting if task not in analysed.failed),
            reason=reason,
            at=at,
            owner=Owner.MEMORY,
        )

    def deletion(self, node_ids: Iterable[str], *, reason: str, at: datetime) -> GraphDelta:
        """Return the delta that removes nodes, and joins the turns before and after a removed turn of a session.

        It also removes the memories that were derived from the nodes.

        Raises:
            UnknownIdError: a node does not exist.
        """
        given = list(dict.fromkeys(node_ids))
        nodes, reader = self._store.get_nodes(given), self._store.reader()
        view = reader.view
        gone = self._with_derived(view, given)
        changes = text_edges(self._store, (), at, gone, graphs=UserGraphs(reader))
        same = self._duplicates.among(view, (), (), gone, at)
        joined = rejoined(view, nodes, at=at)
        return GraphDelta(
            removed_edges=(*changes.removed, *_remaining(same, gone)),
            removed_nodes=tuple(gone),
            edges=(*changes.put, *joined, *same.put),
            weights=tuple(changes.reweighted),
            settled=self._waiting(gone),
            reason=reason,
            at=at,
        )

    def _with_derived(self, view: GraphView, gone: Iterable[str], changed: Sequence[MemoryNode] = ()) -> list[str]:
        """Return the ids of nodes to remove, and of the nodes that were derived from them or from changed nodes.

        Conflicts of removed nodes, and of nodes with a new text, are removed too.
        """
        given = list(dict.fromkeys(gone))
        if not given and not changed:
            return []
        stored = {node.id: node for node in self._store.get_nodes([node.id for node in changed], missing_ok=True)}
        outdated = [node.id for node in changed if node.id in stored and not same_source(stored[node.id], node)]
        retold = [node.id for node in changed if node.id in stored and stored[node.id].content != node.content]
        removed = (*given, *derived_from(view, [*given, *outdated]))
        return list(dict.fromkeys((*removed, *conflicts_about(view, [*removed, *retold]))))

    def _following(self, changed: Sequence[MemoryNode], gone: Collection[str]) -> list[MemoryNode]:
        """Return the derived memories whose metadata changes with that of their sources."""
        if not changed:
            return []
        view, found = self._store.view(), {node.id: node for node in changed}
        names = [name for name in derived_from(view, found) if name not in gone]
        for fact in self._store.get_nodes(names, missing_ok=True):
            arcs = view.arcs(view.rows([fact.id]), EdgeType.DERIVED_FROM)
            sources = self._store.get_nodes([view.ids[row] for row in arcs.target.tolist()])
            before, now = common_metadata(sources), common_metadata([found.get(one.id, one) for one in sources])
            own = {key: value for key, value in fact.metadata.items() if before.get(key) != value}
            if before != now:
                found[fact.id] = replace(fact, metadata={**now, **own})
        return [found[name] for name in names if name in found]

    def _edges_of(self, node_ids: Collection[str], edge_type: EdgeType) -> Iterator[EdgeKey]:
        if node_ids:
            view = self._store.view()
            rows = view.known_rows(node_ids)
            yield from map(view.edge_key, view.arcs(rows, edge_type, both_ways=True).edge.tolist())

    def _waiting(self, node_ids: Collection[str]) -> tuple[PendingTask, ...]:
        """Return the pending judgements about any of the nodes."""
        wanted = set(node_ids)
        return tuple(task for task in self._store.pending() if wanted.intersection(task.nodes)) if wanted else ()


def _originals(view: GraphView, nodes: Iterable[MemoryNode]) -> Iterator[MemoryNode]:
    """Yield the nodes that were not derived from others."""
    return (node for node in nodes if not is_derived(view, view.known_rows([node.id])).any())


def _remaining(links: DuplicateLinks, gone: Iterable[str]) -> list[EdgeKey]:
    """Return the edges to remove without those of nodes that are removed too."""
    nodes = set(gone)
    return [key for key in links.removed if nodes.isdisjoint((key.source_id, key.target_id))]
