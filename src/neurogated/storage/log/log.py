"""`Log`, the journal of a graph, and `Engine`, which holds the journals; a new engine implements these two.

`ReplayFollower` brings the index of a graph up to date from its log. A block of writes has one outcome.
"""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from datetime import datetime
from itertools import pairwise
from typing import Any, Generic, NamedTuple, TypeVar

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.contexts import work_began
from neurogated.core.delta import LATEST, GraphDelta, HistoryEntry, JournalEntry
from neurogated.errors import InputError
from neurogated.storage.checkpoint import Follower
from neurogated.storage.index.graph.resolve import Plan, make_plan, without_terms
from neurogated.storage.index.graph_index import GraphIndex, MemoryRecords, Records
from neurogated.storage.index.graph_state import GraphState


@dataclass(slots=True)
class TransactionBlock:
    """A transaction or a nested part of one. It tells a graph whether the changes it shows were committed."""

    outer: TransactionBlock | None
    """The enclosing transaction."""
    under_way: threading.Lock = field(default_factory=threading.Lock)
    """Held until the transaction is committed or rolled back."""
    made: bool = False
    """Whether it was committed, or merged into the outer one."""


class Blocks:
    """The transactions of one engine in this process; only one thread at a time is in them.

    They stay consistent if an interrupt strikes at any line, because a `with` statement releases each lock.
    """

    def __init__(self) -> None:
        self._last: TransactionBlock | None = None

    @property
    def innermost(self) -> TransactionBlock | None:
        """The innermost transaction under way."""
        block = self._last
        while block is not None and not block.under_way.locked():
            block = block.outer
        return block

    def begin(self) -> TransactionBlock:
        """Return a transaction, or a part of the one under way; the caller holds `under_way`, and marks it as made."""
        block = self._last = TransactionBlock(self.innermost)
        return block


class Position(NamedTuple):
    """The end of a log."""

    epoch: int
    """Changes when the log is rewritten; stores then rebuild their index."""
    sequence: int
    """The number of the last delta, 0 if there is none."""


class Log(ABC):
    """The journal of one graph. Any number of stores, in any number of processes, may follow it.

    When `append` returns, the delta is durable; within a transaction, it becomes durable when the transaction ends. The
    store has validated every delta, so a log need not check it.

    The methods with a body are optional: an engine replaces what it can do better.
    """

    claims = False
    """Whether `claim` locks this graph alone, so that the writers of other graphs need not wait."""

    @abstractmethod
    def position(self) -> Position:
        """Return the end of the log, including uncommitted deltas of this process; called before every read."""

    @abstractmethod
    def append(self, plan: Plan, index: GraphIndex) -> int:
        """Append the delta of a plan, whose rows are those of `index`; return its number, one more than the last one.

        A log whose `as_of` returns an engine may skip numbers. The index holds all earlier deltas.
        """

    @abstractmethod
    def entries(self, after: int = 0, up_to: int = LATEST) -> Iterator[JournalEntry]:
        """Yield the deltas numbered above `after`, to `up_to`, oldest first."""

    @abstractmethod
    def history(self, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        """Return one entry for each of these deltas, oldest first; compaction does not change them."""

    @abstractmethod
    def erased_up_to(self) -> int:
        """Return the number of the last change whose past was erased; see `SupportsCompaction`."""

    @abstractmethod
    def record_erased(self, up_to: int) -> None:
        """Record that the past up to a change was erased; see `SupportsCompaction`."""

    def claim(self) -> None:  # noqa: B027 - see `claims`
        """Lock the graph until the block of `Engine.writing` ends; called before the log is read for a write.

        Raises:
            MemoryLockedError: another process holds the lock of the graph.
        """

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:  # noqa: ARG002 - for engines that can do it
        """Replace all deltas, keep their numbers, and start a new epoch; a store compacts the log by it."""
        raise InputError("the engine of this memory does not support compact; export it and import it elsewhere")

    def entries_of(self, node_id: str) -> Iterator[JournalEntry]:  # noqa: ARG002 - all deltas are read
        """Yield at least the deltas that put or removed a node, oldest first."""
        return self.entries()

    def follower(
        self,
        config: MemoryConfig,  # noqa: ARG002 - for logs with another follower
        current: Callable[[], GraphIndex | None],  # noqa: ARG002
    ) -> Follower | None:
        """Return what brings an index up to date without replaying every delta; None if deltas are replayed.

        `current` returns the index in use; None if it disagrees with the log.
        """
        return None

    def as_of(
        self,
        sequence: int,  # noqa: ARG002 - for logs that know their past
        moment: datetime | None,  # noqa: ARG002
        present: Callable[[], GraphState],  # noqa: ARG002
    ) -> tuple[Engine, datetime] | None:
        """Return an engine whose logs show the graph after a past delta, and the time of it; None to replay the deltas.

        The time is `moment`, or else that of the delta `sequence`. `present` returns the present state of the graph.
        """
        return None

    def last_before(self, moment: datetime) -> int:
        """Return the number of the last change made at or before a time, 0 if there is none.

        So a later time never shows less, and a write whose clock was ahead hides none of those after it.
        """
        changes = (entry for entry in self.entries() if not entry.delta.tells_of_uses_only)
        return max((entry.sequence for entry in changes if entry.delta.at <= moment), default=0)


class Engine(ABC):
    """Holds the logs of one memory: a file, a server, a dictionary. One object is one connection to it."""

    lock: threading.RLock
    """Serialises the threads that use this object."""
    while_waiting: Callable[[], None] | None = None
    """Called again and again while a thread that holds the lock waits for its turn to write."""
    erases = False
    """Whether `erase_removed` compacts the logs; if not, the store rewrites each of them."""

    @abstractmethod
    def identity(self) -> str:
        """Return a text that no other memory has; a copy of a memory has another."""

    @abstractmethod
    def log(self, namespace: str) -> Log:
        """Return the log of a graph; create it if there is none."""

    @abstractmethod
    def namespaces(self) -> list[str]:
        """Return the names of all graphs, in order of creation."""

    @abstractmethod
    def drop_namespace(self, name: str) -> None:
        """Erase an existing graph and its deltas."""

    @abstractmethod
    def writing(self, patience: float | None = None) -> AbstractContextManager[object]:
        """Run a block that holds the write lock of the engine; blocks may nest.

        It waits `patience` seconds for the lock; the engine decides if that is left out.

        Raises:
            MemoryLockedError: another process or thread holds the write lock.
        """

    @abstractmethod
    def transaction(self) -> AbstractContextManager[object]:
        """Run a block as one transaction over all graphs, within `writing`; blocks may nest.

        Other stores see its deltas when it ends. If the block raises, its deltas are rolled back.
        """

    @abstractmethod
    def settings(self) -> Mapping[str, Any]:
        """Return the settings of the memory by name, as `record` got them; a number may be a text."""

    @abstractmethod
    def record(self, settings: Mapping[str, str | int | None]) -> None:
        """Record settings, as a part of the transaction under way if there is one; None removes a setting."""

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder of all graphs; None if there is none."""
        known = self.settings()
        return (known["embedder"], int(known["dimension"])) if known.get("embedder") else None

    def is_frozen(self) -> bool:
        """Return whether the memory is frozen: it learns nothing."""
        return self.settings().get("frozen") == "1"

    def copies(self) -> list[str]:
        """Return the recorded places with copies; see `SupportsNamespaces`."""
        return sorted(name.removeprefix(COPY) for name in self.settings() if name.startswith(COPY))

    def record_copy(self, place: str, *, exists: bool) -> None:
        """Record a place with copies, or remove it."""
        self.record({COPY + place: "1" if exists else None})

    def close(self) -> None:  # noqa: B027 - an engine may hold none
        """Release the resources of the engine."""

    def erase_removed(self, *, history: bool) -> int:
        """Erase the removed nodes of all graphs and return their number; see `erases` and `GraphStore.compact`."""
        raise NotImplementedError

    def erasing(self) -> AbstractContextManager[object]:
        """Run a block in which nobody writes checkpoints; enter it before taking the lock of the engine."""
        return nullcontext()


COPY = "copy "
"""The name of the setting for a place with copies, before the place."""
Node = TypeVar("Node")
Span = tuple[int, int]
"""The number of the delta with which something began, and of the delta with which it ended."""


class Derivation(NamedTuple, Generic[Node]):
    """A DERIVED_FROM edge."""

    node: Node
    source: Node
    since: int
    until: int


def repeated(
    erased: Mapping[Node, int], ended: Mapping[Node, Sequence[Span]], derivations: Iterable[Derivation[Node]]
) -> dict[Node, list[Span]]:
    """Return the ended versions that were derived from erased ones, directly or through others.

    Args:
        erased: the deltas until which nodes are erased.
        ended: the ended versions of present nodes that are not erased, oldest first.
        derivations: all derivations of present and past nodes.

    Returns:
        Their spans by node; consecutive versions are one span.
    """
    derived = defaultdict[Node, list[Derivation[Node]]](list)
    for one in derivations:
        derived[one.source].append(one)
    found = defaultdict[Node, set[Span]](set)
    work = [(node, (0, until)) for node, until in erased.items()]
    while work:
        source, (since, until) = work.pop()
        for one in derived[source]:
            begin, end = max(since, one.since), min(until, one.until)
            for span in ended.get(one.node, ()):
                if max(begin, span[0]) < min(end, span[1]) and span not in found[one.node]:
                    found[one.node].add(span)
                    work.append((one.node, span))
    return {node: joined(sorted(spans)) for node, spans in found.items() if spans}


def joined(spans: Sequence[Span]) -> list[Span]:
    """Return spans, in order, with those that follow each other as one."""
    if not spans:
        return []
    gaps = [place for place, (one, other) in enumerate(pairwise(spans), 1) if one[1] != other[0]]
    return [(spans[begin][0], spans[end - 1][1]) for begin, end in pairwise([0, *gaps, len(spans)])]


class ReplayFollower(Follower):
    """Replays the deltas of a log."""

    def __init__(self, engine: Engine, namespace: str, log: Log, config: MemoryConfig) -> None:
        self._engine = engine
        self._namespace = namespace
        self._log = log
        self._config = config
        self._epoch = -1

    def load(self) -> GraphIndex | None:
        """Return an index of all deltas; None if the engine no longer has the graph."""
        if self._namespace not in self._engine.namespaces():
            return None
        index, self._epoch = self._empty(), self._log.position().epoch
        self.follow(index)
        return index

    def is_behind(self, index: GraphIndex) -> bool:
        """Return whether the position of the log differs from that of the index."""
        return self._log.position() != (self._epoch, index.topology.sequence)

    def follow(self, index: GraphIndex) -> bool:
        """Replay new deltas; return False if the log was rewritten or rolled back."""
        position = self._log.position()
        if position.epoch != self._epoch or position.sequence < index.topology.sequence:
            return False
        for entry in self._log.entries(index.topology.sequence):
            self._replay(index, entry.sequence, entry.delta)
        index.embedder = self._engine.embedder
        return True

    def records(self, index: GraphIndex) -> Records:
        """Return the records that the index holds."""
        return index.records or MemoryRecords()

    def _empty(self) -> GraphIndex:
        index = GraphIndex(self._config)
        index.records = MemoryRecords()
        return index

    def _replay(self, index: GraphIndex, sequence: int, delta: GraphDelta) -> None:
        delta = without_terms(delta) if index.computes_terms else delta
        plan = make_plan(index.topology.view(), delta)
        outcomes = index.planned_outcomes(plan, self.records(index))
        index.commit(plan, sequence)
        index.commit_validity(plan, outcomes)


# Seconds after which the reads of a long call need later writes, too.
_LONGEST_CALL = 1.0


def wanted() -> float:
    """Return the time until which a read needs the writes of other processes; ∞ for the present.

    The reads of one call need what was acknowledged before the call. So a database is asked once for all of them.
    """
    return max(work_began(), time.monotonic() - _LONGEST_CALL)
