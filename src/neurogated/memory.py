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
from neurogated.conflict.checker import ConflictChecker
from neurogated.consolidating import Consolidation
from neurogated.contextual import Contextual
from neurogated.core.arguments import names_arguments
from neurogated.core.filters import FilterOptions, owned
from neurogated.core.model import MemoryNode
from neurogated.core.references import MemoryRef, id_of, listed
from neurogated.core.scope import Scope
from neurogated.core.trace import Feedback, Recall, RecalledMemory
from neurogated.dissonance import Dissonance
from neurogated.errors import ConfigError, InputError
from neurogated.ingestion.analysers import Analysis
from neurogated.ingestion.contents import Content, Details, read_contents
from neurogated.ingestion.document import About, Document, read_documents
from neurogated.ingestion.revision import Changes, revision_of
from neurogated.ingestion.writer import Writer
from neurogated.metabolism import Metabolism
from neurogated.plasticity.plasticity_engine import Outcome, PlasticityEngine, strength_of
from neurogated.progress import show_progress
from neurogated.retrieval.neuro_retriever import NeuroRetriever, RecallOptions
from neurogated.runtime import Runtime
from neurogated.upkeep import Upkeep

__all__ = ["NeuroGraphMemory", "show_progress"]


@names_arguments
class NeuroGraphMemory(Contextual, Dissonance, Upkeep, Metabolism, Consolidation, Browsing, Asynchronous):
    """A memory: add texts and messages, and recall them by questions.

    When a call returns, its writes are on disk. Use it as a context manager, or call `close`.

    Attributes:
        config: the settings.
        store: the graph.
        retriever: recalls without counting accesses.
        plasticity: learns from accesses and feedback.
    """

    def __init__(
        self, config: MemoryConfig | None = None, *, parts: Parts | None = None, runtime: Runtime | None = None
    ) -> None:
        """Open the memory that `config` describes, or wire up `parts`.

        Args:
            config: settings; from the environment and the defaults when left out.
            parts: built parts; built from `config` when left out.
            runtime: the runtime of another namespace of the same memory; a new one when left out.

        Raises:
            StorageError: the memory cannot be opened; see its subclasses.
            EmbedderMismatchError: the memory was built with another embedder.
            ConfigError: a setting does not fit.
        """
        if not isinstance(config, MemoryConfig | None):
            raise ConfigError(f"the config is {config!r}, but must be a MemoryConfig, as in MemoryConfig(save_dir=…)")
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
                on_canvas=self._on_canvas,
            )
        except ConfigError:
            if parts is None:
                self.store.close()
            raise
        self._runtime = runtime or Runtime(
            self.config, self._parts.clock, self.store, self._parts.facts, self._parts.caches
        )
        self.plasticity = PlasticityEngine(self.store, self.config, self._parts.clock)
        # Only calls of a language model wait; threads would slow the other analysers down.
        workers = 1 if self._parts.language_model is None else self.config.llm.concurrency
        judges = self._parts.causal_judge, self._parts.entity_finder
        analysis = Analysis(*judges, workers, self._parts.encoder, self._parts.statement_judge)
        queues, settings = self._parts.language_model is not None, self.config.metabolism
        check = ConflictChecker(self.store, self._parts.statement_judge, settings, queues=queues).checked
        writer = Writer(self.store, self._parts.embedder, analysis, self.config, self._parts.clock, check=check)
        self._writer = self._runtime.writers.shared(self.config.namespace, self.store, writer)
        self._begin_background()

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

        With a `session_id`, a text or message is a turn. A turn follows the earlier turns of its session, by
        `timestamp` and then by arrival. The same words said twice are two memories.
        Without a session it is a document. Adding the same document again adds no memory; new details replace old ones.

        A message of the assistant that repeats a memory is linked to it if a recall handed it out lately. The memory
        counts as used. Callbacks of the event `echoed` get the text and the ids.

        Args:
            content: a text, or a message such as `{"role": "user", "content": "I moved to Lyon."}`, which may also
                have `name`, `timestamp`, `id` and `metadata`; or a list of either.
            user_id: the user who owns it; without one, every user finds it.
            agent_id: the agent that it belongs to.
            session_id: the conversation that it is a part of.
            path: a place in your own tree.
            **details: title, metadata, times and more; see `Details`.

        Returns:
            The ids of its memories in order; a long text has several. For a message that
            `metabolism.skip_echoes` leaves out, the ids of the quoted memories.

        Raises:
            InputError: a content cannot be stored. Batches of `indexing.batch_size` chunks before it are stored.
        """
        return self._add_news(read_contents(content, scope=Scope(user_id, agent_id, session_id, path), **details))

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
        """Remember a text.

        A long text is stored in batches of `indexing.batch_size` chunks. After a failure, add it again to store the
        rest.

        Args:
            text: of any length; it is cut into chunks of whole sentences.
            title: the subject of the text; it is embedded with the text.
            metadata: JSON values, stored with every chunk.
            ttl: lifetime from now, as a timedelta or in seconds; no limit when left out. No recall finds an expired
                memory.
            valid_from: when the fact in the text began to hold; see `recall`.
            valid_to: when the fact ceased to hold.
            **about: its owner as `user_id`, `agent_id`, `session_id` and `path`, and its `kind`, `importance`,
                `timestamp` and `tags`; see `About`.

        Returns:
            The ids of its nodes in order. The same text, title and scope give the same ids; new metadata, times, kind,
            importance and tags replace the old ones.

        Raises:
            InputError: the text is blank or not a string, or a time is invalid. Nothing is stored.
        """
        document = Document.from_text(
            text, title=title, metadata=metadata, ttl=ttl, valid_from=valid_from, valid_to=valid_to, **about
        )
        (ids,) = self.add_documents([document], progress=False)
        return ids

    def add_documents(
        self, documents: Iterable[str | Document | Mapping[str, Any]], *, progress: bool | None = None
    ) -> list[list[str]]:
        """Remember many documents, embedded and written in batches.

        Args:
            documents: texts, `Document`s, or mappings with `text` and optionally `title`, `metadata`, `ttl` (a
                timedelta or seconds), `valid_from`, `valid_to` and the fields of `About`.
            progress: show a progress bar; None shows it if the output is a terminal.

        Returns:
            The node ids of each document, in order.

        Raises:
            InputError: a document cannot be stored; the message names its position. Batches before it are stored.
        """
        total = len(documents) if isinstance(documents, Sized) else None
        stored = self._writer.add(read_documents(documents))
        with self._runtime.work("indexing"):
            added = list(show_progress(stored, "indexing", "document", total=total, progress=progress))
        self._told("added", [node_id for ids in added for node_id in ids])
        return added

    def delete(self, ids: str | UUID | Iterable[str | UUID] | None = None, **filters: Unpack[FilterOptions]) -> int:
        """Delete memories with their edges and with all data derived from their texts; all or none.

        Deleted memories are not recalled. They stay in the history of the graph until `compact`. Filters such as
        `user_id` delete all memories that they admit, and empty the caches. A filter by user never admits memories
        without an owner.

        Args:
            ids: one id or several; ids deleted before are skipped and logged. The id you gave to a long text names all
                its memories.
            **filters: delete the memories that they admit instead; see `FilterOptions`.

        Returns:
            How many memories were deleted.

        Raises:
            UnknownIdError: an id never was in the memory, or a compaction erased it. Nothing is deleted.
            InputError: there are neither ids nor filters, or both, or a value is not an id.
        """
        if (ids is None) == (not filters):
            raise InputError("give either the ids of memories or filters such as user_id='ana'")
        if ids is not None:
            names = self._writer.delete(map(id_of, listed(ids)))
        else:
            if all(value is None or value in ((), [], frozenset(), set()) for value in filters.values()):
                raise InputError(f"no filter has a value ({', '.join(filters)}); name the memories to delete")
            names = self._writer.delete_all(owned(filters))
        self._told("deleted", names)
        if ids is None:
            self._clear_caches()
        return len(names)

    def delete_document(self, document_id: str) -> int:
        """Delete all memories of a document, by their `found.document_id`; see `delete`.

        Raises:
            UnknownIdError: no memory belongs to this document.
        """
        names = self._writer.delete_document(document_id)
        self._told("deleted", names)
        return len(names)

    def update(self, node_id: str | UUID, content: str | None = None, **changes: Unpack[Changes]) -> MemoryNode:
        """Write a new version of a memory; the history keeps the old one until `compact(history=True)`.

        SIM, TERM and MENTION edges are rebuilt for the new text. CAUSE edges are judged again if the content changes.
        SEQ and ASSOC edges stay. Fields left out stay.

        Args:
            node_id: the memory; the id you gave to a long text names all its memories.
            content: its new text, stored as one chunk. `times` and `entities` are extracted again.
            **changes: other new fields; see `Changes`.

        Returns:
            The new version.

        Raises:
            UnknownIdError: the id is not in the memory.
            InputError: nothing is given, or a value cannot be stored. Nothing is changed.
        """
        with self._runtime.work("updating"):
            node = self._writer.update(str(node_id), revision_of(content, changes))
        self._told("updated", node)
        return node

    def retrieve(self, query: str, **options: Unpack[RecallOptions]) -> list[str]:
        """Return the contents of the memories that `query` recalls, best first; see `recall`."""
        return [memory.content for memory in self.recall(query, **options)]

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Return the memories that `query` recalls, with scores, their parts, and the paths of the activation.

        With `user_id` a recall finds the memories of this user and those without an owner. Without it, a recall finds
        only memories without an owner.

        Args:
            query: a question or any text.
            **options: `top_n`, how many memories, `TOP_N_RETRIEVAL` when left out; `as_of`, a time or a `sequence` of
                `history`, answers from the graph as it was then; `valid_at`, a time, answers with facts that held
                then, by `valid_from` and `valid_to`. Recalls with `as_of` or `valid_at` do not count as accesses.
                `FilterOptions` lists the filters.

        Raises:
            InputError: the query is blank, `top_n` is less than 1, a time is invalid, or the delta does not exist.
        """
        (recall,) = self._recalls([query], **options)
        return recall

    def retrieve_batch(self, queries: Sequence[str], **options: Unpack[RecallOptions]) -> list[list[str]]:
        """Return the contents that each query recalls; all queries are embedded in one batch. See `recall`."""
        return [[memory.content for memory in recall] for recall in self._recalls(queries, **options)]

    def feedback(self, relevant_node_ids: MemoryRef | Iterable[MemoryRef], outcome: Outcome = "success") -> Feedback:
        """Learn from an outcome: success strengthens the edges among these memories (LTP), failure weakens them.

        Their energy and importance change likewise. After success, each memory gets ASSOC edges to the next
        five, unless a plastic edge connects the pair. A frozen memory learns nothing. Memories
        that were deleted or expired since the recall are skipped and logged.

        Args:
            relevant_node_ids: a `Recall`, one or several memories, nodes or ids. A compaction erases the ids of deleted
                memories, so such an id is unknown. A `RecalledMemory` is never unknown.
            outcome: `success`, `fail`, or a number from 1 to -1.

        Returns:
            How many edges were strengthened, weakened or added, and the ids that were skipped.

        Raises:
            UnknownIdError: an id never was in the memory. Nothing is changed.
            InputError: a value is not an id.
        """
        given, strength = list(listed(relevant_node_ids)), strength_of(outcome)
        ids = list(dict.fromkeys(map(id_of, given)))
        recalled = {one.id for one in given if isinstance(one, RecalledMemory)}
        with self._writer.exclusively():
            if self._runtime.is_frozen():
                return Feedback(0)
            learned = self.plasticity.reinforce_recalled(ids, recalled, strength)
        self._runtime.tell("learned", ids, strength)
        return learned

    def maintenance(self, now: datetime | None = None) -> int:
        """Remove expired memories, and decay idle edges (LTD); SIM edges never decay.

        In a frozen memory nothing decays, but expired memories are removed. The history records how many.

        Args:
            now: the present time; the clock's when left out.

        Returns:
            How many edges decayed to nothing and were removed.

        Raises:
            InputError: `now` is not a time.
        """
        self._writer.sweep(now := self._moment(now))
        self._runtime.follow(self.store, self.config.namespace)
        self.flush()
        with self._writer.exclusively():
            if self._runtime.is_frozen():
                return 0
            before = self.store.view().live_edges().size
            self.plasticity.decay_unused(now)
            return before - self.store.view().live_edges().size

    def in_namespace(self, namespace: str) -> Self:
        """Return the graph of another namespace of this memory, created if there is none; graphs never share data.

        It shares this memory's file, model, callbacks and freeze, and is valid until this memory is closed.

        Raises:
            ConfigError: the store has a single graph only, or the name is empty.
        """
        store = self._several_graphs()
        config = self.config.replace(namespace=namespace)
        parts = dataclasses.replace(self._parts, store=store.in_namespace(namespace))
        return type(self)(config, parts=parts, runtime=self._runtime)

    def close(self) -> None:
        """Write the accesses of all namespaces; a memory that owns its file and models also closes them."""
        if self.store.closed:
            return
        try:
            self._end_background()
            self._runtime.accesses.flush_if_possible()
        finally:
            if self._owns_parts:
                self.store.close()
                for part in (self._parts.embedder, self._parts.canvas, self._parts.language_model):
                    if part is not None:
                        part.close()
                self._runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _recalls(self, queries: Sequence[str], **options: Unpack[RecallOptions]) -> list[Recall]:
        with self._runtime.work("recalling"):
            found = self.retriever.recall_batch(queries, **options)
            recalls = [self._with_questions(recall, options.get("as_of")) for recall in found]
        for recall in recalls:
            self._recalled(recall, options)
        return recalls
