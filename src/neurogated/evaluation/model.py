"""What a data set is: collections of documents, and the questions about them."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

from neurogated.errors import DatasetError, InputError
from neurogated.ingestion.document import Document, Passage

__all__ = ["SOURCES_KEY", "Collection", "Dataset", "Question", "passage_of"]

SOURCES_KEY = "sources"
"""Metadata under which a node lists the data set's own names of the passages it comes from."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the passages that answer it."""

    id: str | int
    text: str
    gold: frozenset[Hashable]
    """The data set's names of the passages: corpus idx, or dia_id."""
    kind: str
    """What the data set calls this sort of question."""
    answers: tuple[str, ...] = ()
    """All that are right, aliases too; none where the data set has no answer."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents and the questions about them; questions search their own collection only."""

    namespace: str | None
    """Where it goes in the memory; None for the memory's own namespace."""
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named data set; each collection goes into a namespace of its own."""

    name: str
    collections: tuple[Collection, ...]
    notes: tuple[str, ...] = ()
    """What a reader of the figures should know about the files, a sentence each."""


def passage_of(text: str, metadata: Mapping[str, Any], where: str, *, speaker: str | None = None) -> Passage:
    """Return a passage; raise DatasetError that names the place, `where`, of a text that cannot be stored."""
    try:
        return Passage(text, metadata, speaker=speaker)
    except InputError as error:
        raise DatasetError(f"{where}: {error}") from None
