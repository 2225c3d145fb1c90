"""`NeuroGraphMemory`: the facade that wires the parts together."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from datetime import datetime, timedelta
from typing import Any, Self, TypeVar, Unpack
from uuid import UUID

from neurogated import compose
from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsCompaction, SupportsNamespaces
from neurogated.core.forking import bind_to_process
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.core.trace import Feedback, Recall, RecalledMemory
from neurogated.core.watchdog import Watchdog
from neurogated.errors import ConfigError, InputError
from neurogated.ingestion.analysis import Analysis
from neurogated.ingestion.contents import Content, Details, read_contents
from neurogated.ingestion.document import About, Document, read_documents
from neurogated.ingestion.revision import Revision
from neurogated.ingestion.writer import Writer
from neurogated.ingestion.writer_registry import WriterRegistry
from neurogated.plasticity.access_log import AccessLog
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.progress import show_progress
from neurogated.retrieval.neuro_retriever import NeuroRetriever, RecallOptions
from neurogated.upkeep import Upkeep

__all__ = ["NeuroGraphMemory", "show_progress"]

_Named = TypeVar("_Named")


class NeuroGraphMemory(Upkeep):
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
        self._watchdog = Watchdog(self.config.stall_warning_seconds)
        self._threads = self._new_threads()
        self.plasticity = PlasticityEngine(self.store, self.config, self._parts.clock)
        # Only calls of a language model are waited for; side by side, all others would be slower.
        workers = 1 if self._parts.language_model is None else self.config.llm_concurrency
        analysis = Analysis(self._parts.causal_judge, self._parts.entity_finder, workers)
        self._writer = Writer(self.store, self._parts.embedder, analysis, self.config, self._parts.clock)
        self._writers = WriterRegistry()
        self._writers.shared(self.config.namespace, self.store, self._writer)
        self._accesses = AccessLog(self._parts.clock, self.config.TOUCH_FLUSH_SECONDS, self.config.MAX_OPEN_NAMESPACES)
        self._frozen = False
        bind_to_process(self)

    def add(
        self,
        content: Content,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        session_id: str | None = None,
        path: Sequence[str] = (),
        **details: Unpack[Details],
    ) -> list[str]:
        """Remember a text, a message, or a list of them.

        A text or message with a `session_id` is a turn: it follows what was said before in the session, by `timestamp`
        and arrival, and the same words said twice are two memories. Without a session it is a document: the same one
        added twice is one memory, and what is given the second time replaces what was given the first time.

        Args:
            content: a text, or a message such as `{"role": "user", "content": "I moved to Lyon."}`, which may also
                have `name`, `timestamp`, `id` and `metadata`; or a list of either.
            user_id: the user who owns it; without one, every user finds it.
            agent_id: the agent it belongs to.
            session_id: the conversation it is a part of.
            path: a place in a tree of your own.
            **details: what else is known of it; see `Details`.

        Returns:
            The ids of its memories in order; a long text has several.

        Raises:
            InputError: something cannot be stored; nothing was, except batches of `INDEX_BATCH` chunks before it.
        """
        documents = read_contents(content, scope=Scope(user_id, agent_id, session_id, path), **details)
        with self._watchdog.watch("indexing"):
            return [node_id for ids in self._writer.add(documents) for node_id in ids]

    def add_document(
        self,
        text: str,
        *,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        ttl: timedelta | float | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        **about: Unpack[About],
    ) -> list[str]:
        """Remember a text; a long one is stored `INDEX_BATCH` chunks at a time, and adding it again stores the rest.

        Args:
            text: of any length; it is cut into chunks of whole sentences.
            title: what the text is about; it takes part in what is embedded.
            metadata: JSON values, kept with every chunk.
            ttl: how long it is to be remembered, from now, as a timedelta or in seconds; for ever when left out. Then
                nothing recalls it any more.
            valid_from: when what it says began to hold; see `recall`.
            valid_to: when it ceased to hold.
            **about: its owner as `user_id`, `agent_id`, `session_id` and `path`, and its `kind`, `importance`,
                `timestamp` and `tags`; see `About`.

        Returns:
            The ids of its nodes in order. The same text, title and scope give the same ids; new metadata, times, kind,
            importance and tags replace the old ones.

        Raises:
            InputError: the text is blank or no text, or a time is no time; nothing was stored.
        """
        document = Document.from_text(
            text, title=title, metadata=metadata, ttl=ttl, valid_from=valid_from, valid_to=valid_to, **about
        )
        (ids,) = self.add_documents([document], progress=False)
        return ids

    def add_documents(
        self, documents: Iterable[str | Document | Mapping[str, Any]], *, progress: bool | None = None
    ) -> list[list[str]]:
        """Remember many documents, embedding and writing them in batches.

        Args:
            documents: texts, `Document`s, or mappings with `text` and, if there are any, `title`, `metadata`, `ttl` (a
                timedelta or seconds), `valid_from`, `valid_to` and what `About` lists.
            progress: show a bar; None shows it where the output is a terminal.

        Returns:
            The node ids of each document, in order.

        Raises:
            InputError: a document cannot be stored; its position is named. Batches before it are stored.
        """
        total = len(documents) if isinstance(documents, Sized) else None
        stored = self._writer.add(read_documents(documents))
        with self._watchdog.watch("indexing"):
            return list(show_progress(stored, "indexing", "document", total=total, progress=progress))

    def delete(self, ids: Iterable[str | UUID]) -> int:
        """Forget memories, with their edges and all that follows from their texts in others; at once or not at all.

        What was deleted is not recalled any more, and stands in the past of the graph until `compact`.

        Memories that are gone already are passed over; the log names them.

        Returns:
            How many there were.

        Raises:
            UnknownIdError: an id never was in the memory, or was erased by a compaction; nothing was changed.
            InputError: it is one id, and no list.
        """
        return self._writer.delete(map(str, _several(ids)))

    def delete_document(self, document_id: str) -> int:
        """Forget all memories of a document, by the `document_id` in their metadata; see `delete`.

        Raises:
            UnknownIdError: the memory has none of such a document.
        """
        return self._writer.delete_document(document_id)

    def update(
        self,
        node_id: str | UUID,
        content: str | None = None,
        *,
        title: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        ttl: timedelta | float | None = None,
    ) -> MemoryNode:
        """Put a new version of a memory in its place; the old one stays in the history until `compact(history=True)`.

        Edges follow: SIM, TERM and MENTION fit the new text, causes are judged anew where the content changes; SEQ and
        ASSOC stay. What is left out stays as it is.

        Args:
            node_id: which memory.
            content: its new text, kept as one chunk. `times` and `entities` are found anew.
            title: what it is about.
            metadata: merged over what there is; a key with the value None is removed.
            valid_from: when what it says began to hold.
            valid_to: when it ceased to hold.
            ttl: how long it is to be remembered, from now, as a timedelta or in seconds; `timedelta.max` for ever.

        Returns:
            The new version.

        Raises:
            UnknownIdError: the id is not in the memory.
            InputError: nothing is given, or something that cannot be stored; nothing was changed.
        """
        with self._watchdog.watch("updating"):
            return self._writer.update(str(node_id), Revision(content, title, metadata, valid_from, valid_to, ttl))

    def retrieve(self, query: str, **options: Unpack[RecallOptions]) -> list[str]:
        """Return the contents of the memories that `query` brings up, best first; see `recall`."""
        return [memory.content for memory in self.recall(query, **options)]

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Return the memories that `query` brings up, with scores, their parts, and the paths of their energy.

        Args:
            query: a question or any text.
            **options: `top_n`, how many memories, `TOP_N_RETRIEVAL` when left out; `as_of`, answer with what was known
                then, a time or a `sequence` of `history`; `valid_at`, a time, answer with what held in the world then,
                by `valid_from` and `valid_to`; these two count as no use. With `user_id` it also finds this user's
                memories, without it only those of no user. `FilterOptions` lists what narrows it further.

        Raises:
            InputError: the query is blank, `top_n` is less than 1, a time is no time, or there is no such delta.
        """
        (recall,) = self._recalls([query], **options)
        return recall

    def retrieve_batch(self, queries: Sequence[str], **options: Unpack[RecallOptions]) -> list[list[str]]:
        """Return the contents that each query brings up; the queries are embedded together. See `recall`."""
        return [[memory.content for memory in recall] for recall in self._recalls(queries, **options)]

    async def aretrieve(self, query: str, **options: Unpack[RecallOptions]) -> list[str]:
        """Return what `retrieve` returns, without holding up the event loop."""
        return [memory.content for memory in await self.arecall(query, **options)]

    async def arecall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Return what `recall` returns, without holding up the event loop, nor any of `recall_concurrency` others."""
        if self.store.closed:
            self.store.view()  # says why
        # The loop's own threads are few and everybody's.
        asked: list[Any] = [functools.partial(contextvars.copy_context().run, self.recall, query, **options)]
        # The thread takes it out, and so does not refer to this memory any more once the answer is there.
        return await asyncio.get_running_loop().run_in_executor(self._threads, lambda: asked.pop()())  # noqa: PLW0108

    def feedback(self, relevant_node_ids: Iterable[str | UUID | RecalledMemory]) -> Feedback:
        """Say which memories were of use: the edges among them grow stronger (LTP).

        Pairs that no plastic edge connects get an ASSOC edge. A frozen memory learns nothing. Memories that are gone,
        because they were deleted or expired since the recall, are passed over; the log names them.

        Args:
            relevant_node_ids: a `Recall`, some of its memories, or ids. A compaction erases also the id of a deleted
                memory, which then is unknown; a memory of a recall is never unknown.

        Returns:
            How many edges were strengthened or made, with the ids of those that are gone.

        Raises:
            UnknownIdError: an id never was in the memory; nothing was changed.
            InputError: it is one id, and no list.
        """
        given = list(_several(relevant_node_ids))
        ids = list(dict.fromkeys(_id(one) for one in given))
        if self._frozen:
            return Feedback(0)
        recalled = {one.id for one in given if isinstance(one, RecalledMemory)}
        with self._writer.exclusively():
            return self.plasticity.reinforce_recalled(ids, recalled)

    def in_namespace(self, namespace: str) -> NeuroGraphMemory:
        """Return another graph of the same memory, made if there is none; neither ever sees the other.

        It shares this memory's file and model, and is valid until this memory is closed.

        Raises:
            ConfigError: the store has a single graph only, or the name is empty.
        """
        store = self._several_graphs()
        config = self.config.replace(namespace=namespace)
        parts = dataclasses.replace(self._parts, store=store.in_namespace(namespace))
        other = NeuroGraphMemory(config, parts=parts)
        other._owns_parts = False
        other._threads, other._watchdog = self._threads, self._watchdog
        other._writers, other._accesses = self._writers, self._accesses
        other._writer = self._writers.shared(namespace, other.store, other._writer)
        return other

    def compact(self, *, history: bool = False) -> int:
        """Erase for good what was deleted or has expired, in every namespace, with its history, and empty all caches.

        Args:
            history: erase also what memories that are still there said before they were updated. Then `as_of` shows
                them in the past as they are now, and `undo` brings no old text back.

        Returns:
            How many memories were erased; 0 for a store without the ability.
        """
        self.flush()
        now = self._parts.clock()
        for graph in self._graphs():
            graph._writer.expire(now)
        erased = 0
        if isinstance(self.store, SupportsCompaction):
            with self._watchdog.watch("compacting"):
                erased = self.store.compact(history=True) if history else self.store.compact()
        for cache in self._parts.caches:
            cache.clear()
        return erased

    def close(self) -> None:
        """Write what was used in all namespaces and release file and model; what `in_namespace` gave only writes."""
        if self.store.closed:
            return
        try:
            self._accesses.flush_if_possible()
        finally:
            if self._owns_parts:
                self.store.close()
                self._parts.embedder.close()
                if self._parts.language_model is not None:
                    self._parts.language_model.close()
                # Questions under way end, with an error, now that everything is closed.
                self._threads.shutdown()
                self._watchdog.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _graphs(self) -> Iterator[NeuroGraphMemory]:
        """Yield this memory and those of all its other namespaces."""
        yield self
        if isinstance(self.store, SupportsNamespaces):
            for name in self.store.namespaces():
                if name != self.config.namespace:
                    yield self.in_namespace(name)

    def _recalls(self, queries: Sequence[str], **options: Unpack[RecallOptions]) -> list[Recall]:
        with self._watchdog.watch("recalling"):
            recalls = self.retriever.recall_batch(queries, **options)
        gathers = not (self._frozen or self.config.read_only)
        if gathers and options.get("as_of") is None and options.get("valid_at") is None:
            for recall in recalls:
                self._accesses.add(self.store, recall.mark)
        return recalls


def _several(ids: Iterable[_Named]) -> Iterable[_Named]:
    if isinstance(ids, str | UUID) or not isinstance(ids, Iterable):
        raise InputError(f"the ids are {ids!r}, but must be several; give a list, as in [node_id]")
    return ids


def _id(one: str | UUID | RecalledMemory) -> str:
    return one.id if isinstance(one, RecalledMemory) else str(one)
