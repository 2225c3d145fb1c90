"""`Learning`: feedback, decay, consolidation and freezing."""

from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from itertools import takewhile

from neurogated.consolidation.consolidator import MAX_CALLS, Consolidator
from neurogated.core.commit import BACKGROUND, CAUSE
from neurogated.core.model import checked_count
from neurogated.core.scope import ANY_USER, Scope, UserChoice
from neurogated.core.trace import Feedback, MemoryRef, RecalledMemory, id_of, listed
from neurogated.errors import InputError
from neurogated.knowledge.backlog import parked_in
from neurogated.plasticity.plasticity_engine import Outcome, strength_of
from neurogated.session import compose
from neurogated.session.runtime import show_progress
from neurogated.session.session import Component, Notice, Session
from neurogated.session.subscribers import work_off


class Learning(Component):
    """The calls about learning, as `memory.learning`."""

    def consolidate(
        self,
        now: datetime | None = None,
        *,
        user_id: UserChoice = None,
        max_clusters: int | None = None,
        progress: bool | None = None,
    ) -> list[str]:
        """Link duplicates, ask the models about memories that wait, and merge what belongs together.

        The facts of one person or thing become a memory of the kind `profile`. A cluster of memories that are used
        together becomes a memory of the kind `fact` that the language model writes, or else a `segment` with a title
        and days. They have DERIVED_FROM edges to their sources. One delta stores all, so `undo` takes them back. A
        second call makes no more of the same sources. If a source changes or goes, they are removed. A frozen memory
        makes none. Raises InputError if `now` is not a time, `max_clusters` is less than 1, or `require_user` asks
        for a user.

        Args:
            now: the present time; the clock's when left out.
            user_id: merge this user's memories; those of all users when left out.
            max_clusters: make at most so many. No limit when left out.
            progress: show a progress bar; None shows it if the output is a terminal.

        Returns the ids of the new memories.
        """
        session, at = self._session, self._session.moment(now)
        user_id = session.of_user(user_id)
        if max_clusters is not None and not checked_count("max_clusters", max_clusters):
            raise InputError(f"max_clusters is {max_clusters}, but must be at least 1")
        if session.runtime.is_frozen():
            return []
        self.flush()
        with session.runtime.work("consolidating"):
            session.writer.deduplicate()
            work_off(session, MAX_CALLS, patience=session.config.llm.timeout)
            # When the memory is closed, the background work ends early and stores the facts that it has.
            texts = self._consolidator.prepare(at, user_id, max_clusters)
            texts = takewhile(lambda _: not session.runtime.closing, texts)
            prepared = list(show_progress(texts, "consolidating", "text", progress=progress))
            made = self._consolidator.commit(prepared, session.commit, at)
        if made:
            session.notify(Notice("added", (made,)))
        return made

    def feedback(
        self, relevant: MemoryRef | Iterable[MemoryRef], outcome: Outcome = "success", *, user_id: str | None = None
    ) -> Feedback:
        """Learn from an outcome; see `NeuroGraphMemory.feedback`.

        With `user_id`, nothing is learned of memories that belong to nobody or to another user.
        """
        session, strength, owner = self._session, strength_of(outcome), Scope(user_id).user_id
        given = list(listed(relevant))
        ids = list(dict.fromkeys(map(id_of, given)))
        if owner is not None:
            found = session.store.get_nodes(ids, missing_ok=True)
            others = {node.id for node in found if node.scope.user_id != owner}
            ids = [one for one in ids if one not in others]
        recalled = {one.id for one in given if isinstance(one, RecalledMemory)}
        with session.exclusively():
            if session.runtime.is_frozen():
                return Feedback(0)
            learned = session.plasticity.reinforce_recalled(ids, recalled, strength)
        session.notify(Notice("learned", (ids, strength)))
        return learned

    def maintain(self, now: datetime | None = None) -> int:
        """Remove expired memories, and decay idle edges; see `NeuroGraphMemory.maintenance`."""
        session, now = self._session, self._session.moment(now)
        session.writer.sweep(now)
        session.notify(Notice("changed"))
        self.flush()
        with session.exclusively():
            if session.runtime.is_frozen():
                return 0
            before = session.store.view().live_edges().size
            session.plasticity.decay_unused(now)
            return before - session.store.view().live_edges().size

    def flush(self) -> None:
        """Write the accesses of all namespaces now.

        Otherwise they are written every half minute, when many namespaces were accessed, and on close.
        """
        self._session.runtime.accesses.flush()

    def freeze(self, *, lasting: bool = True) -> None:
        """Stop learning until `unfreeze`: accesses, feedback and time do not change the graph.

        Args:
            lasting: freeze for all processes and beyond `close`; otherwise freeze this object only. A read-only memory
                freezes itself only.
        """
        self.flush()
        self._session.runtime.freeze(frozen=True, lasting=lasting)

    def unfreeze(self) -> None:
        """Learn again, in all processes."""
        self._session.runtime.freeze(frozen=False, lasting=True)

    def resume(self) -> tuple[int, int]:
        """Ask the language models about the memories that wait for one, also those about which it failed before.

        Return how many were judged, and how many are still pending.
        """
        session = self._session
        with session.runtime.work("resuming"):
            return work_off(session), len(session.store.pending())

    def parked(self) -> dict[str, str]:
        """Return the ids of memories about which the language model gave no usable answer, and why not.

        The reason is "" if an earlier version asked. `resume` asks again.
        """
        return {task.nodes[0]: reason for task, reason in parked_in(self._session.store).items()}

    def consolidate_in_background(self) -> None:
        """Consolidate all namespaces every `metabolism.consolidate_seconds`, in a thread, until `close`."""
        seconds = self._session.config.metabolism.consolidate_seconds
        if seconds and not self._session.config.read_only:
            self._session.runtime.repeat(self._session, "consolidation", seconds, _consolidate_all)

    @cached_property
    def _consolidator(self) -> Consolidator:
        return compose.build_consolidator(self._session.config, self._session.parts)


def _consolidate_all(session: Session) -> float:
    """Consolidate all namespaces in the background; return after how many seconds to do so again."""
    CAUSE.set(BACKGROUND)
    for graph in session.all_namespaces():
        Learning(graph).consolidate(user_id=ANY_USER, progress=False)
    return session.config.metabolism.consolidate_seconds
