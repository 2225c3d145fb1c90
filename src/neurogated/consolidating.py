"""`Consolidation`: facts of clusters of memories, made on request or in the background."""

from __future__ import annotations

import weakref
from datetime import datetime
from functools import cached_property
from itertools import takewhile

from neurogated import compose
from neurogated.consolidation.consolidator import Consolidator
from neurogated.core.arguments import names_arguments
from neurogated.core.forking import bind_to_process
from neurogated.core.model import checked_count
from neurogated.errors import InputError
from neurogated.progress import show_progress
from neurogated.wired import Wired

__all__ = ["Consolidation"]


@names_arguments
class Consolidation(Wired):
    """Base of `NeuroGraphMemory` that makes facts of clusters."""

    def consolidate(
        self, now: datetime | None = None, *, max_clusters: int | None = None, progress: bool | None = None
    ) -> list[str]:
        """Link duplicates, judge waiting conflicts, and make a fact of each cluster of memories that are used together.

        The settings `metabolism.consolidation_…` say which clusters become facts; `deduplicate` links duplicates alone.
        A fact has DERIVED_FROM edges to its memories, which stay and lose energy. One delta stores all facts, so `undo`
        takes them back. A second call makes no further fact of the same memories. If a memory is deleted or its text
        changes, its facts are removed. A frozen memory makes no facts.

        Args:
            now: the present time; the clock's when left out.
            max_clusters: the most facts to make; the most used clusters come first. No limit when left out.
            progress: show a progress bar; None shows it if the output is a terminal.

        Returns:
            The ids of the facts.

        Raises:
            InputError: `now` is not a time, or `max_clusters` is less than 1.
        """
        at = self._moment(now)
        if max_clusters is not None and not checked_count("max_clusters", max_clusters):
            raise InputError(f"max_clusters is {max_clusters}, but must be at least 1")
        if self._runtime.is_frozen():
            return []
        self._runtime.accesses.flush()
        with self._runtime.work("consolidating"):
            self._writer.deduplicate()
            self._judge_conflicts(self.config.metabolism.consolidation_calls)
            # When the memory is closed, the background work ends early and stores the facts that it has.
            facts = takewhile(lambda _: not self._runtime.closing, self._consolidator.prepare(at, max_clusters))
            prepared = list(show_progress(facts, "consolidating", "fact", progress=progress))
            made = self._consolidator.commit(prepared, self._writer.exclusively, at)
        if made:
            self._told("added", made)
        return made

    @cached_property
    def _consolidator(self) -> Consolidator:
        return compose.build_consolidator(self.config, self._parts)

    def _begin_background(self) -> None:
        """Bind the memory to its process; consolidate all namespaces every `metabolism.consolidate_seconds`."""
        bind_to_process(self)
        seconds = self.config.metabolism.consolidate_seconds
        if not seconds or self.config.read_only or not self._owns_parts:
            return
        # A memory that is not closed must not live on because of its thread.
        weak = weakref.ref(self)

        def work() -> None:
            memory = weak()
            for graph in () if memory is None else memory._graphs():  # noqa: SLF001 - of the same class
                graph.consolidate(progress=False)

        self._runtime.repeat("consolidation", seconds, work)

    def _end_background(self) -> None:
        if self._owns_parts:
            self._runtime.stop_repeating()
