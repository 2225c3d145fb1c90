"""What is put into a memory: a document of one or several passages in order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from neurogated.errors import InputError
from neurogated.utils.hash_utils import compute_mdhash_id

__all__ = ["Document", "Passage"]

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
        _require_text("a passage", self.text)
        if not self.text.strip():
            raise InputError("a passage is empty or blank; leave it out")


@dataclass(frozen=True, slots=True)
class Document:
    """Passages that follow one another, under one title."""

    passages: tuple[Passage, ...]
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.passages:
            raise InputError("a document has no passage; give it at least one")
        if self.title is not None:
            _require_text("a title", self.title)

    @classmethod
    def from_text(cls, text: str, *, title: str | None = None, metadata: Mapping[str, Any] | None = None) -> Self:
        """Return a document of one passage."""
        return cls((Passage(text),), title, metadata or {})

    @property
    def id(self) -> str:
        """Hash of title and texts; metadata does not take part, so changed metadata does not make another document."""
        return compute_mdhash_id(_SEPARATOR.join((self.title or "", *(p.text for p in self.passages))), prefix="doc-")


def _require_text(what: str, text: object) -> None:
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
