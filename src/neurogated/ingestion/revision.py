"""Changes of stored memories: new values of their fields and times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, TypedDict

from neurogated.core.clock import Moment, checked_moment, to_utc
from neurogated.core.conflicts import as_given
from neurogated.core.model import MemoryNode, checked_metadata
from neurogated.core.node_kind import FACT, given_kind, kind_of_new_text
from neurogated.errors import InputError
from neurogated.ingestion.document import checked_ttl
from neurogated.text.strings import repaired_text
from neurogated.text.times import Zone

_TIMES = ("valid_from", "valid_to", "timestamp")


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
    node = as_given(node)
    begin, end = times.get("valid_from", node.valid_from), times.get("valid_to", node.valid_to)
    if begin is not None and end is not None and end <= begin:
        raise InputError(f"valid_to, {end}, must lie after valid_from, {begin}")
    return node.changed(valid_from=begin, valid_to=end, expires_at=times.get("expires_at", node.expires_at))


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


def revision_of(content: str | None, changes: Changes, zone: Zone = None) -> Revision:
    """Return the revision with these changes; `zone` is that of times without one. Raises InputError."""
    if unknown := sorted(changes.keys() - Changes.__annotations__.keys()):
        raise InputError(f"unknown argument {', '.join(unknown)}; known are {', '.join(Changes.__annotations__)}")
    given: dict[str, Any] = dict(changes)
    times = {name: checked_moment(name, given[name], zone) for name in _TIMES if name in given}
    return Revision(content, **{**given, **times})


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
            object.__setattr__(self, "content", repaired_text("the new content", self.content))
            if not self.content.strip():
                raise InputError("the new content is blank; to forget the memory, delete it")
        if self.title is not None:
            object.__setattr__(self, "title", repaired_text("the new title", self.title))
        if self.metadata is not None:
            checked_metadata(self.metadata)
        given_kind(self.kind)
        object.__setattr__(self, "ttl", checked_ttl(self.ttl))
        for name in _TIMES:
            checked_moment(name, getattr(self, name))

    def applied(self, node: MemoryNode, at: datetime) -> MemoryNode:
        """Return the node with the changes, made at `at`. It keeps the findings and the vector of the old text.

        Raises:
            InputError: the new version cannot be stored.
        """
        given_kind(node.kind)
        if self.kind is not None and self.kind != node.kind and FACT in {self.kind, node.kind}:
            raise InputError(f"memory {node.id!r} cannot turn from {node.kind!r} into {self.kind!r}; state a new fact")
        given = {name: getattr(self, name) for name in ("content", "title", "kind", "importance", "timestamp", "tags")}
        fields = {name: value for name, value in given.items() if value is not None}
        if self.kind is None and self.content not in {None, node.content}:
            fields["kind"] = kind_of_new_text(node.kind, in_session=node.scope.session_id is not None)
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
