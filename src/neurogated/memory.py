"""`NeuroGraphMemory`: the facade that wires the parts together."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence, Sized
from datetime import datetime, timedelta
from typing import Any, Self, Unpack
from uuid import UUID

from neurogated import compose
from neurogated.asynchronous import Asynchronous
from neurogated.browsing import Browsing
from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.arguments import names_arguments
from neurogated.core.clock import checked_moment
from neurogated.core.filters import FilterOptions, owned
from neurogated.core.forking import bind_to_process
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.core.trace import Feedback, Recall, RecalledMemory
from neurogated.errors import ConfigError, InputError
from neurogated.ingestion.analysers import Analysis
from neurogated.ingestion.contents import Content, Details, read_contents
from neurogated.ingestion.document import About, Document, read_documents
from neurogated.ingestion.revision import Changes, revision_of
from neurogated.ingestion.writer import Writer
from neurogated.plasticity.plasticity_engine import Outcome, PlasticityEngine, strength_of
from neurogated.progress import show_progress
from neurogated.retrieval.neuro_retriever import NeuroRetriever, RecallOptions
from neurogated.runtime import Runtime
from neurogated.upkeep import Upkeep

__all__ = ["NeuroGraphMemory", "show_progress"]

MemoryRef = str | UUID | MemoryNode | RecalledMemory
"""A memory, or its id."""


@names_arguments
class NeuroGraphMemory(Upkeep, Browsing, Asynchronous):
    """A memory: add texts and messages, and recall them by questions.

    When a call returns, its writes are on disk. Use it as a context manager, or call `close`.

    Attributes:
        config: the settings.
        store: the graph.
        retriever: the recall of this memory, without the counting of use.
        plasticity: how use changes the graph.
    """

    def __init__(
        self, config: MemoryConfig | None = None, *, parts: Parts | None = None, runtime: Runtime | None = None
    ) -> None:
        """Open the memory that `config` describes, or wire up `parts`.

        Args:
            config: settings; from the environment and the defaults when left out.
            parts: built parts; built from `config` when left out.
            runtime: of the memory whose other namespace this is; a new one when left out.

        Raises:
            StorageError: the memory cannot be opened; see its subclasses.
            EmbedderMismatchError: it was built with another embedder.
            ConfigError: a setting does not fit.
        """
        self.config = compose.load_config() if config is None else config
        self._parts = compose.build(self.config) if parts is None else parts
        self._owns_parts = runtime is None
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
        self._runtime = Runtime(self.config, self._parts.clock, self.store) if runtime is None else runtime
        self.plasticity = PlasticityEngine(self.store, self.config, self._parts.clock)
        # Only calls of a language model are waited for; side by side, all others would be slower.
        workers = 1 if self._parts.language_model is None else self.config.llm.concurrency
        analysis = Analysis(self._parts.causal_judge, self._parts.entity_finder, workers)
        writer = Writer(self.store, self._parts.embedder, analysis, self.config, self._parts.clock)
        self._writer = self._runtime.writers.shared(self.config.namespace, self.store, writer)
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the parts learn it by themselves
        """Leave closing the parts to the parent process, in a forked child."""
        self._owns_parts = False

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
        with self._runtime.work("indexing"):
            added = [node_id for ids in self._writer.add(documents) for node_id in ids]
        self._runtime.tell("added", added)
        return added

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
        with self._runtime.work("indexing"):
            added = list(show_progress(stored, "indexing", "document", total=total, progress=progress))
        self._runtime.tell("added", [node_id for ids in added for node_id in ids])
        return added

    def delete(self, ids: str | UUID | Iterable[str | UUID] | None = None, **filters: Unpack[FilterOptions]) -> int:
        """Forget memories, with their edges and all that follows from their texts in others; at once or not at all.

        Deleted memories are not recalled any more, and stand in the past of the graph until `compact`. With filters
        such as `user_id` all memories that they admit go, and the caches are emptied; those of no user stay.

        Args:
            ids: which memory or memories; those that are gone already are passed over, and the log names them.
            **filters: delete what they admit instead; see `FilterOptions`.

        Returns:
            How many there were.

        Raises:
            UnknownIdError: an id never was in the memory, or was erased by a compaction; nothing was changed.
            InputError: there are neither ids nor filters, or both, or the ids are no ids.
        """
        if (ids is None) == (not filters):
            raise InputError("give either the ids of memories or filters such as user_id='ana'")
        if ids is not None:
            names = list(dict.fromkeys(map(_id, _listed(ids))))
            count = self._writer.delete(names)
        else:
            names = self._writer.delete_all(owned(filters))
            count = len(names)
            self._clear_caches()
        self._runtime.tell("deleted", names)
        return count

    def delete_document(self, document_id: str) -> int:
        """Forget all memories of a document, by their `found.document_id`; see `delete`.

        Raises:
            UnknownIdError: the memory has none of such a document.
        """
        return self._writer.delete_document(document_id)

    def update(self, node_id: str | UUID, content: str | None = None, **changes: Unpack[Changes]) -> MemoryNode:
        """Put a new version of a memory in its place; the old one stays in the history until `compact(history=True)`.

        Edges follow: SIM, TERM and MENTION fit the new text, causes are judged anew where the content changes; SEQ and
        ASSOC stay. What is left out stays as it is.

        Args:
            node_id: which memory.
            content: its new text, kept as one chunk. `times` and `entities` are found anew.
            **changes: what else is to be different; see `Changes`.

        Returns:
            The new version.

        Raises:
            UnknownIdError: the id is not in the memory.
            InputError: nothing is given, or something that cannot be stored; nothing was changed.
        """
        with self._runtime.work("updating"):
            node = self._writer.update(str(node_id), revision_of(content, changes))
        self._runtime.tell("updated", node)
        return node

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

    def feedback(self, relevant_node_ids: MemoryRef | Iterable[MemoryRef], outcome: Outcome = "success") -> Feedback:
        """Say how memories served: after success the edges among them grow stronger (LTP), after failure weaker.

        After success, pairs that no plastic edge connects get an ASSOC edge, each memory with the `ASSOC_NEIGHBORS`
        that follow it. A frozen memory learns nothing. Memories that are gone, because they were deleted or expired
        since the recall, are passed over; the log names them.

        Args:
            relevant_node_ids: a `Recall`, some of its memories, nodes, or ids. A compaction erases also the id of a
                deleted memory, which then is unknown; a memory of a recall is never unknown.
            outcome: `success`, `fail`, or a number between them, from 1 to -1.

        Returns:
            How many edges were strengthened, weakened or made, with the ids of those that are gone.

        Raises:
            UnknownIdError: an id never was in the memory; nothing was changed.
            InputError: the ids are no ids.
        """
        given = list(_listed(relevant_node_ids))
        ids = list(dict.fromkeys(_id(one) for one in given))
        strength = strength_of(outcome)
        recalled = {one.id for one in given if isinstance(one, RecalledMemory)}
        with self._writer.exclusively():
            if self._runtime.is_frozen():
                return Feedback(0)
            learned = self.plasticity.reinforce_recalled(ids, recalled, strength)
        self._runtime.tell("learned", ids, strength)
        return learned

    def maintenance(self, now: datetime | None = None) -> int:
        """Remove what has expired, and let what lies idle fade (LTD); SIM edges never do.

        In a frozen memory nothing fades; what has expired goes all the same. The history says how many memories went.

        Args:
            now: the time that counts as present; the clock's when left out.

        Returns:
            How many edges faded away altogether.

        Raises:
            InputError: `now` is no time.
        """
        checked_moment("now", now)
        self._writer.expire(self._parts.clock() if now is None else now)
        self.flush()
        with self._writer.exclusively():
            if self._runtime.is_frozen():
                return 0
            before = self.store.view().live_edges().size
            self.plasticity.decay_unused(now)
            return before - self.store.view().live_edges().size

    def in_namespace(self, namespace: str) -> NeuroGraphMemory:
        """Return another graph of the same memory, made if there is none; neither ever sees the other.

        It shares this memory's file, model, callbacks and freeze, and is valid until this memory is closed.

        Raises:
            ConfigError: the store has a single graph only, or the name is empty.
        """
        store = self._several_graphs()
        config = self.config.replace(namespace=namespace)
        parts = dataclasses.replace(self._parts, store=store.in_namespace(namespace))
        return NeuroGraphMemory(config, parts=parts, runtime=self._runtime)

    def close(self) -> None:
        """Write what was used in all namespaces and release file and model; what `in_namespace` gave only writes."""
        if self.store.closed:
            return
        try:
            self._runtime.accesses.flush_if_possible()
        finally:
            if self._owns_parts:
                self.store.close()
                self._parts.embedder.close()
                if self._parts.language_model is not None:
                    self._parts.language_model.close()
                self._runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _recalls(self, queries: Sequence[str], **options: Unpack[RecallOptions]) -> list[Recall]:
        with self._runtime.work("recalling"):
            recalls = self.retriever.recall_batch(queries, **options)
        for recall in recalls:
            self._runtime.tell("recalled", recall)
        gathers = not (self.config.read_only or self._runtime.is_frozen())
        if gathers and options.get("as_of") is None and options.get("valid_at") is None:
            for recall in recalls:
                self._runtime.accesses.add(self.store, recall.mark)
        return recalls


def _listed(ids: MemoryRef | Iterable[MemoryRef]) -> Iterable[MemoryRef]:
    if isinstance(ids, str | UUID | MemoryNode | RecalledMemory):
        return [ids]
    if not isinstance(ids, Iterable):
        raise InputError(f"the ids are {ids!r}, but must be an id or a list of ids")
    return ids


def _id(one: MemoryRef) -> str:
    return one.id if isinstance(one, MemoryNode | RecalledMemory) else str(one)
