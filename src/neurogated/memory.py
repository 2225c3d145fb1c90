"""`NeuroGraphMemory`: the facade that wires the parts together."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar
from uuid import UUID

from tqdm import tqdm

from neurogated import compose
from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.delta import AccessMark, GraphDelta, HistoryEntry
from neurogated.core.ports import SupportsNamespaces
from neurogated.core.rendering import quoted
from neurogated.core.trace import Recall
from neurogated.errors import ConfigError, InputError, MemoryClosedError, StorageError
from neurogated.ingestion.analysis import Analysis
from neurogated.ingestion.document import Document
from neurogated.ingestion.ingestion_engine import IngestionEngine
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.plasticity.undo import delta_back_to
from neurogated.prompts.prompt_manager import PromptTemplateManager
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
        plasticity: how use changes the graph.
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
        try:
            self.retriever = NeuroRetriever(
                self.store,
                self.config,
                embedder=self._parts.embedder,
                kernel_source=self._parts.kernel_source,
                clock=self._parts.clock,
            )
        except ConfigError:
            if parts is None:
                self.store.close()
            raise
        self.plasticity = PlasticityEngine(self.store, self.config, self._parts.clock)
        analysis = Analysis(self._parts.causal_judge, self._parts.entity_finder, self.config.llm_concurrency)
        self._ingestion = IngestionEngine(self.store, self._parts.embedder, analysis, self.config, self._parts.clock)
        self._frozen = False
        self._marks = AccessMark()
        self._marks_since = self._marked_at = self._parts.clock()
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

    def retrieve_batch(self, queries: Sequence[str], *, top_n: int | None = None) -> list[list[str]]:
        """Return the contents that each query brings up; the queries are embedded together. See `recall`."""
        recalls = self.retriever.recall_batch(queries, top_n=top_n)
        for recall in recalls:
            self._mark(recall.mark)
        return [[memory.content for memory in recall] for recall in recalls]

    async def aretrieve(self, query: str, *, top_n: int | None = None) -> list[str]:
        """Return what `retrieve` returns, without holding up the event loop."""
        return await asyncio.to_thread(self.retrieve, query, top_n=top_n)

    async def arecall(self, query: str, *, top_n: int | None = None) -> Recall:
        """Return what `recall` returns, without holding up the event loop."""
        return await asyncio.to_thread(self.recall, query, top_n=top_n)

    def answer(self, recall: Recall) -> str | None:
        """Return the language model's short answer to the recall's question from its first `QA_PASSAGES` memories.

        None where no language model is configured.

        Raises:
            LLMError: the model failed.
        """
        if self._parts.language_model is None:
            return None
        prompts = PromptTemplateManager()
        memories = recall.memories[: self.config.QA_PASSAGES]
        texts = "\n\n".join(quoted(memory.content, memory.metadata) for memory in memories)
        messages = prompts.render("qa", question=recall.query, passages=texts)
        return str(self._parts.language_model.infer_json(messages, prompts.schema("qa"))["answer"])

    def feedback(self, relevant_node_ids: Iterable[str | UUID]) -> int:
        """Say which memories were of use: the edges among them grow stronger (LTP).

        Pairs that no plastic edge connects get an ASSOC edge. A frozen memory learns nothing.

        Returns:
            How many edges were strengthened or made.

        Raises:
            UnknownIdError: an id is not in the memory; nothing was changed.
        """
        ids = [str(node_id) for node_id in relevant_node_ids]
        if self._frozen:
            return 0
        reason = f"feedback on {len(ids)} memories"
        return self.plasticity.reinforce_path(ids, associate=True, reason=reason)

    def maintenance(self, now: datetime | None = None) -> int:
        """Let what lies idle fade (LTD); SIM edges never do. A frozen memory forgets nothing.

        Args:
            now: the time that counts as present; the clock's when left out.

        Returns:
            How many edges faded away altogether.
        """
        if self._frozen:
            return 0
        self.flush()
        before = self.store.view().live_edges().size
        self.plasticity.decay_unused(now)
        return before - self.store.view().live_edges().size

    def history(self) -> list[HistoryEntry]:
        """Return what changed, when and why, oldest first; marks of use are left out."""
        return self.store.history()

    def undo(self, to: int | None = None) -> HistoryEntry | None:
        """Take back every change after the delta number `to`; weights come back to the last bit.

        Taking back is a change too: it stands in the history and can be taken back. Judgements that waited before a
        change do not wait again when it is taken back.

        Args:
            to: a `sequence` of `history`, or 0 for the empty memory; the last change alone when left out.

        Returns:
            What was changed to take it back, None if there was nothing to change.

        Raises:
            InputError: there is no such delta.
        """
        # A last change that changed nothing, such as a round of forgetting in which nothing was idle, is passed over.
        targets = [entry.sequence - 1 for entry in reversed(self.history())] if to is None else [to]
        for target in targets:
            past = self.store.as_of(target)
            delta = delta_back_to(past, self.store, reason=f"undo to {target}", at=self._parts.clock())
            if delta:
                self.store.apply(delta)
                return self.history()[-1]
        return None

    def freeze(self) -> None:
        """Stop learning: from now on neither use nor feedback nor time changes the graph, until `unfreeze`."""
        self.flush()
        self._frozen = True

    def unfreeze(self) -> None:
        """Learn again."""
        self._frozen = False

    def resume(self, *, progress: bool | None = None) -> tuple[int, int]:
        """Make up the judgements that a failing language model left out.

        Returns:
            How many were made, and how many still wait.
        """
        waiting = len(self.store.pending())
        made = sum(show_progress(self._ingestion.resume(), "making up", "batch", progress=progress))
        return made, waiting - made

    def stats(self) -> dict[str, Any]:
        """Return counts: nodes, edges by type, deltas, judgements that wait, and whether the memory is frozen."""
        view = self.store.view()
        codes = view.edge_type[view.live_edges()]
        edges = {kind.name: int((codes == code).sum()) for code, kind in enumerate(view.edge_types)}
        return {
            "namespace": self.config.namespace,
            "nodes": int(view.live_nodes().size),
            "edges": edges,
            "deltas": view.sequence,
            "pending": len(self.store.pending()),
            "frozen": self._frozen,
            "embedder": self._parts.embedder.name,
            "language model": self._parts.language_model.name if self._parts.language_model else None,
        }

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
            self._marks_since = self._parts.clock()
        if marks:
            self.store.apply(GraphDelta(touch=marks, reason="touch", at=self._marked_at))

    def close(self) -> None:
        """Write down what was used and release file and model; closing twice does no harm."""
        if self.store.closed:
            return
        self._flush_if_possible()
        if self._owns_parts:
            self.store.close()
            self._parts.embedder.close()
            if self._parts.language_model is not None:
                self._parts.language_model.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _mark(self, mark: AccessMark) -> None:
        if self._frozen:
            return
        with self._marks_lock:
            self._marks |= mark
            # Use counts from when it was, not from when it is written down.
            self._marked_at = self._parts.clock()
            due = self._marked_at - self._marks_since >= timedelta(seconds=self.config.TOUCH_FLUSH_SECONDS)
        if due:
            self._flush_if_possible()

    def _flush_if_possible(self) -> None:
        try:
            self.flush()
        except (StorageError, MemoryClosedError) as error:
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
