"""The deltas that remove or replace nodes, and that update the edges of other nodes accordingly."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypedDict

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import checked_moment, to_utc
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.derivation import derived_from, is_derived, same_source
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryNode, Vector, as_vector
from neurogated.core.ports import Embedder, GraphStorePort
from neurogated.core.rendering import document_tag, render
from neurogated.core.times import find_times
from neurogated.errors import InputError
from neurogated.ingestion.analysers import Analysis, Findings, causal_pairs
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.document import checked_text, checked_ttl
from neurogated.ingestion.edge_builder import nearest_in, similarity_edges
from neurogated.ingestion.mentions import text_edges
from neurogated.ingestion.sessions import rejoined, turn_ids
from neurogated.ingestion.titles import find_names
from neurogated.ingestion.user_graph import UserGraph

__all__ = ["Changes", "Reviser", "Revision", "expiry", "revision_of", "with_lifetime"]


def expiry(at: datetime, ttl: timedelta) -> datetime | None:
    """Return the time `ttl` after `at`, or None (never) if it is beyond the last year of the calendar."""
    try:
        return to_utc(at) + ttl
    except OverflowError:
        return None


def with_lifetime(node: MemoryNode, times: Mapping[str, datetime | None]) -> MemoryNode:
    """Return the node with the given values of `valid_from`, `valid_to` and `expires_at`.

    Raises:
        InputError: `valid_to` is not after `valid_from`.
    """
    if not times:
        return node
    begin, end = times.get("valid_from", node.valid_from), times.get("valid_to", node.valid_to)
    if begin is not None and end is not None and end <= begin:
        raise InputError(f"valid_to, {end}, must lie after valid_from, {begin}")
    return replace(node, valid_from=begin, valid_to=end, expires_at=times.get("expires_at", node.expires_at))


class Changes(TypedDict, total=False):
    """Changes of a memory besides its text. A missing value or None keeps the old value."""

    title: str | None
    """The new title; an empty text removes the title."""
    metadata: Mapping[str, Any] | None
    """Merged into the old metadata; a key with the value None is removed."""
    valid_from: datetime | None
    """The time from which the content is true."""
    valid_to: datetime | None
    """The time until which the content is true."""
    ttl: timedelta | float | None
    """Time to live from now, as a timedelta or in seconds; `timedelta.max` for ever."""
    kind: str | None
    importance: float | None
    timestamp: datetime | None
    """The time of the statement or event."""
    tags: Sequence[str] | None


def revision_of(content: str | None, changes: Changes) -> Revision:
    """Return the revision with these changes. Raises InputError."""
    if unknown := sorted(changes.keys() - Changes.__annotations__.keys()):
        raise InputError(f"unknown argument {', '.join(unknown)}; known are {', '.join(Changes.__annotations__)}")
    return Revision(content, **changes)


@dataclass(frozen=True, slots=True)
class Revision:
    """A change of a node. None keeps the old value."""

    content: str | None = None
    title: str | None = None
    metadata: Mapping[str, Any] | None = None
    """Merged into the old metadata; a key with the value None is removed."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    ttl: timedelta | float | None = None
    """A timedelta, or a number of seconds."""
    kind: str | None = None
    importance: float | None = None
    timestamp: datetime | None = None
    tags: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if all(getattr(self, name) is None for name in self.__slots__):
            raise InputError("the update is empty; give a content, a title, metadata or a time")
        if self.content is not None:
            checked_text("the new content", self.content)
            if not self.content.strip():
                raise InputError("the new content is blank; to forget the memory, delete it")
        if self.title is not None:
            checked_text("the new title", self.title)
        object.__setattr__(self, "ttl", checked_ttl(self.ttl))
        for name in ("valid_from", "valid_to", "timestamp"):
            checked_moment(name, getattr(self, name))

    def applied(self, node: MemoryNode, at: datetime) -> MemoryNode:
        """Return the node with the changes, made at `at`. It keeps the findings and the vector of the old text.

        Raises:
            InputError: the new version cannot be stored.
        """
        given = {name: getattr(self, name) for name in ("content", "title", "kind", "importance", "timestamp", "tags")}
        fields = {name: value for name, value in given.items() if value is not None}
        if self.title is not None and not self.title.strip():
            fields["title"] = None
        given_metadata = dict(self.metadata or {})
        ended = {name for name, value in given_metadata.items() if value is None}
        metadata = {name: value for name, value in {**node.metadata, **given_metadata}.items() if name not in ended}
        times = {"valid_from": self.valid_from, "valid_to": self.valid_to}
        lifetime: dict[str, datetime | None] = {name: to_utc(time) for name, time in times.items() if time is not None}
        if (ttl := checked_ttl(self.ttl)) is not None:
            lifetime["expires_at"] = expiry(at, ttl)
        return with_lifetime(replace(node, metadata=metadata, **fields), lifetime)


class Reviser:
    """Computes the deltas of deletions and updates. It does not apply them."""

    def __init__(
        self, store: GraphStorePort, embedder: Embedder, chunker: Chunker, analysis: Analysis, config: MemoryConfig
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._chunker = chunker
        self._analysis = analysis
        self._config = config

    def deletion(self, node_ids: Iterable[str], *, reason: str, at: datetime) -> GraphDelta:
        """Return the delta that removes nodes, and joins the turns before and after a removed turn of a session.

        It also removes the memories that were derived from these nodes.

        Raises:
            UnknownIdError: a node does not exist.
        """
        given = list(dict.fromkeys(node_ids))
        nodes = self._store.get_nodes(given)
        view = self._store.view()
        gone = list(dict.fromkeys((*given, *derived_from(view, given))))
        changes = text_edges(self._store, self._config, (), at, gone)
        joined = rejoined(self._store, nodes, weight=self._config.indexing.seq_weight, at=at)
        return GraphDelta(
            removed_edges=tuple(changes.removed),
            removed_nodes=tuple(gone),
            edges=(*changes.put, *joined),
            weights=tuple(changes.reweighted),
            settled=self._waiting(gone),
            reason=reason,
            at=at,
        )

    def update(
        self, node_id: str, change: Callable[[MemoryNode], MemoryNode], *, reason: str, at: datetime
    ) -> GraphDelta:
        """Return the delta that replaces a node by a new version; the new version is the first node of the delta.

        It removes the memories that were derived from the old version.

        Args:
            node_id: the id of the node.
            change: takes the stored version and returns the new one, without new names, times and vector.
            reason: reason of the delta in the history.
            at: time of the delta.

        Raises:
            UnknownIdError: the node does not exist.
            InputError: the new version cannot be stored.
        """
        old = self._store.get_node(node_id)
        node, named = self._completed(old, change(old))
        retold = node.content != old.content
        causes = self._causes(node, at) if retold else Findings()
        view = self._store.view()
        is_original = not is_derived(view, view.known_rows([node_id])).any()
        changes = text_edges(self._store, self._config, [node], at)
        moved = not np.array_equal(np.asarray(node.embedding), np.asarray(old.embedding))
        similar = similarity_edges(
            [node] if moved and is_original else [], nearest_in(self._store), neighbors=self._neighbors, at=at
        )
        put = (*changes.put, *similar, *causes.edges)
        ended = [kind for kind, ends in {EdgeType.SIM: moved, EdgeType.CAUSE: retold}.items() if ends]
        outdated = {*changes.removed, *self._edges_of(node.id, ended)}
        failed = (*named.failed, *causes.failed)
        return GraphDelta(
            removed_edges=tuple(outdated - {edge.key for edge in put}),
            removed_nodes=() if same_source(old, node) else tuple(derived_from(view, [node_id])),
            nodes=(node,),
            edges=put,
            weights=tuple(changes.reweighted),
            queued=failed,
            settled=tuple(task for task in self._waiting([node.id]) if task not in failed) if retold else (),
            reason=reason,
            at=at,
        )

    @property
    def _neighbors(self) -> int:
        return self._config.MAX_SIM_NEIGHBORS

    def _completed(self, old: MemoryNode, new: MemoryNode) -> tuple[MemoryNode, Findings]:
        """Return the new version of a node with its names, times and vector, and the findings of the analysis."""
        named = Findings(nodes=[new])
        if new.content != old.content:
            # Names and times of the old text do not apply to the new one.
            names = find_names(new.content) if self._finds_title(new) else ()
            found = replace(new.found, entities=(), times=find_times(new.content), names=names)
            named = self._analysis.find_entities([replace(new, found=found)])
        (node,) = named.nodes
        if render(node) != render(old):
            node = replace(node, embedding=self._vector(node))
        return node, named

    def _vector(self, node: MemoryNode) -> Vector:
        """Return the vector of a node. For a text longer than a chunk, it is the mean of its chunks' vectors."""
        frame = render(replace(node, content=""))
        texts = [render(replace(node, content=chunk)) for chunk in self._chunker.split(node.content, frame)]
        vectors = self._embedder.embed_documents(texts)
        if len(texts) == 1:
            return as_vector(vectors[0])
        mean = vectors.mean(axis=0)
        return as_vector(mean / (np.linalg.norm(mean) or 1.0))

    def _finds_title(self, node: MemoryNode) -> bool:
        """Return whether to find the title and other names of a new text. Turns have no title."""
        is_turn = node.speaker is not None or node.scope.session_id is not None
        return self._config.indexing.find_titles and node.title is None and not is_turn

    def _causes(self, node: MemoryNode, at: datetime) -> Findings:
        """Judge the causal links between a node and its neighbours in its document or session."""
        pairs = list(causal_pairs(self._surroundings(node), [node.id], self._config.indexing.cause_window))
        others = self._store.get_nodes(
            [name for pair in pairs for name in pair.nodes if name != node.id], missing_ok=True
        )
        known = {**{other.id: other for other in others}, node.id: node}
        return self._analysis.find_causes([pair for pair in pairs if known.keys() >= set(pair.nodes)], known, at)

    def _surroundings(self, node: MemoryNode) -> list[str]:
        """Return the ids of all nodes in the session or document of a node, in order."""
        if node.scope.session_id is not None:
            return turn_ids(self._store, node.scope.user_id, node.scope.session_id)
        if node.found.document_id is None:
            return []
        return UserGraph(self._store, node.scope.user_id).nodes_with([document_tag(node.found.document_id)])

    def _edges_of(self, node_id: str, types: Iterable[EdgeType]) -> Iterator[EdgeKey]:
        view = self._store.view()
        for edge_type in types:
            yield from map(view.edge_key, view.arcs(view.rows([node_id]), edge_type, both_ways=True).edge.tolist())

    def _waiting(self, node_ids: Collection[str]) -> tuple[PendingTask, ...]:
        """Return the pending judgements about any of the nodes."""
        wanted = set(node_ids)
        return tuple(task for task in self._store.pending() if wanted.intersection(task.nodes))
