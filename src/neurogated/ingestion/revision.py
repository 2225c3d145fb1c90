"""The deltas that remove nodes or put new versions in their place, with all that follows from their texts elsewhere."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import checked_moment, to_utc
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryNode
from neurogated.core.ports import Embedder, GraphStorePort
from neurogated.core.rendering import document_tag, quoted, render
from neurogated.core.times import find_times
from neurogated.errors import InputError
from neurogated.ingestion.analysis import ENTITIES, Analysis, Findings, causal_pairs
from neurogated.ingestion.context import requoted
from neurogated.ingestion.document import checked_text, checked_ttl
from neurogated.ingestion.edge_builder import fitted, nearest_in, reweighed_similarities, similarity_edges
from neurogated.ingestion.mentions import text_edges
from neurogated.ingestion.user_graph import UserGraph

__all__ = ["Reviser", "Revision", "expiry", "with_lifetime"]

_TIMES = "times"
_DOCUMENT_ID = "document_id"


def expiry(at: datetime, ttl: timedelta) -> datetime | None:
    """Return when what is stored at `at` expires; None, never, where that is beyond the end of the calendar."""
    try:
        return to_utc(at) + ttl
    except OverflowError:
        return None


def with_lifetime(node: MemoryNode, times: Mapping[str, datetime | None]) -> MemoryNode:
    """Return the node with those of `valid_from`, `valid_to` and `expires_at` that are given.

    Raises:
        InputError: it would cease to hold before it begins to.
    """
    if not times:
        return node
    begin, end = times.get("valid_from", node.valid_from), times.get("valid_to", node.valid_to)
    if begin is not None and end is not None and end <= begin:
        raise InputError(f"valid_to, {end}, must lie after valid_from, {begin}")
    return replace(node, valid_from=begin, valid_to=end, expires_at=times.get("expires_at", node.expires_at))


@dataclass(frozen=True, slots=True)
class Revision:
    """What is to be different in a node; what is None stays."""

    content: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    ttl: timedelta | float | None = None
    """A timedelta, or a number of seconds."""

    def __post_init__(self) -> None:
        if all(getattr(self, name) is None for name in self.__slots__):
            raise InputError("nothing to update is given; give a content, a title, metadata or a time")
        if self.content is not None:
            checked_text("the new content", self.content)
            if not self.content.strip():
                raise InputError("the new content is blank; to forget the memory, delete it")
        if self.title is not None:
            checked_text("the new title", self.title)
        if self.metadata is not None and _DOCUMENT_ID in self.metadata:
            raise InputError("document_id says which document a memory is of and cannot be changed; leave it out")
        object.__setattr__(self, "ttl", checked_ttl(self.ttl))
        checked_moment("valid_from", self.valid_from)
        checked_moment("valid_to", self.valid_to)

    def lifetime(self, at: datetime) -> dict[str, datetime | None]:
        """Return the times that change, by field, where the change is made at `at`."""
        times = {"valid_from": self.valid_from, "valid_to": self.valid_to}
        given: dict[str, datetime | None] = {name: to_utc(time) for name, time in times.items() if time is not None}
        return given if (ttl := checked_ttl(self.ttl)) is None else {**given, "expires_at": expiry(at, ttl)}


class Reviser:
    """Works out deltas, for others to apply."""

    def __init__(self, store: GraphStorePort, embedder: Embedder, analysis: Analysis, config: MemoryConfig) -> None:
        self._store = store
        self._embedder = embedder
        self._analysis = analysis
        self._config = config

    def deletion(self, node_ids: Iterable[str], *, reason: str, at: datetime) -> GraphDelta:
        """Return the delta that removes nodes and what they left in others.

        Raises:
            UnknownIdError: a node does not exist.
        """
        gone = list(dict.fromkeys(node_ids))
        nodes = self._store.get_nodes(gone)
        turned = self._turned(nodes, dict.fromkeys(gone))
        changes = text_edges(self._store, self._config, turned, at, gone)
        return GraphDelta(
            removed_edges=tuple(changes.removed),
            removed_nodes=tuple(gone),
            nodes=tuple(turned),
            edges=tuple(changes.put),
            weights=(*changes.reweighted, *reweighed_similarities(turned, self._store, without=gone)),
            settled=self._waiting(gone),
            reason=reason,
            at=at,
        )

    def update(self, node_id: str, change: Revision, *, at: datetime) -> GraphDelta:
        """Return the delta that puts a new version of a node in its place; the node comes first in it.

        Raises:
            UnknownIdError: the node does not exist.
            InputError: the new version cannot be stored.
        """
        old = self._store.get_node(node_id)
        node, named = self._version(old, change, at)
        retold = node.content != old.content
        causes = self._causes(node, at) if retold else Findings()
        quote = quoted(node.content, node.metadata)
        turned = [] if quote == quoted(old.content, old.metadata) else self._turned([old], {node.id: quote})
        nodes = [node, *turned]
        changes = text_edges(self._store, self._config, nodes, at)
        moved = not np.array_equal(np.asarray(node.embedding), np.asarray(old.embedding))
        similar = similarity_edges([node] if moved else [], nearest_in(self._store), neighbors=self._neighbors, at=at)
        put = (*changes.put, *fitted(similar, nodes), *causes.edges)
        similarities = reweighed_similarities(turned, self._store, without=[node.id] if moved else [])
        made_anew = {EdgeType.SIM: moved, EdgeType.CAUSE: retold}
        outdated = {*changes.removed, *self._edges_of(node.id, [kind for kind, anew in made_anew.items() if anew])}
        failed = (*named.failed, *causes.failed)
        return GraphDelta(
            removed_edges=tuple(outdated - {edge.key for edge in put}),
            nodes=tuple(nodes),
            edges=put,
            weights=(*changes.reweighted, *similarities),
            queued=failed,
            settled=tuple(task for task in self._waiting([node.id]) if task not in failed) if retold else (),
            reason="update",
            at=at,
        )

    @property
    def _neighbors(self) -> int:
        return self._config.MAX_SIM_NEIGHBORS

    def _version(self, old: MemoryNode, change: Revision, at: datetime) -> tuple[MemoryNode, Findings]:
        """Return the new version of a node, and what was found out about it."""
        given = (
            dict(change.metadata or {}) if change.title is None else {**(change.metadata or {}), "title": change.title}
        )
        metadata = {**old.metadata, **given}
        content = old.content if change.content is None else change.content
        if content != old.content:
            # What was found in the old text says nothing about the new one.
            metadata = {
                name: value for name, value in metadata.items() if name in given or name not in (_TIMES, ENTITIES)
            }
            metadata = {**({_TIMES: list(times)} if (times := find_times(content)) else {}), **metadata}
        node = with_lifetime(replace(old, content=content, metadata=metadata), change.lifetime(at))
        named = Findings(nodes=[node])
        if content != old.content and ENTITIES not in given:
            named = self._analysis.find_entities([node])
        (node,) = named.nodes
        node = replace(node, metadata={name: value for name, value in node.metadata.items() if value is not None})
        if render(node.content, node.metadata) != render(old.content, old.metadata):
            node = replace(node, embedding=self._embedder.embed_documents([render(node.content, node.metadata)])[0])
        return node, named

    def _turned(self, nodes: Sequence[MemoryNode], now: Mapping[str, str | None]) -> list[MemoryNode]:
        """Return the nodes that quote some of `nodes`, with their quotations as they are `now`, embedded anew."""
        documents = dict.fromkeys((node.metadata.get(_DOCUMENT_ID), node.scope.user_id) for node in nodes)
        changed = [
            node
            for document in documents
            for node in requoted(self._store.get_nodes(self._document(*document), missing_ok=True), now)
        ]
        if not changed:
            return []
        vectors = self._embedder.embed_documents([render(node.content, node.metadata) for node in changed])
        return [replace(node, embedding=vector) for node, vector in zip(changed, vectors, strict=True)]

    def _causes(self, node: MemoryNode, at: datetime) -> Findings:
        """Judge a node anew with its neighbours in its document."""
        document = self._document(node.metadata.get(_DOCUMENT_ID), node.scope.user_id)
        pairs = list(causal_pairs(document, [node.id], self._config.CAUSE_WINDOW))
        others = self._store.get_nodes(
            [name for pair in pairs for name in pair.nodes if name != node.id], missing_ok=True
        )
        known = {**{other.id: other for other in others}, node.id: node}
        return self._analysis.find_causes([pair for pair in pairs if known.keys() >= set(pair.nodes)], known, at)

    def _document(self, document_id: object, user_id: str | None) -> list[str]:
        """Return the nodes of a user's document in their order, none if there is none."""
        if not isinstance(document_id, str):
            return []
        return UserGraph(self._store, user_id).nodes_with([document_tag(document_id)])

    def _edges_of(self, node_id: str, types: Iterable[EdgeType]) -> Iterator[EdgeKey]:
        view = self._store.view()
        for edge_type in types:
            yield from map(view.edge_key, view.arcs(view.rows([node_id]), edge_type, both_ways=True).edge.tolist())

    def _waiting(self, node_ids: Collection[str]) -> tuple[PendingTask, ...]:
        """Return the judgements that wait and are about some of the nodes."""
        wanted = set(node_ids)
        return tuple(task for task in self._store.pending() if wanted.intersection(task.nodes))
