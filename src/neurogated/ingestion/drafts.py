"""Data that is about to be stored: chunks, parts of documents, batches of parts, and changes of stored memories."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple, TypedDict, Unpack

from neurogated.core.clock import Moment, checked_moment, to_utc
from neurogated.core.conflicts import as_given
from neurogated.core.found import Found
from neurogated.core.habits import refuse_unknown
from neurogated.core.model import DEFAULT_IMPORTANCE, EdgeKey, MemoryEdge, MemoryNode, checked_metadata
from neurogated.core.node_kind import FACT, given_kind, kind_of_new_text
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.ingestion.document import checked_ttl
from neurogated.text.strings import repaired_text
from neurogated.text.times import Zone

REACH = 1
"""Neighbours on each side of a text that are read with it."""
_TIMES = ("valid_from", "valid_to", "timestamp")


def expiry(at: datetime, ttl: timedelta) -> datetime | None:
    """Return the time `ttl` after `at`, or None (never) if it is beyond the last year of the calendar."""
    try:
        return to_utc(at) + ttl
    except OverflowError:
        return None


class Changes(TypedDict, total=False):
    """Changes of a memory besides its text. A missing value or None keeps the old value."""

    title: str | None
    """The new title; an empty text removes the title."""
    metadata: Mapping[str, Any] | None
    """Merged into the old metadata; a key with the value None is removed."""
    valid_from: Moment | None
    """The time from which the content is true."""
    valid_to: Moment | None
    """The time until which the content is true."""
    ttl: timedelta | float | None
    """Time to live from now, as a timedelta or in seconds; `timedelta.max` for ever."""
    kind: str | None
    importance: float | None
    timestamp: Moment | None
    """The time of the statement or event."""
    tags: Sequence[str] | None


class Revision:
    """A change of a node: its new content, and what `Changes` has. None keeps the old value."""

    def __init__(self, content: str | None = None, zone: Zone = None, **changes: Unpack[Changes]) -> None:
        """Check the values; `zone` is that of times without one. Raises InputError."""
        refuse_unknown(changes, Changes.__annotations__)
        given: dict[str, Any] = {name: value for name, value in changes.items() if value is not None}
        self.content, self.changes = content, given
        if content is None and not given:
            raise InputError("the update is empty; give a content, a title, metadata or a time")
        if content is not None:
            self.content = repaired_text("the new content", content).lstrip("\ufeff")
            if not self.content.strip():
                raise InputError("the new content is blank; to forget the memory, delete it")
        given_kind(given.get("kind"))
        checked_metadata(given.get("metadata", {}))
        if "title" in given:
            given["title"] = repaired_text("the new title", given["title"]).lstrip("\ufeff")
        given |= {name: checked_moment(name, given[name], zone) for name in _TIMES if name in given}
        given |= {"ttl": checked_ttl(given["ttl"])} if "ttl" in given else {}

    def beside(self, content: str) -> Revision:
        """Return the change of a memory that keeps its content and kind beside the text that changes."""
        other = copy(self)
        other.content, other.changes = content, {name: one for name, one in self.changes.items() if name != "kind"}
        return other

    def applied(self, node: MemoryNode, at: datetime) -> MemoryNode:
        """Return the node with the changes, made at `at`. It keeps the findings and the vector of the old text.

        Raises:
            InputError: the new version cannot be stored.
        """
        given_kind(node.kind)
        given, kind = self.changes, self.changes.get("kind")
        if kind is not None and kind != node.kind and FACT in {kind, node.kind}:
            raise InputError(f"memory {node.id!r} cannot turn from {node.kind!r} into {kind!r}; state a new fact")
        fields: dict[str, Any] = {name: given[name] for name in _FIELDS if name in given}
        if self.content is not None:
            fields["content"] = self.content
            if kind is None and self.content != node.content:
                fields["kind"] = kind_of_new_text(node.kind, in_session=node.scope.session_id is not None)
        if not fields.get("title", "title").strip():
            fields["title"] = None
        merged = {**node.metadata, **given.get("metadata", {})}
        ended = {name for name, value in given.get("metadata", {}).items() if value is None}
        metadata = {name: value for name, value in merged.items() if name not in ended}
        if "ttl" in given:
            fields["expires_at"] = expiry(at, given["ttl"])
        return replace(as_given(node), metadata=metadata, **fields)


SessionKey = tuple[str | None, str]
"""User and name of a session."""

_BLANK = MemoryNode("blank", "")
_FIELDS = (
    "kind",
    "title",
    "role",
    "speaker",
    "importance",
    "timestamp",
    "tags",
    "valid_from",
    "valid_to",
    "expires_at",
)


class Draft(NamedTuple):
    """A chunk that may become a node."""

    id: str
    content: str
    metadata: Mapping[str, object]
    found: Found
    """Findings from the content, without entities."""
    scope: Scope
    fields: Mapping[str, Any]
    """Other given fields of the node, by name; of a new text also the times that it does not have, which are None."""
    named: bool = False
    """Whether the id names the memory to write, such as an id of the caller. Otherwise a hash or a turn's new id."""
    message: str | None = None
    """The whole message, of which this chunk is a piece; None for any other chunk."""
    arrived: datetime | None = None
    """The timestamp of a new memory for which no other one is given."""

    @classmethod
    def of(cls, node: MemoryNode, found: Found) -> Draft:
        """Return the draft that gives a stored node the text, the metadata and all given fields of `node`."""
        fields = {name: getattr(as_given(node), name) for name in _FIELDS}
        return cls(node.id, node.content, node.metadata, replace(found, given=None), node.scope, fields, named=True)

    @property
    def session(self) -> SessionKey | None:
        """User and name of the turn's session, None for a chunk of a document."""
        return None if self.scope.session_id is None else (self.scope.user_id, self.scope.session_id)

    def moves(self, node: MemoryNode) -> bool:
        """Return whether the draft moves the stored `node` to another session, or to another place in its session."""
        if not self.named or self.session is None:
            return False
        is_elsewhere = node.position is None or node.scope.session_id != self.scope.session_id
        return is_elsewhere or self.fields.get("timestamp", node.timestamp) != node.timestamp

    def dated(self, stored: MemoryNode | None) -> Draft:
        """Return the draft with the time at which it arrived if it is a new memory without a timestamp.

        A memory that is added again keeps the time at which it arrived first.
        """
        if stored is not None or self.arrived is None or "timestamp" in self.fields:
            return self
        return self._replace(fields={**self.fields, "timestamp": self.arrived})

    def repeats(self, node: MemoryNode | None) -> bool:
        """Return whether `node` has the same text and user."""
        return node is not None and (node.content, node.scope.user_id) == (self.content, self.scope.user_id)

    def owned_as(self, node: MemoryNode) -> Draft:
        """Return the draft with missing parts of its scope taken from a stored node."""
        given, known = self.scope, node.scope
        if given.user_id != known.user_id:
            return self
        session_id = given.session_id or known.session_id
        scope = Scope(given.user_id, given.agent_id or known.agent_id, session_id, given.path or known.path)
        return self._replace(scope=scope)

    def changes(self, node: MemoryNode) -> bool:
        """Return whether the draft changes the text, metadata, times or other fields of `node`."""
        node = as_given(node)
        given = {**self.fields, "scope": self.scope, "content": self.content}
        return (
            any(getattr(node, name) != value for name, value in given.items())
            or node.found.outcome != self.found.outcome
            or self._metadata_over(node) != node.metadata
        )

    def merged_over(self, other: Draft | None) -> Draft:
        """Return the draft with its values merged over those of `other`; a named draft replaces all metadata."""
        if other is None:
            return self
        metadata = self.metadata if self.named else {**other.metadata, **self.metadata}
        return self._replace(metadata=metadata, fields={**other.fields, **self.fields})

    def node(self, stored: MemoryNode | None, at: datetime) -> MemoryNode:
        """Return the node of the draft, without a new vector. A stored node keeps its energy and times of access.

        A new node has its importance as energy.

        Raises:
            InputError: `valid_to` is not after `valid_from`.
        """
        fields = dict(self.fields)
        if stored is None:
            # The document has validated all of them, and the encoder makes a float of an importance.
            at = to_utc(at)
            if (moment := fields.get("timestamp")) is not None:
                fields["timestamp"] = to_utc(moment)
            return _BLANK.changed(
                id=str(self.id),
                content=self.content,
                metadata=dict(self.metadata),
                last_accessed=at,
                created_at=at,
                energy_at=at,
                charged_at=at,
                scope=self.scope,
                found=self.found,
                **{"base_energy": fields.get("importance", DEFAULT_IMPORTANCE), **fields},
            )
        stored = as_given(stored)
        label = self.found.label or stored.found.label
        offset = (self if "timestamp" in self.fields else stored).found.offset
        text: dict[str, Any] = (
            {"found": replace(stored.found, outcome=self.found.outcome, offset=offset)}
            if stored.content == self.content
            else {"content": self.content, "found": replace(self.found, label=label, offset=offset)}
        )
        if "content" in text:
            text["kind"] = kind_of_new_text(stored.kind, in_session=self.session is not None)
        fields = {**text, **fields}
        node = replace(stored, metadata=self._metadata_over(stored), scope=self.scope, **fields)
        begin, end = node.valid_from, node.valid_to
        if "valid_to" in fields and begin is not None and end is not None and end <= begin:
            raise InputError(f"valid_to, {end}, must lie after valid_from, {begin}")
        return node

    def _metadata_over(self, stored: MemoryNode) -> Mapping[str, object]:
        return self.metadata if self.named else {**stored.metadata, **self.metadata}


@dataclass(frozen=True, slots=True)
class DocumentPart:
    """Chunks of one document that are stored together: all chunks of a short document, or some of a long one."""

    document: list[Draft]
    """All chunks of the document. Its parts share this list, in which the planner replaces taken ids."""
    begin: int
    end: int
    replaces: bool = True
    """Whether it replaces what is stored under the id of the document."""

    @property
    def name(self) -> str:
        """The id of the text: of its first chunk, or of the words of a message that begins with a call of a tool."""
        first = self.document[0]
        return min((one.id for one in self.document), key=len) if first.named else first.id

    def is_stored(self, old: Mapping[str, MemoryNode]) -> bool:
        """Return whether its user has a text with its id."""
        draft, node = self.document[0], old.get(self.name)
        return draft.named and node is not None and node.scope.user_id == draft.scope.user_id

    @property
    def drafts(self) -> Sequence[Draft]:
        """The chunks of the part."""
        return self.document[self.begin : self.end]

    def with_previous(self) -> Iterator[tuple[Draft, Draft | None]]:
        """Yield the chunks of the part, each with the previous chunk of the document."""
        for place in range(self.begin, self.end):
            yield self.document[place], self.document[place - 1] if place else None

    @property
    def around(self) -> range:
        """The places in the document of the part and of `REACH` chunks on each side of it."""
        return range(max(0, self.begin - REACH), min(self.end + REACH, len(self.document)))

    @property
    def ids_around(self) -> list[str]:
        """The ids of the chunks at these places."""
        return [self.document[place].id for place in self.around]


@dataclass(frozen=True, slots=True)
class Batch:
    """Parts of documents that are stored together, and the plan of their writes."""

    parts: Sequence[DocumentPart]
    old: Mapping[str, MemoryNode]
    """Stored nodes of the parts, and their stored neighbours, by id."""
    to_write: Sequence[Draft]
    """Drafts of new nodes, and of stored nodes with a changed text or changed fields."""
    view: GraphView
    """The graph for which it is planned."""
    gone: Sequence[str] = ()
    """Stored chunks to remove, because the new version of their text is shorter."""
    chains: Sequence[Sequence[str]] = ()
    """Successive ids: of each part with its neighbours, of each session's turns, and around changed texts."""
    parted: Sequence[EdgeKey] = ()
    """SEQ edges to remove: their turns are no longer successive."""
    joined: Sequence[EdgeKey] = ()
    """SEQ edges to add between stored turns, because a turn moves to or from their place."""

    @property
    def basis(self) -> object:
        """The input of the analysis: plans of the same parts with equal bases have the same analysis."""
        stored = {name: node.unaccessed() for name, node in self.old.items()}
        return self.to_write, self.gone, stored, self.chains, self.parted, self.joined

    def nodes(self, at: datetime) -> list[MemoryNode]:
        """Return the nodes to write, without new vectors."""
        return [draft.node(self.old.get(draft.id), at) for draft in self.to_write]


@dataclass(frozen=True, slots=True)
class Analysed:
    """The analysis of the texts of a batch, before they are linked with other memories."""

    new: Sequence[MemoryNode]
    """New nodes with their entities and vectors."""
    known: Sequence[MemoryNode]
    """Changed stored nodes."""
    moved: Collection[str]
    """Ids of the stored nodes with a new vector."""
    retold: Collection[str]
    """Ids of the stored nodes with a new text."""
    gone: Sequence[str]
    """Ids of the nodes to remove."""
    at: datetime
    sequences: Sequence[MemoryEdge] = ()
    parted: Sequence[EdgeKey] = ()
    """SEQ edges to remove."""
    causes: Sequence[MemoryEdge] = ()

    def accessed_as(self, old: Mapping[str, MemoryNode]) -> Analysed:
        """Return the analysis with the accesses of the stored nodes, which may be newer."""
        if not self.known:
            return self
        return replace(self, known=[node.with_accesses_of(old[node.id]) for node in self.known])

    @property
    def nodes(self) -> list[MemoryNode]:
        """All nodes to write."""
        return [*self.new, *self.known]
