"""The memories that wait for the judgement of a language model on their conflicts."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import NamedTuple

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.commit import Plan
from neurogated.core.conflicts import CONFLICT, MODEL
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.judgements import Relation
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.watchdog import stage
from neurogated.errors import LLMError
from neurogated.knowledge.checker import WAITING, ConflictChecker, Found
from neurogated.knowledge.model_judge import ModelJudge
from neurogated.knowledge.origin import Owner, owner_of, voice_of
from neurogated.knowledge.uncertain import PairFinder, UncertainPair

__all__ = ["ConflictBacklog"]

# Least confidence of the model from which a conflict is recorded.
_CONFIDENCE = 0.5

_log = logging.getLogger(__name__)

_NEVER = float("-inf")
_FAILURES = 2
"""Calls in a row that may fail before `resume` and `consolidate` end, since one text may confuse the model."""
_READ = 64
"""Waiting memories that are read together, so that a long queue needs no more memory than a short one."""


class _Answer(NamedTuple):
    pair: UncertainPair
    relation: Relation


class _Step(NamedTuple):
    """Memories of which no pair is left, and the answers of a call, with the memories as they were read."""

    done: Sequence[PendingTask]
    answers: Sequence[_Answer]
    read: Mapping[str, MemoryNode]


class ConflictBacklog:
    """Works off the queue of the graph: a write queues each new memory in its own delta.

    The model answers without a lock. Each call of the model becomes one delta under the write lock, which skips each
    memory that was deleted, changed or moved to another owner meanwhile, or that another process has settled. A memory
    stays in the queue until all its pairs have answers.
    """

    def __init__(
        self,
        store: GraphStorePort,
        checker: ConflictChecker,
        judge: ModelJudge,
        settings: MetabolismSettings,
        commit: Callable[[Plan], GraphDelta],
    ) -> None:
        """Take the parts; `commit` writes the delta that a function computes under the write lock."""
        self._store = store
        self._checker = checker
        self._judge = judge
        self._settings = settings
        self._write = commit
        self._finder = PairFinder(store, settings)
        self._lock = threading.Lock()
        self._taken: set[PendingTask] = set()
        self._failures: Counter[PendingTask] = Counter()
        self._resting_until = _NEVER

    def waiting(self) -> list[PendingTask]:
        """Return the memories that wait, oldest first."""
        return [task for task in self._store.pending() if task.kind == WAITING]

    def work(
        self, clock: Callable[[], datetime], calls: int | None, *, patient: bool, stopped: Callable[[], bool]
    ) -> tuple[int, list[str]]:
        """Judge memories that wait, oldest first, and those that failed last.

        Args:
            clock: gives the time of each delta.
            calls: the most calls of the model; no limit when None.
            patient: whether to ask a model that failed lately, and to wait for an answer as long as it takes.
            stopped: whether to end before the next call.

        Returns:
            How many memories were settled, and the ids of the new conflicts.
        """
        if calls == 0 or (not patient and time.monotonic() < self._resting_until):
            return 0, []
        settled, made = 0, list[str]()
        most = None if calls is None else calls * self._settings.conflict_judged_together
        with self._taking(most) as tasks:
            for step in self._steps(tasks, calls, stopped, patient=patient):
                made += self._commit(step, clock())
                settled += len(step.done)
        return settled, made

    def _steps(
        self, tasks: Sequence[PendingTask], calls: int | None, stopped: Callable[[], bool], *, patient: bool
    ) -> Iterator[_Step]:
        """Yield the memories that the rules decide, and the answers of each call, until so many calls in a row fail."""
        number = failed = 0
        failures, seconds = (_FAILURES, None) if patient else (1, self._settings.conflict_deadline)
        for begin in range(0, len(tasks), _READ):
            portion = tasks[begin : begin + _READ]
            nodes = {one.id: one for one in self._store.get_nodes([one.nodes[0] for one in portion], missing_ok=True)}
            left = self._pairs(portion, nodes)
            if decided := [task for task in portion if not left[task]]:
                yield _Step(decided, (), nodes)
            for read in self._batches(left):
                if number == calls or stopped():
                    return
                stage(f"judging conflicts, {number} calls made")
                # The words of a memory that was deleted since it was read stay here; a changed one waits again.
                batch = self._still_there(read)
                answers = self._answers(batch, seconds) if batch else []
                number += bool(batch)
                failed = 0 if answers or not batch else failed + 1
                if failed == failures:
                    return
                for pair in (*(one for one in read if one not in batch), *(pair for pair, _ in answers)):
                    left[_task(pair)].remove(pair)
                done = [task for task in dict.fromkeys(map(_task, read)) if not left[task]]
                if done or answers:
                    yield _Step(done, answers, nodes)

    @contextmanager
    def _taking(self, most: int | None) -> Iterator[list[PendingTask]]:
        """Take waiting memories for a block, so that no other thread asks about them."""
        waiting = self.waiting()
        with self._lock:
            free = sorted((task for task in waiting if task not in self._taken), key=self._failures.__getitem__)[:most]
            self._taken.update(free)
        try:
            yield free
        finally:
            with self._lock:
                self._taken.difference_update(free)

    def _pairs(
        self, tasks: Sequence[PendingTask], nodes: Mapping[str, MemoryNode]
    ) -> dict[PendingTask, list[UncertainPair]]:
        """Return the pairs of each memory that the rules leave open; none for a memory that is gone.

        A pair belongs to the memory that was queued later, so it is judged once.
        """
        # The view is older than the queue: a memory that is in the view and has no answer is in the queue.
        view = self._store.view()
        order = {task.nodes[0]: place for place, task in enumerate(self.waiting())}
        found: dict[PendingTask, list[UncertainPair]] = {task: [] for task in tasks}
        for task in tasks:
            node = nodes.get(task.nodes[0])
            if node is not None and view.known_rows([node.id]).size:
                is_later = partial(_is_behind, order, order.get(node.id, len(order)))
                pairs = self._finder.pairs(node, self._finder.candidates(view, node, is_later))
                found[task] = pairs[: self._settings.conflict_uncertain]
        return found

    def _batches(self, found: Mapping[PendingTask, Sequence[UncertainPair]]) -> Iterator[list[UncertainPair]]:
        """Yield the pairs in batches of one owner each; the pairs of a memory stay together.

        A memory whose judgement failed is alone, so a text that confuses the model holds up no other.
        """
        owners = defaultdict[Owner, list[Sequence[UncertainPair]]](list)
        for pairs in filter(None, found.values()):
            owners[owner_of(pairs[0].new)].append(tuple(pairs))
        for groups in owners.values():
            batch: list[UncertainPair] = []
            for pairs in groups:
                is_full = len(batch) + len(pairs) > self._settings.conflict_judged_together
                if batch and (is_full or self._failures[_task(pairs[0])]):
                    yield batch
                    batch = []
                batch = [*batch, *pairs]
            yield batch

    def _still_there(self, batch: Sequence[UncertainPair]) -> list[UncertainPair]:
        """Return the pairs of which both memories still have the texts that were read."""
        now = self._present(node.id for pair in batch for node in pair[:2])
        return [pair for pair in batch if all(_is_same(node, now.get(node.id)) for node in pair[:2])]

    def _present(self, names: Iterable[str]) -> dict[str, MemoryNode]:
        """Return the memories that are there now, by id."""
        view = self._store.view()
        there = [view.ids[row] for row in view.known_rows(names).tolist()]
        return {node.id: node for node in self._store.get_nodes(there, missing_ok=True)}

    def _answers(self, batch: Sequence[UncertainPair], seconds: float | None) -> list[_Answer]:
        """Return the answers of the model; none if it failed, and then it rests."""
        try:
            relations = self._judge.judge(batch, seconds)
        except LLMError as error:
            _log.warning("the conflicts of %d pairs of memories wait for the language model: %s", len(batch), error)
            self._failures.update(set(map(_task, batch)))
            self._resting_until = time.monotonic() + self._settings.conflict_rest_seconds
            return []
        if missing := {_task(pair) for pair, relation in zip(batch, relations, strict=True) if relation is None}:
            _log.warning("the language model left out pairs of %d memories, which wait", len(missing))
            self._failures.update(missing)
        answers = [_Answer(pair, one) for pair, one in zip(batch, relations, strict=True) if one is not None]
        self._resting_until = _NEVER if answers else time.monotonic() + self._settings.conflict_rest_seconds
        return answers

    def _commit(self, step: _Step, at: datetime) -> list[str]:
        """Record the conflicts among the answers, and settle memories, in one delta; return the new conflicts.

        A memory whose text or owner has changed since it was read stays in the queue.
        """
        made: list[str] = []

        def plan() -> GraphDelta:
            delta = self._judged(step, at)
            made.extend(one.id for one in delta.nodes if one.kind == CONFLICT and not self._store.has_node(one.id))
            return delta

        self._write(plan)
        for task in step.done:
            self._failures.pop(task, None)
        return made

    def _judged(self, step: _Step, at: datetime) -> GraphDelta:
        """Return the delta of a step; the write lock is held."""
        done, answers, read = step
        waiting = set(self.waiting())
        now = self._present({*(task.nodes[0] for task in done), *(node.id for pair, _ in answers for node in pair[:2])})
        found = [
            (now[new.id], Found(now[old.id], relation, sentences, rule=MODEL))
            for (new, old, sentences), relation in answers
            if relation.is_conflict and relation.confidence >= _CONFIDENCE
            if _task_of(new) in waiting and all(_is_same(one, now.get(one.id)) for one in (new, old))
        ]
        gone = [task for task in done if task.nodes[0] not in now]
        same = [task for task in done if _is_same(read.get(task.nodes[0]), now.get(task.nodes[0]))]
        return self._checker.judged(found, [*gone, *same], at)


def _is_behind(order: Mapping[str, int], place: int, name: str) -> bool:
    return order.get(name, -1) > place


def _task_of(node: MemoryNode) -> PendingTask:
    return PendingTask(WAITING, (node.id,))


def _task(pair: UncertainPair) -> PendingTask:
    return _task_of(pair.new)


def _is_same(read: MemoryNode | None, now: MemoryNode | None) -> bool:
    """Return whether a memory still has the text and the speaker that it was read with."""
    return read is not None and now is not None and (read.content, voice_of(read)) == (now.content, voice_of(now))
