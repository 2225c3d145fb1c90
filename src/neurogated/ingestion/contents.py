"""What `memory.add` takes: texts and messages, as documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, TypedDict, Unpack

from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.ingestion.document import Document, Facts, Passage, checked_text

__all__ = ["Content", "Details", "Message", "read_contents"]


class _Said(TypedDict):
    role: str
    """`user`, `assistant`, or another."""
    content: str


class Message(_Said, total=False):
    """One message of a conversation, as chat models take it."""

    name: str
    """Who says it."""
    timestamp: datetime
    id: str
    metadata: Mapping[str, Any]


Content = str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any]]
"""A text, a message, or a list of them."""

_KEYS = frozenset({"role", "content", "name", "timestamp", "id", "metadata"})


class Details(Facts, total=False):
    """What may be known of a text beside its owner."""

    id: str | None
    """An id of your own: adding it again puts a new version of the memory in its place."""
    title: str | None
    """What it is about."""
    metadata: Mapping[str, Any] | None
    """JSON values of your own; they mean nothing to the memory."""
    ttl: timedelta | float | None
    """How long it is remembered, from now, as a timedelta or in seconds; for ever when left out."""
    valid_from: datetime | None
    """When its content began to hold."""
    valid_to: datetime | None
    """When it ceased to hold."""


def read_contents(content: Content, *, scope: Scope, **details: Unpack[Details]) -> list[Document]:
    """Return a document for each text and message; the details hold for all, unless a message brings its own.

    Raises:
        InputError: something is neither text nor message, is blank, or has an unknown key; its position is named.
    """
    if unknown := sorted(details.keys() - Details.__annotations__.keys()):
        raise InputError(f"unknown argument {', '.join(unknown)}; known are {', '.join(Details.__annotations__)}")
    given = {name: value for name, value in details.items() if value is not None}
    several = isinstance(content, Sequence) and not isinstance(content, str)
    items: list[object] = list(content) if several else [content]
    if "id" in given and len(items) != 1:
        raise InputError(
            f"the id {given['id']!r} is given for {len(items)} memories; give every message an id of its own"
        )
    documents = []
    for position, item in enumerate(items):
        try:
            passage, own = _read(item)
            documents.append(Document((passage,), scope=scope, **{**given, **own}))
        except InputError as error:
            raise InputError(f"content {position}: {error}" if several else str(error)) from None
    return documents


def _read(item: object) -> tuple[Passage, dict[str, Any]]:
    """Return a text or message as a passage, and the id and time that it brings."""
    if isinstance(item, str):
        return Passage(item), {}
    if not isinstance(item, Mapping):
        raise InputError(f"{item!r} is neither text nor a message such as {{'role': 'user', 'content': 'Hello.'}}")
    if unknown := sorted(map(str, item.keys() - _KEYS)):
        raise InputError(f"unknown keys {', '.join(unknown)} of a message; known are {', '.join(sorted(_KEYS))}")
    if missing := sorted({"role", "content"} - item.keys()):
        raise InputError(f"a message has no {' and no '.join(missing)}")
    role, name = item["role"], item.get("name")
    for what, value in (("role", role), ("name", name)):
        if value is not None:
            checked_text(f"the {what} of a message", value)
    passage = Passage(item["content"], item.get("metadata") or {}, speaker=name or None, role=role or None)
    return passage, {key: item[key] for key in ("id", "timestamp") if item.get(key) is not None}
