"""`NeuroGraphMemory`: the facade that wires the parts together."""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sized
from datetime import timedelta
from typing import Any, Self, TypeVar

from tqdm import tqdm

from neurogated import compose
from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.delta import AccessMark, GraphDelta
from neurogated.core.ports import SupportsNamespaces
from neurogated.core.trace import Recall
from neurogated.errors import ConfigError, InputError, StorageError
from neurogated.ingestion.document import Document
from neurogated.ingestion.ingestion_engine import IngestionEngine
from neurogated.retrieval.neuro_retriever import NeuroRetriever

__all__ = ["NeuroGraphMemory", "show_progress"]

T = TypeVar("T")

_log = logging.getLogger(__name__)


class NeuroGraphMemory:
    """A memory: put documents in, ask questions, get what they bring up.

    What a method returned from is on disk. Use it as a context manager, or call `close`.

    Attributes:
        config: the settings.
        store: the graph.
        retriever: the recall of this memory, without the counting of use.
    """

    def __init__(self, config: MemoryConfig | None = None, *, parts: Parts | None = None) -> None:
        """Open the memory that `config` describes, or wire up `parts`.

        Args:
            config: settings; from the environment and the defaults when left out.
            parts: built parts; built from `config` when left out.

        Raises:
            StorageError: the memory cannot be opened; see its subclasses.
            EmbedderMismatchError: it was built with another embedder.
            ConfigError: a setting does not fit.
        """
        self.config = compose.load_config() if config is None else config
        self._parts = compose.build(self.config) if parts is None else parts
        self._owns_parts = True
        self.store = self._parts.store
        self.retriever = NeuroRetriever(
            self.store, self.config, embedder=self._parts.embedder, kernel_source=self._parts.kernel_source
        )
        self._ingestion = IngestionEngine(self.store, self._parts.embedder, self.config, self._parts.clock)
        self._marks = AccessMark()
        self._marks_since = self._parts.clock()
        self._marks_lock = threading.Lock()

    def add_document(
        self, text: str, *, title: str | None = None, metadata: Mapping[str, Any] | None = None
    ) -> list[str]:
        """Remember a text.

        Args:
            text: of any length; it is cut into chunks of whole sentences.
            title: what the text is about; it takes part in what is embedded.
            metadata: JSON values, kept with every chunk.

        Returns:
            The ids of its nodes in order. The same text and title give the same ids and change nothing.

        Raises:
            InputError: the text is blank or no text; nothing was stored.
        """
        (ids,) = self._ingestion.add([Document.from_text(text, title=title, metadata=metadata)])
        return ids

    def add_documents(
        self, documents: Iterable[str | Document | Mapping[str, Any]], *, progress: bool | None = None
    ) -> list[list[str]]:
        """Remember many documents, embedding and writing them in batches.

        Args:
            documents: texts, `Document`s, or mappings with `text` and, if there are any, `title` and `metadata`.
            progress: show a bar; None shows it where the output is a terminal.

        Returns:
            The node ids of each document, in order.

        Raises:
            InputError: a document cannot be stored; its position is named. Batches before it are stored.
        """
        total = len(documents) if isinstance(documents, Sized) else None
        stored = self._ingestion.add(_read_documents(documents))
        return list(show_progress(stored, "indexing", "document", total=total, progress=progress))

    def retrieve(self, query: str, *, top_n: int | None = None) -> list[str]:
        """Return the contents of the memories that `query` brings up, best first; see `recall`."""
        return [memory.content for memory in self.recall(query, top_n=top_n)]

    def recall(self, query: str, *, top_n: int | None = None) -> Recall:
        """Return the memories that `query` brings up, with scores, their parts, and the paths of their energy.

        Args:
            query: a question or any text.
            top_n: how many memories; `TOP_N_RETRIEVAL` when left out.

        Raises:
            InputError: the query is blank or `top_n` is less than 1.
        """
        recall = self.retriever.recall(query, top_n=top_n)
        self._mark(recall.mark)
        return recall

    def in_namespace(self, namespace: str) -> NeuroGraphMemory:
        """Return another graph of the same memory, made if there is none; neither ever sees the other.

        It shares this memory's file and model, and is of use until this memory is closed.

        Raises:
            ConfigError: the store has a single graph only, or the name is empty.
        """
        if not isinstance(self.store, SupportsNamespaces):
            raise ConfigError(f"a {type(self.store).__name__} holds a single graph; use another storage for namespaces")
        config = self.config.replace(namespace=namespace)
        parts = dataclasses.replace(self._parts, store=self.store.in_namespace(namespace))
        other = NeuroGraphMemory(config, parts=parts)
        other._owns_parts = False
        return other

    def flush(self) -> None:
        """Write down now which memories were used; otherwise done every `TOUCH_FLUSH_SECONDS` and on close."""
        with self._marks_lock:
            marks, self._marks = self._marks, AccessMark()
            now = self._marks_since = self._parts.clock()
        if marks:
            self.store.apply(GraphDelta(touch=marks, reason="touch", at=now))

    def close(self) -> None:
        """Write down what was used and release file and model; closing twice does no harm."""
        if not self.store.closed:
            self.flush()
        if self._owns_parts and not self.store.closed:
            self.store.close()
            self._parts.embedder.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _mark(self, mark: AccessMark) -> None:
        with self._marks_lock:
            self._marks |= mark
            due = self._parts.clock() - self._marks_since >= timedelta(seconds=self.config.TOUCH_FLUSH_SECONDS)
        if due:
            try:
                self.flush()
            except StorageError as error:
                # Marks are the one thing that may be lost; a question is answered even when the disk is full.
                _log.warning("what was recalled could not be marked as used: %s", error)


def show_progress(
    iterable: Iterable[T], what: str, unit: str, *, total: int | None = None, progress: bool | None = None
) -> Iterable[T]:
    """Return `iterable` with a bar while it is walked; None shows the bar where the output is a terminal."""
    bar: Iterable[T] = tqdm(
        iterable, desc=what, unit=unit, total=total, disable=None if progress is None else not progress
    )
    return bar


def _read_documents(documents: Iterable[str | Document | Mapping[str, Any]]) -> Iterator[Document]:
    for position, item in enumerate(documents):
        try:
            yield _read_document(item)
        except InputError as error:
            raise InputError(f"document {position}: {error}") from None


def _read_document(item: object) -> Document:
    if isinstance(item, Document):
        return item
    if isinstance(item, str):
        return Document.from_text(item)
    if not isinstance(item, Mapping) or "text" not in item:
        raise InputError(f"{item!r} is neither text nor Document nor a mapping with 'text'")
    return Document.from_text(item["text"], title=item.get("title"), metadata=item.get("metadata"))
