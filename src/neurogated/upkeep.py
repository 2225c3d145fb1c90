"""`Upkeep`: undo, answers, freezing, compaction, namespaces, snapshots and checks of a memory."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

from neurogated.conflict.settlement import returned
from neurogated.core.abilities import SupportsCheck, SupportsCompaction, SupportsNamespaces, SupportsSnapshot
from neurogated.core.arguments import names_arguments
from neurogated.core.delta import HistoryEntry
from neurogated.core.rendering import render
from neurogated.core.trace import Recall
from neurogated.erasure import erase_copies, forget_copies
from neurogated.errors import ConfigError, InputError
from neurogated.plasticity.undo import undo
from neurogated.progress import show_progress
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.runtime import Event
from neurogated.stats import memory_stats
from neurogated.wired import Wired

__all__ = ["Upkeep"]

# Memories from which a language model answers a question.
_QA_PASSAGES = 5


@names_arguments
class Upkeep(Wired):
    """Base of `NeuroGraphMemory` with the calls that maintain a memory."""

    def undo(self, to: int | None = None) -> HistoryEntry | None:
        """Take back every change after the delta number `to`; weights return to the last bit.

        An undo is a change too: the history records it, and another undo takes it back. Judgements that were pending
        before a change do not become pending again when the change is undone.

        Args:
            to: a `sequence` of `history`, or 0 for the empty memory; only the last change when left out.

        Returns:
            The change that the undo made; None if there was nothing to change.

        Raises:
            InputError: the delta does not exist, or `compact(history=True)` erased the history that the undo needs.
        """
        if to is not None and (isinstance(to, bool) or not isinstance(to, int)):
            raise InputError(f"the change to go back to is {to!r}, but must be a sequence of history()")
        with self._writer.exclusively():
            made = undo(self.store, to, self._parts.clock, returned)
        self._runtime.follow(self.store, self.config.namespace)
        # Memories that return belong on the canvases again, so these are rebuilt.
        self._parts.canvas.clear()
        return made

    def answer(self, recall: Recall) -> str | None:
        """Return the language model's short answer to the recall's question from its first five memories.

        None if no language model is configured.

        Raises:
            LLMError: the model failed.
        """
        if self._parts.language_model is None:
            return None
        prompts = PromptTemplateManager()
        nodes = [memory.node for memory in recall.memories[:_QA_PASSAGES]]
        texts = [render(node) for node in nodes]
        messages = prompts.render("qa", question=recall.query, passages="\n\n".join(texts))
        with self._runtime.reading():
            present = self.store.get_nodes([node.id for node in nodes], missing_ok=True)
            with self._runtime.reading(stale=not {render(node) for node in present}.issuperset(texts)):
                return str(self._parts.language_model.infer_json(messages, prompts.schema("qa"))["answer"])

    def flush(self) -> None:
        """Write the accesses of all namespaces now.

        Otherwise they are written every `learning.access_flush_seconds`, when many namespaces were accessed, and on
        close.
        """
        self._runtime.accesses.flush()

    def freeze(self, *, lasting: bool = True) -> None:
        """Stop learning until `unfreeze`: accesses, feedback and time do not change the graph.

        Args:
            lasting: freeze for all processes and beyond `close`; otherwise freeze this object only. A read-only memory
                freezes itself only.
        """
        self.flush()
        self._runtime.freeze(frozen=True, lasting=lasting)

    def unfreeze(self) -> None:
        """Learn again, in all processes."""
        self._runtime.freeze(frozen=False, lasting=True)

    def resume(self, *, progress: bool | None = None) -> tuple[int, int]:
        """Retry the judgements that a failing language model left pending, and judge the conflicts that wait.

        Returns:
            How many were judged, and how many are still pending.
        """
        waiting = len(self.store.pending())
        with self._runtime.work("resuming"):
            made = sum(show_progress(self._writer.resume(), "resuming", "batch", progress=progress))
            made += self._judge_conflicts(None)
        return made, waiting - made

    def stats(self) -> dict[str, Any]:
        """Return counts: nodes, edges by type, deltas, pending judgements, and whether the memory is frozen."""
        return memory_stats(self.store, self._parts, self.config, frozen=self._runtime.is_frozen())

    def compact(self, *, history: bool = False, forget: Collection[str] = ()) -> int:
        """Erase deleted and expired memories with their history in every namespace and in every place that had them.

        These places are the memory itself, its caches, and the servers of facts and canvases, also those that the
        present settings do not name.

        Args:
            history: also erase the old texts of updated memories. Then `as_of` shows these memories in the past with
                their present text, and `undo` restores no old text.
            forget: places that no longer exist, by the names in the error.

        Returns:
            How many memories were erased; 0 if the store does not support it.

        Raises:
            StorageError: a place is away or in use, so erased words may remain there; the message names it. Compact
                again to complete it.
            InputError: a place in `forget` has received nothing or is in use.
        """
        forget_copies(self.store, self._parts, forget)
        self.flush()
        now = self._parts.clock()
        for graph in self._graphs():
            graph._writer.expire(now)  # noqa: SLF001 - of the same class
        erased = 0
        if isinstance(self.store, SupportsCompaction):
            with self._runtime.work("compacting"):
                erased = self.store.compact(history=True) if history else self.store.compact()
        erase_copies({graph.config.namespace: graph.store for graph in self._graphs()}, self._parts, self.config)
        return erased

    def namespaces(self) -> list[str]:
        """Return the names of all graphs of this memory; raises ConfigError if the store has a single one only."""
        return self._several_graphs().namespaces()

    def drop_namespace(self, name: str) -> None:
        """Remove another graph of this memory with its history.

        Raises:
            ConfigError: the store has a single graph only.
            UnknownIdError: no graph has this name.
            InputError: it is the graph of this memory.
        """
        store = self._several_graphs()
        if self._runtime.facts is not None and name in store.namespaces() and name != self.config.namespace:
            self._runtime.facts.forget(store.in_namespace(name), name)
        store.drop_namespace(name)
        self._parts.canvas.clear()

    def snapshot(self, path: str | Path) -> None:
        """Write a consistent copy of all graphs to one file; the memory stays in use meanwhile.

        Raises:
            ConfigError: the store writes nothing to disk.
            StorageError: the file cannot be written.
        """
        if not isinstance(self.store, SupportsSnapshot):
            raise ConfigError(f"a {type(self.store).__name__} keeps nothing on disk; use another storage for snapshots")
        self.flush()
        self.store.snapshot(Path(path))

    def check(self) -> list[str]:
        """Return the problems of the memory, one per line; none if it is sound or not on disk.

        It checks the file with the checksums of its pages. It rebuilds the graph of every namespace from its journal
        and compares it with the graph in use.
        """
        return self.store.check() if isinstance(self.store, SupportsCheck) else []

    def on(self, event: Event, callback: Callable[..., None]) -> Callable[[], None]:
        """Call `callback` after each event in any namespace; return a function that unregisters it.

        Args:
            event: `added` (with the ids), `updated` (the new version), `deleted` (the ids), `recalled` (the `Recall`),
                `learned` (the ids, and the outcome from -1 to 1), `conflict` (a new `Conflict`) or `echoed` (a text
                that says what memories say, and their ids).
            callback: runs in the thread of the write or recall; its errors are logged.

        Raises:
            InputError: the event does not exist.
        """
        return self._runtime.register(event, callback)

    def _several_graphs(self) -> SupportsNamespaces:
        if not isinstance(self.store, SupportsNamespaces):
            raise ConfigError(f"a {type(self.store).__name__} holds a single graph; use another storage for namespaces")
        return self.store
