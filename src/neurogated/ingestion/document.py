"""What is put into a memory: a document of one or several passages in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Self

from neurogated.core.clock import checked_moment, to_utc
from neurogated.errors import InputError
from neurogated.utils.hash_utils import compute_mdhash_id

__all__ = ["Document", "Passage", "checked_text", "checked_ttl", "read_documents"]

_NUL = "\0"
# Joins the parts of what is hashed; refused inside texts, so that no two documents hash alike.
_SEPARATOR = _NUL


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document that is never joined with another part: a paragraph, a turn of a dialogue."""

    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Added to the document's for the nodes made of this passage. `speaker` and `timestamp` have a fixed meaning."""

    def __post_init__(self) -> None:
        checked_text("a passage", self.text)
        if not self.text.strip():
            raise InputError("a passage is empty or blank; leave it out")


@dataclass(frozen=True, slots=True)
class Document:
    """Passages that follow one another, under one title."""

    passages: tuple[Passage, ...]
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    ttl: timedelta | float | None = None
    """How long it is to be remembered, as a timedelta or in seconds; None for as long as it was, or for ever."""
    valid_from: datetime | None = None
    """When what it says began to hold; None if it always did."""
    valid_to: datetime | None = None
    """When it ceased to hold; None if it still does."""

    def __post_init__(self) -> None:
        if not self.passages:
            raise InputError("a document has no passage; give it at least one")
        if self.title is not None:
            checked_text("a title", self.title)
        object.__setattr__(self, "ttl", checked_ttl(self.ttl))
        checked_moment("valid_from", self.valid_from)
        checked_moment("valid_to", self.valid_to)
        if (
            self.valid_from is not None
            and self.valid_to is not None
            and to_utc(self.valid_to) <= to_utc(self.valid_from)
        ):
            raise InputError(f"valid_to, {self.valid_to}, must lie after valid_from, {self.valid_from}")

    @classmethod
    def from_text(
        cls,
        text: str,
        *,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        ttl: timedelta | float | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
    ) -> Self:
        """Return a document of one passage."""
        return cls((Passage(text),), title, metadata or {}, ttl, valid_from, valid_to)

    @property
    def id(self) -> str:
        """Hash of title and texts; metadata does not take part, so changed metadata does not make another document."""
        return compute_mdhash_id(_SEPARATOR.join((self.title or "", *(p.text for p in self.passages))), prefix="doc-")


def read_documents(documents: Iterable[str | Document | Mapping[str, Any]]) -> Iterator[Document]:
    """Yield texts, documents and mappings with `text` as documents; see `NeuroGraphMemory.add_documents`.

    Raises:
        InputError: one is none of them; its position is named.
    """
    for position, item in enumerate(documents):
        try:
            yield _read_document(item)
        except InputError as error:
            raise InputError(f"document {position}: {error}") from None


def checked_text(what: str, text: object) -> None:
    """Raise InputError, which calls it `what`, where `text` is no text that can be stored."""
    if not isinstance(text, str):
        raise InputError(f"{what} must be text, not {type(text).__name__}; decode or convert it first")
    if _NUL in text:
        raise InputError(f"{what} has a NUL character at position {text.index(_NUL)}; remove it, it is no text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} has a lone surrogate at position {error.start}; decode the source with errors='replace'"
        ) from None


def checked_ttl(ttl: object) -> timedelta | None:
    """Return the span of time that `ttl` is, which may be a number of seconds; None for None.

    Raises:
        InputError: it is neither, or not above 0.
    """
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, timedelta | int | float):
        raise InputError(f"the ttl is {ttl!r}, but must be a timedelta or a number of seconds")
    try:
        span = ttl if isinstance(ttl, timedelta) else timedelta(seconds=ttl)
    except (OverflowError, ValueError):
        raise InputError(f"the ttl is {ttl} seconds, which is no span of time; leave it out for ever") from None
    if span <= timedelta():
        raise InputError(f"the ttl is {span}, but must be above 0; to forget at once, delete")
    return span


def _read_document(item: object) -> Document:
    if isinstance(item, Document):
        return item
    if isinstance(item, str):
        return Document.from_text(item)
    if not isinstance(item, Mapping) or "text" not in item:
        raise InputError(f"{item!r} is neither text nor Document nor a mapping with 'text'")
    return Document.from_text(
        item["text"],
        title=item.get("title"),
        metadata=item.get("metadata"),
        ttl=item.get("ttl"),
        valid_from=item.get("valid_from"),
        valid_to=item.get("valid_to"),
    )
