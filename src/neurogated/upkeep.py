"""What a memory offers beside remembering and recalling: lists, its history, its other graphs, copies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from typing import Any, Unpack

from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsCheck, SupportsNamespaces, SupportsSnapshot
from neurogated.core.clock import checked_moment
from neurogated.core.delta import HistoryEntry
from neurogated.core.filters import FilterOptions, filter_of
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import render
from neurogated.core.trace import Recall
from neurogated.core.watchdog import Watchdog
from neurogated.errors import ConfigError, InputError
from neurogated.ingestion.writer import Writer
from neurogated.plasticity.access_log import AccessLog
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.plasticity.undo import undo
from neurogated.progress import show_progress
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.statistics import memory_stats

__all__ = ["Upkeep"]


class Upkeep:
    """Base of `NeuroGraphMemory`: what needs no more than the store.

    Attributes:
        store: the graph.
        config: the settings.
    """

    config: MemoryConfig
    store: GraphStorePort
    plasticity: PlasticityEngine
    _writer: Writer
    _parts: Parts
    _accesses: AccessLog
    _frozen: bool
    _owns_parts: bool
    _threads: ThreadPoolExecutor
    _watchdog: Watchdog

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the parts learn it by themselves
        """Replace the threads in a forked child, and leave closing the parts to the parent process."""
        self._owns_parts, self._threads = False, self._new_threads()
        self._watchdog = Watchdog(self.config.stall_warning_seconds)

    def _new_threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(self.config.recall_concurrency, thread_name_prefix="recall")

    def find(
        self,
        *,
        order_by: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        **filters: Unpack[FilterOptions],
    ) -> list[MemoryNode]:
        """Return memories without a question, in the order they were added.

        Args:
            order_by: a field of MemoryNode such as `importance`, with a minus before it for the largest first.
            limit: how many at most.
            offset: how many of the first are passed over.
            **filters: which memories; see `FilterOptions`.

        Raises:
            InputError: the field has no order, or a name is empty or no text.
            ConfigError: a kind is unknown.
        """
        return self.store.find(filter_of(filters), order_by=order_by, limit=limit, offset=offset)

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
        if self._frozen:
            return 0
        self.flush()
        with self._writer.exclusively():
            before = self.store.view().live_edges().size
            self.plasticity.decay_unused(now)
            return before - self.store.view().live_edges().size

    def resume(self, *, progress: bool | None = None) -> tuple[int, int]:
        """Make up the judgements that a failing language model left out.

        Returns:
            How many were made, and how many still wait.
        """
        waiting = len(self.store.pending())
        with self._watchdog.watch("resuming"):
            made = sum(show_progress(self._writer.resume(), "making up", "batch", progress=progress))
        return made, waiting - made

    def stats(self) -> dict[str, Any]:
        """Return counts: nodes, edges by type, deltas, judgements that wait, and whether the memory is frozen."""
        return memory_stats(self.store, self._parts, self.config, frozen=self._frozen)

    def history(self) -> list[HistoryEntry]:
        """Return what changed, when and why, oldest first; uses are left out."""
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
        if to is not None and (isinstance(to, bool) or not isinstance(to, int)):
            raise InputError(f"the change to go back to is {to!r}, but must be a sequence of history()")
        with self._writer.exclusively():
            return undo(self.store, to, self._parts.clock)

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
        texts = "\n\n".join(render(memory.node) for memory in memories)
        messages = prompts.render("qa", question=recall.query, passages=texts)
        return str(self._parts.language_model.infer_json(messages, prompts.schema("qa"))["answer"])

    def flush(self) -> None:
        """Write now which memories of all namespaces were used.

        Otherwise they are written every `TOUCH_FLUSH_SECONDS`, when many namespaces were used, and on close.
        """
        self._accesses.flush()

    def freeze(self) -> None:
        """Stop learning: from now on neither use nor feedback nor time changes the graph, until `unfreeze`."""
        self.flush()
        self._frozen = True

    def unfreeze(self) -> None:
        """Learn again."""
        self._frozen = False

    def namespaces(self) -> list[str]:
        """Return the names of all graphs of this memory; raises ConfigError where the store has a single one only."""
        return self._several_graphs().namespaces()

    def drop_namespace(self, name: str) -> None:
        """Remove another graph of this memory with its history.

        Raises:
            ConfigError: the store has a single graph only.
            UnknownIdError: there is none of that name.
            InputError: it is the graph of this memory.
        """
        self._several_graphs().drop_namespace(name)

    def snapshot(self, path: str | Path) -> None:
        """Write the memory with all its graphs, as it is at this moment, to one file, while it is in use.

        Raises:
            ConfigError: the store keeps nothing on disk.
            StorageError: the file cannot be written.
        """
        if not isinstance(self.store, SupportsSnapshot):
            raise ConfigError(f"a {type(self.store).__name__} keeps nothing on disk; use another storage for snapshots")
        self.flush()
        self.store.snapshot(Path(path))

    def check(self) -> list[str]:
        """Return what is wrong with the memory, a line each; none if it is sound, or keeps nothing on disk.

        Read are all namespaces: the file with the checksums of its pages, and every graph, which is made anew from its
        journal and compared with the one in use.
        """
        return self.store.check() if isinstance(self.store, SupportsCheck) else []

    def _several_graphs(self) -> SupportsNamespaces:
        if not isinstance(self.store, SupportsNamespaces):
            raise ConfigError(f"a {type(self.store).__name__} holds a single graph; use another storage for namespaces")
        return self.store
