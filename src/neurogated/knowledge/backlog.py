"""The memories that wait for the answers of a model: on what they say, or on how they relate to others."""

import logging
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Generic, NamedTuple, Protocol, TypeVar

from neurogated.core.commit import READ, Plan
from neurogated.core.conflicts import Conflict, conflicts_made
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView
from neurogated.errors import LLMError, UnusableAnswerError
from neurogated.knowledge.origin import Owner, voice_of

_log = logging.getLogger(__name__)

_NEVER = float("-inf")
REST_SECONDS = 30.0
"""The background asks no model for this long after it failed."""
_FAILURES = 2
"""Calls in a row that may fail before `resume` and `consolidate` end."""
_TRIES = 3
"""Unusable answers about a memory, the last ones about it alone, before it is parked."""
_PARKED = "parked "
"""How the kinds of tasks of parked memories begin, before the kind of their queue, a colon and the reason."""
_READ = 64
"""Waiting memories that are read together, so that a long queue needs no more memory than a short one."""


class QuestionOnMemories(Protocol):
    """A question about the memory that waits, and those that it is compared with."""

    @property
    def nodes(self) -> tuple[MemoryNode, ...]: ...


Q = TypeVar("Q", bound=QuestionOnMemories)
A = TypeVar("A")
Answers = Sequence[tuple[Q, A]]


class Enquiry(Protocol[Q, A]):
    """What a model is asked about the memories of one queue."""

    kind: str
    """The kind of the pending tasks."""
    together: int
    """Most questions of a call, or all those about one memory."""
    after: str | None
    """The kind of the queue whose memories must have answers before."""

    def questions(self, view: GraphView, node: MemoryNode, is_later: Callable[[str], bool]) -> Sequence[Q]:
        """Return the questions about a memory; `is_later` tells of another whether it waits behind this one."""

    def ask(self, questions: Sequence[Q]) -> Sequence[A | None]:
        """Return the answers about memories of one owner, None for each left out; no lock is held. Raises LLMError."""

    def delta(self, answers: Answers[Q, A], settled: Sequence[PendingTask], at: datetime) -> GraphDelta:
        """Return the changes that follow from answers, under the write lock; `settled` wait no longer."""

    def unused(self, answers: Answers[Q, A]) -> Mapping[str, int]:
        """Return how many parts of answers say nothing that counts, by reason."""


class _Step(NamedTuple, Generic[Q, A]):
    """Memories that wait no longer, and the answers of a call, with the memories as they were read."""

    done: Collection[PendingTask]
    answers: Answers[Q, A]
    read: Mapping[str, MemoryNode]
    parked: Collection[PendingTask] = ()
    """Those of `done` that got no usable answer."""


class Backlog(Generic[Q, A]):
    """Works off a queue of the graph: a write queues each new memory in its own delta.

    The model answers without a lock. Each call of the model becomes one delta under the write lock, which skips each
    memory that was deleted, changed or moved to another owner meanwhile, or that another process has settled. A memory
    stays in the queue until all its questions have answers. A model that gives unusable answers is asked about each
    memory alone, and a memory without a usable answer is parked, until somebody asks for it. A model that cannot be
    reached parks nothing.
    """

    def __init__(self, store: GraphStorePort, enquiry: Enquiry[Q, A], commit: Callable[[Plan], GraphDelta]) -> None:
        """Take the parts; `commit` writes the delta that a function computes under the write lock."""
        self._store = store
        self._enquiry = enquiry
        self._write = commit
        self._lock = threading.Lock()
        self._taken: set[PendingTask] = set()
        self._failures: Counter[PendingTask] = Counter()
        self._faults: dict[PendingTask, str] = {}
        self._resting_until = _NEVER
        self.dropped = Counter[str]()
        """How many parts of answers were dropped since the memory was opened, by reason."""

    def work(
        self, clock: Callable[[], datetime], stopped: Callable[[], bool], calls: int | None = None, *, patient: bool
    ) -> tuple[int, list[Conflict]]:
        """Ask about memories that wait, failed ones last; return how many were settled, and new conflicts."""
        if calls == 0 or (not patient and time.monotonic() < self._resting_until):
            return 0, []
        if patient:
            at = clock()
            if parked := self._parked():
                again = tuple(PendingTask(self._enquiry.kind, task.nodes) for task in parked)
                self._write(lambda: GraphDelta(settled=tuple(parked), queued=again, reason=READ, at=at))
        settled, made = 0, list[Conflict]()
        with self._taking(None if calls is None else calls * self._enquiry.together) as tasks:
            for step in self._steps(tasks, calls, stopped, _FAILURES if patient else 1):
                made += self._commit(step, clock())
                settled += len(step.done) - len(step.parked)
        return settled, made

    @property
    def waiting(self) -> int:
        """How many memories wait, without those that are parked."""
        return len(self._waiting())

    def _parked(self) -> list[PendingTask]:
        kind = self._enquiry.kind
        return [task for task in parked_in(self._store) if task.kind.removeprefix(_PARKED).partition(": ")[0] == kind]

    def _waiting(self) -> list[PendingTask]:
        return [task for task in self._store.pending() if task.kind == self._enquiry.kind]

    @contextmanager
    def _taking(self, most: int | None) -> Iterator[list[PendingTask]]:
        """Take waiting memories for a block, so that no other thread asks about them."""
        held_up = {task.nodes for task in self._store.pending() if task.kind == self._enquiry.after}
        waiting = [task for task in self._waiting() if task.nodes not in held_up]
        with self._lock:
            free = sorted((task for task in waiting if task not in self._taken), key=self._failures.__getitem__)[:most]
            self._taken.update(free)
        try:
            yield free
        finally:
            with self._lock:
                self._taken.difference_update(free)

    def _steps(
        self, tasks: Sequence[PendingTask], calls: int | None, stopped: Callable[[], bool], most_failures: int
    ) -> Iterator[_Step[Q, A]]:
        """Yield the memories without a question, and the answers of each call, until so many calls in a row fail."""
        number = failed = 0
        while tasks:
            tried = Counter({task: self._failures[task] for task in tasks})
            for begin in range(0, len(tasks), _READ):
                portion = tasks[begin : begin + _READ]
                names = [one.nodes[0] for one in portion]
                nodes = {one.id: one for one in self._store.get_nodes(names, missing_ok=True)}
                asked = self._questions(portion, nodes)
                if decided := [task for task in portion if not asked[task]]:
                    yield _Step(decided, (), nodes)
                for read in self._batches(asked):
                    # The words of a memory that was deleted since it was read stay here; a changed one waits again.
                    batch = self._unchanged(read)
                    if number == calls or stopped():
                        return
                    answers, is_reached = self._answers(batch) if batch else ([], True)
                    number += bool(batch)
                    failed = 0 if is_reached else failed + 1
                    if failed == most_failures:
                        return
                    answered = [one for one, _ in answers]
                    left = {self._task(one) for one in batch if one not in answered}
                    parked = {task for task in left if self._failures[task] >= _TRIES}
                    done = {self._task(one) for one in read} - left | parked
                    if done or answers:
                        yield _Step(done, answers, nodes, parked)
            # Those that the model confused are asked again at once, each alone.
            tasks = [task for task in tasks if tried[task] < self._failures[task] < _TRIES]

    def _questions(
        self, tasks: Sequence[PendingTask], nodes: Mapping[str, MemoryNode]
    ) -> dict[PendingTask, Sequence[Q]]:
        # The view is older than the queue: a memory that is in the view and has no answer is in the queue.
        view = self._store.view()
        order = {task.nodes[0]: place for place, task in enumerate(self._waiting())}
        found: dict[PendingTask, Sequence[Q]] = dict.fromkeys(tasks, ())
        for task in tasks:
            node = nodes.get(task.nodes[0])
            if node is not None and view.known_rows([node.id]).size:
                is_later = partial(_is_behind, order, order.get(node.id, len(order)))
                found[task] = self._enquiry.questions(view, node, is_later)
        return found

    def _batches(self, asked: Mapping[PendingTask, Sequence[Q]]) -> Iterator[list[Q]]:
        """Yield the questions in batches of one owner each; a memory whose questions failed is alone."""
        owners = defaultdict[Owner, list[Sequence[Q]]](list)
        for questions in filter(None, asked.values()):
            owners[questions[0].nodes[0].scope.owner].append(questions)
        for groups in owners.values():
            batch: list[Q] = []
            for questions in groups:
                is_full = len(batch) + len(questions) > self._enquiry.together
                if batch and (is_full or self._failures[self._task(questions[0])]):
                    yield batch
                    batch = []
                batch = [*batch, *questions]
            yield batch

    def _unchanged(self, questions: Sequence[Q]) -> list[Q]:
        now = self._present({node.id for one in questions for node in one.nodes})
        return [one for one in questions if all(_is_same(node, now.get(node.id)) for node in one.nodes)]

    def _present(self, names: Collection[str]) -> dict[str, MemoryNode]:
        view = self._store.view()
        there = view.names(view.known_rows(names))
        return {node.id: node for node in self._store.get_nodes(there, missing_ok=True)}

    def _answers(self, batch: Sequence[Q]) -> tuple[list[tuple[Q, A]], bool]:
        """Return the usable answers of the model, and whether it answered at all; if it did not, it rests."""
        given: Sequence[A | None] = [None] * len(batch)
        reason, fault, is_reached = "it left them out", "the model left it out", True
        try:
            given = self._enquiry.ask(batch)
        except UnusableAnswerError as error:
            reason, fault = str(error), error.reason
        except LLMError as error:
            reason, is_reached = str(error), False
        if missing := {self._task(one) for one, answer in zip(batch, given, strict=True) if answer is None}:
            _log.warning("%d memories wait for the model: %s", len(missing), reason)
            if is_reached:
                self._failures.update(missing)
                self._faults.update(dict.fromkeys(missing, fault))
        answers = [(one, answer) for one, answer in zip(batch, given, strict=True) if answer is not None]
        self._resting_until = _NEVER if is_reached else time.monotonic() + REST_SECONDS
        return answers, is_reached

    def _commit(self, step: _Step[Q, A], at: datetime) -> list[Conflict]:
        """Write what follows from answers, settle memories that did not change, and return the new conflicts."""
        made, taken = list[Conflict](), list[tuple[Q, A]]()

        def plan() -> GraphDelta:
            waiting, now = set(self._waiting()), self._present({task.nodes[0] for task in step.done})
            same = self._unchanged([one for one, _ in step.answers])
            answers = [(one, answer) for one, answer in step.answers if one in same and self._task(one) in waiting]
            settled = [
                task
                for task in step.done
                if (node := now.get(task.nodes[0])) is None or _is_same(step.read.get(node.id), node)
            ]
            # A parked memory that changed since was queued anew.
            about = {task.nodes for task in settled}
            before = [task for task in self._parked() if task.nodes in about]
            delta = self._enquiry.delta(answers, [*settled, *before], at)
            if step.parked:
                parked = tuple(
                    PendingTask(f"{_PARKED}{task.kind}: {self._faults[task]}", task.nodes)
                    for task in settled
                    if task in step.parked
                )
                queued, left = (*delta.queued, *parked), tuple(one for one in delta.settled if one not in parked)
                delta = replace(delta, queued=queued, settled=left)
            made[:], taken[:] = conflicts_made(self._store, delta), answers
            return delta

        self._write(plan)
        self.dropped.update(self._enquiry.unused(taken))
        for task in step.done:
            self._failures.pop(task, None)
            self._faults.pop(task, None)
        return made

    def _task(self, question: Q) -> PendingTask:
        return PendingTask(self._enquiry.kind, (question.nodes[0].id,))


def parked_in(store: GraphStorePort) -> dict[PendingTask, str]:
    """Return the tasks of the memories that are parked, each with the reason; "" if an earlier version parked it."""
    return {task: task.kind.partition(": ")[2] for task in store.pending() if task.kind.startswith(_PARKED)}


def _is_behind(order: Mapping[str, int], place: int, name: str) -> bool:
    return order.get(name, -1) > place


def _is_same(read: MemoryNode | None, now: MemoryNode | None) -> bool:
    """Return whether a memory still has the text and the speaker that it was read with."""
    return read is not None and now is not None and (read.content, voice_of(read)) == (now.content, voice_of(now))
