"""`Dissonance`: the calls by which a memory compares statements, and keeps and resolves conflicts."""

from __future__ import annotations

import logging
from dataclasses import replace
from functools import cached_property
from typing import Any

from neurogated import compose
from neurogated.conflict.answers import answers_to
from neurogated.conflict.backlog import ConflictBacklog
from neurogated.conflict.effects import Effect, effect_of
from neurogated.conflict.judge import Content
from neurogated.conflict.settlement import resolution
from neurogated.core.arguments import names_arguments
from neurogated.core.conflicts import CONFLICT, Conflict, Status, conflicts_in
from neurogated.core.filters import Filter
from neurogated.core.judgements import Relation
from neurogated.core.model import checked_count
from neurogated.core.scope import ScopeFilter, UserChoice
from neurogated.core.text import checked_text
from neurogated.errors import InputError, MemoryClosedError, StorageError, UnknownIdError
from neurogated.runtime import Event
from neurogated.wired import Wired

__all__ = ["Dissonance"]

_log = logging.getLogger(__name__)

_STATUSES = ("open", "resolved", None)
_ANSWERS = ("both", "supersede")
"""The answers to a conflict besides the ids of its sides."""


@names_arguments
class Dissonance(Wired):
    """Base of `NeuroGraphMemory` with the calls about contradictions."""

    def compare(self, first: Content, second: Content) -> Relation:
        """Return how two statements relate; nothing is stored.

        Args:
            first: a text, or a fact: a mapping with `subject`, `attribute` and `value`. A text with times is a mapping
                with `content`. Either may have `timestamp` (when it was said), `valid_from` and `valid_to`.
            second: another.

        Returns:
            A contradiction, supersession, refinement, duplicate or independent pair, with confidence and reason. The
            first two have an outcome: one statement is superseded or wrong, or both are contested. A text of more than
            4,000 characters is independent.

        Raises:
            InputError: a fact lacks a part, or a time cannot be read.
        """
        return self._parts.pair_judge.compare(first, second)

    def conflicts(
        self, status: Status | None = "open", *, user_id: UserChoice = None, limit: int | None = None
    ) -> list[Conflict]:
        """Return the conflicts between memories, the latest first.

        `evidence` of a conflict has the messages that may answer its question; they change nothing by themselves.

        Args:
            status: `open` or `resolved`; both when it is None.
            user_id: the user whose conflicts are found, with those of memories without an owner; without one, only the
                latter.
            limit: return at most this many.

        Raises:
            InputError: the status is unknown, or the limit is negative.
        """
        if status not in _STATUSES:
            raise InputError(f"the status is {status!r}, but must be 'open', 'resolved' or None for both")
        checked_count("limit", 0 if limit is None else limit)
        nodes = self.store.find(Filter(kinds=(CONFLICT,), scope=ScopeFilter(user_id)))
        found = [one for one in conflicts_in(self.store.view(), nodes) if status in {None, one.status}]
        asked = self._asked(self.store, found[::-1][:limit])
        most = self.config.metabolism.conflict_answers
        return [replace(one, evidence=answers_to(self.store, one, most)) for one in asked]

    def resolve(self, conflict_id: str, keep: str, *, because: str | None = None) -> Conflict:
        """Give a conflict an outcome, in one delta that `undo` takes back. A later call gives it another outcome.

        Args:
            conflict_id: the conflict.
            keep: the id of the right memory: the other one is wrong, and held at no time. Or `both`: both stand. Or
                `supersede`: the memory that began earlier holds until the other begins. The id of a side comes first.
            because: the reason, such as the answer of the user.

        Raises:
            UnknownIdError: there is no such conflict, or one of its memories is gone.
            InputError: `keep` is none of these.
        """
        if because is not None:
            checked_text("the reason", because)
        with self._writer.exclusively():
            conflict = self._conflict(checked_text("the id of a conflict", conflict_id))
            if keep not in {*_ANSWERS, *conflict.sides}:
                raise InputError(
                    f"keep is {keep!r}, but must be 'both', 'supersede', or one of {' and '.join(conflict.sides)}"
                )
            delta, resolved = resolution(self.store, conflict, keep, because, self._parts.clock())
            self.store.apply(delta)
            (asked,) = self._asked(self.store, [resolved])
        self._runtime.follow(self.store, self.config.namespace)
        return asked

    def effects(self, conflict_id: str) -> list[Effect]:
        """Return the changes that each answer to a conflict would make; nothing is written.

        Returns:
            The effects of keeping the first memory, the second one, `both`, and of `supersede`.

        Raises:
            UnknownIdError: there is no such conflict, or one of its memories is gone.
        """
        conflict, now = self._conflict(checked_text("the id of a conflict", conflict_id)), self._parts.clock()
        answers = dict.fromkeys((*conflict.sides, *_ANSWERS))
        return [effect_of(self.store, conflict, keep, now) for keep in answers]

    def _conflict(self, conflict_id: str) -> Conflict:
        found = conflicts_in(self.store.view(), self.store.get_nodes([conflict_id], missing_ok=True))
        if not found:
            raise UnknownIdError(f"there is no conflict {conflict_id!r}; conflicts() lists them")
        return found[0]

    @cached_property
    def _backlog(self) -> ConflictBacklog | None:
        return compose.build_backlog(self.config, self._parts, self._writer.exclusively)

    def _judge_conflicts(self, calls: int | None, *, patient: bool = True) -> int:
        if self._backlog is None:
            return 0
        with self._runtime.reading():
            settled, made = self._backlog.work(
                self._parts.clock, calls, patient=patient, stopped=lambda: self._runtime.closing
            )
        self._writer.found_conflicts.extend(made)
        self._tell_conflicts()
        return settled

    def _told(self, event: Event, *about: Any) -> None:  # noqa: ANN401 - each event has its own arguments
        super()._told(event, *about)
        self._tell_conflicts()
        if event in {"added", "updated"}:
            try:
                self._judge_conflicts(self.config.metabolism.conflict_calls, patient=False)
            except (StorageError, MemoryClosedError) as error:
                # The write is complete, so it raises nothing; its memories stay in the queue.
                _log.warning("the conflicts of new memories wait for the language model: %s", error)

    def _tell_conflicts(self) -> None:
        """Tell the callbacks of the conflicts that were found since the last time."""
        waiting = self._writer.found_conflicts
        new = [waiting.popleft() for _ in range(len(waiting))]
        nodes = self.store.get_nodes(new, missing_ok=True) if new else []
        if nodes:
            self._runtime.follow(self.store, self.config.namespace)
        for conflict in self._asked(self.store, conflicts_in(self.store.view(), nodes)):
            self._runtime.tell("conflict", conflict)
