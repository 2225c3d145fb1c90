"""A data set: collections of documents, and the questions about them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from neurogated.errors import DatasetError, InputError
from neurogated.ingestion.document import Document, Passage

SOURCES_KEY = "sources"
"""Metadata key under which a node lists the data set's names of its passages."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the passages that answer it."""

    id: str | int
    text: str
    gold: frozenset[Hashable]
    """The data set's names of the passages: corpus idx, or dia_id."""
    kind: str
    """The data set's name for this kind of question."""
    answers: tuple[str, ...] = ()
    """All right answers, aliases too; empty if the data set has no answer."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents and the questions about them; questions search only their own collection."""

    namespace: str | None
    """Its namespace in the memory; None for the memory's own namespace."""
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named data set; each collection has its own namespace."""

    name: str
    collections: tuple[Collection, ...]
    notes: tuple[str, ...] = ()
    """Notes about the files for a reader of the figures, a sentence each."""


def passage_of(text: str, metadata: Mapping[str, Any], where: str, *, speaker: str | None = None) -> Passage:
    """Return a passage; raise DatasetError that names the place, `where`, of a text that cannot be stored."""
    try:
        return Passage(text, metadata, speaker=speaker)
    except InputError as error:
        raise DatasetError(f"{where}: {error}") from None
