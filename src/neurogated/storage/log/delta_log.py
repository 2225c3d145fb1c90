"""`DeltaLog`: the log of a graph in a database, as encoded deltas with a checkpoint; and its follower.

A checkpoint is the present graph as a few deltas: they put all nodes in the order of their rows, then all edges, and
remove the removed nodes, whose uses outlive them. Replaying it takes a fraction of the time of replaying a life.
"""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import from_micros, to_micros
from neurogated.core.codec import decode, encode
from neurogated.core.delta import LATEST, Decay, GraphDelta, HistoryEntry, JournalEntry
from neurogated.core.model import MemoryNode
from neurogated.core.view import GraphView
from neurogated.errors import CorruptMemoryError, FormatVersionError, StorageError
from neurogated.storage.checkpoint import Checkpointer
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex, portions
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.log.log import Engine, Log, Position, ReplayFollower
from neurogated.utils.background import while_alive

_log = logging.getLogger(__name__)

_LEAST = 100  # deltas before a checkpoint: replaying them takes about as long as reading a small one
_WEIGHT = 4  # so a checkpoint is due after deltas for an eighth of the nodes; each is rewritten as a whole
_READ_AT_ONCE = 200  # deltas

GONE = Position(-1, 0)
"""The position in a graph that another process dropped."""


class RewrittenError(StorageError):
    """Another process compacted or dropped the graph."""


class DatabaseEngine(Engine):
    """A database that holds the log of each graph as encoded deltas."""

    read_only: bool

    url: str
    """The address, with the password."""

    def claim_all(self) -> None:
        """Keep others from writing to any graph and from making one, until the transaction under way ends, if any."""


class DeltaLog(Log):
    """The journal of one graph in a database. An engine gives the statements.

    Its position is `GONE` if another process dropped the graph. `rewrite` also drops the checkpoint.
    """

    engine: DatabaseEngine
    name: str

    @property
    @abstractmethod
    def number(self) -> int:
        """Identifies the graph in `VersionKey`: a graph of this name that is made after a drop has another one."""

    @abstractmethod
    def bodies(self, epoch: int, first: int, last: int) -> Iterable[tuple[int, bytes]]:
        """Return the stored deltas from `first` to `last` with their numbers; none if the epoch is over."""

    @abstractmethod
    def lines(self, after: int, up_to: int) -> Iterable[tuple[int, int, Line]]:
        """Return number, time in microseconds and line of the stored deltas above `after`, to `up_to`, in order."""

    @abstractmethod
    def read_checkpoint(self, epoch: int) -> tuple[int, Iterable[bytes]]:
        """Return the number of the last delta in the checkpoint of an epoch, and its encoded deltas; or 0 and none."""

    @abstractmethod
    def write_checkpoint(self, position: Position, deltas: Iterator[bytes]) -> None:
        """Replace the checkpoint, unless the graph was compacted or dropped since it was at this position."""

    def uncommitted(self) -> list[JournalEntry]:
        """Return the deltas of the transaction under way that the database does not have yet."""
        return []

    def unchanged_since(self) -> float:
        """Return the time since which no other process wrote: the present, since only the database knows."""
        return time.monotonic()

    def ends_at(self, position: Position) -> bool:  # noqa: ARG002 - for engines that may be asked without the lock
        """Return whether the log ends here, apart from uncommitted deltas of another thread."""
        return False

    def entries(self, after: int = 0, up_to: int = LATEST) -> Iterator[JournalEntry]:
        """Yield the deltas numbered above `after`, to `up_to`; see `Log`. Deltas appended meanwhile are left out.

        Raises:
            RewrittenError: another process compacted or dropped the graph meanwhile.
            CorruptMemoryError: a delta is damaged or missing.
        """
        end, waiting = self.end()
        stored = min(end.sequence - len(waiting), up_to)
        return chain(self._stored(end.epoch, after, stored), (one for one in waiting if after < one.sequence <= up_to))

    def end(self) -> tuple[Position, list[JournalEntry]]:
        """Return the end of the log, and the last deltas, which the database does not have yet."""
        return self.position(), self.uncommitted()

    def _stored(self, epoch: int, after: int, up_to: int) -> Iterator[JournalEntry]:
        for first in range(after + 1, up_to + 1, _READ_AT_ONCE):
            last = min(first + _READ_AT_ONCE - 1, up_to)
            found = list(self.bodies(epoch, first, last))
            if len(found) != last - first + 1:
                if self.position().epoch == epoch:
                    raise CorruptMemoryError(f"changes between {first} and {last} are missing; restore a backup")
                raise RewrittenError(f"the history of {self.name!r} was rewritten while it was read; read it again")
            for number, body in found:
                yield JournalEntry(number, decode(body))

    def history(self, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        """Return one entry for each delta; see `Log`."""
        waiting = [(one.sequence, to_micros(one.delta.at), line_of(one.delta)) for one in self.uncommitted()]
        later = [one for one in waiting if after < one[0] <= up_to]
        return [
            HistoryEntry(number, from_micros(at), reason, changes, tuple(map(Decay.from_json, operators)))
            for number, at, (reason, changes, operators) in chain(self.lines(after, up_to), later)
        ]

    def follower(self, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> CheckpointedFollower:
        """Return what replays the checkpoint and the deltas after it."""
        return CheckpointedFollower(self, config, current)


Line = tuple[str, dict[str, int], list[dict[str, Any]]]
"""What the history tells of a delta: its reason, its counts of changes, and its operators as JSON."""


def line_of(delta: GraphDelta) -> Line:
    """Return what the history tells of a delta."""
    return delta.reason, delta.changes, [one.to_json() for one in delta.operators]


class CheckpointedFollower(ReplayFollower):
    """Replays the checkpoint of a graph and the deltas after it; others may compact or drop the graph at any time."""

    checkpointer: Checkpointer[tuple[Position, GraphState]]
    _log: DeltaLog

    def __init__(self, log: DeltaLog, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> None:
        super().__init__(log.engine, log.name, log, config)
        self._current = current

        def write(frozen: tuple[Position, GraphState], is_wanted: Callable[[], bool]) -> None:
            if is_wanted():
                log.write_checkpoint(frozen[0], map(encode, _deltas(frozen[1])))

        self.checkpointer = Checkpointer(
            graph_lock=log.engine.lock,
            freeze=while_alive(self._freeze),
            write=write,
            least=min(_LEAST, config.runtime.checkpoint_changes),
        )

    def load(self) -> GraphIndex | None:
        """Return an index of all deltas; None if the engine no longer has the graph."""
        while (position := self._log.position()) != GONE:
            self._epoch = position.epoch
            index = self._from_checkpoint()
            before = index.topology.sequence
            if self.follow(index):
                self.checkpointer.add_backlog(index.topology.sequence - before, _size(index))
                return index
        return None

    def follow(self, index: GraphIndex) -> bool:
        """Replay new deltas; return False if the log was rewritten, dropped or rolled back."""
        try:
            return super().follow(index)
        except RewrittenError:
            return False

    def unchanged_since(self) -> float:
        """Return the time since which no other process wrote."""
        return self._log.unchanged_since()

    def is_end(self, sequence: int) -> bool:
        """Return whether the log ends with this delta, apart from uncommitted deltas of another thread."""
        return self._log.ends_at(Position(self._epoch, sequence))

    def note(self, plan: Plan, index: GraphIndex) -> None:
        """Write a checkpoint after many deltas."""
        self.checkpointer.note(1, len(plan.delta.operators), _size(index))

    def start(self, index: GraphIndex) -> None:  # noqa: ARG002 - a checkpoint needs no index of texts
        """Start a checkpoint if there are many changes, and the database may be written to."""
        if not self._log.engine.read_only:
            self.checkpointer.checkpoint()

    def _from_checkpoint(self) -> GraphIndex:
        sequence, stored = self._log.read_checkpoint(self._epoch)
        index = self._empty()
        try:
            for body in stored:
                self._replay(index, sequence, decode(body))
        except (CorruptMemoryError, FormatVersionError) as error:
            _log.warning("the checkpoint of %r cannot be used (%s); the index is rebuilt", self._namespace, error)
            return self._empty()
        return index

    def _freeze(self) -> tuple[Position, GraphState] | None:
        index = self._current()
        if index is None:
            return None
        state = GraphState.of(index, index.topology.view(), self.records(index)).isolated()
        return Position(self._epoch, state.view.sequence), state


def _size(index: GraphIndex) -> int:
    return _WEIGHT * index.topology.view().node_count


def _deltas(state: GraphState) -> Iterator[GraphDelta]:
    """Yield the deltas that make a graph with the same rows of nodes."""
    view, removed = state.view, []
    for rows in portions(np.arange(view.node_count)):
        live = rows[view.alive.take(rows).astype(np.bool_)]
        nodes = dict(zip(live.tolist(), state.nodes(live), strict=True))
        gone = [row for row in rows.tolist() if row not in nodes]
        removed += [view.ids[row] for row in gone]
        yield GraphDelta(nodes=tuple(nodes.get(row) or _removed(view, row) for row in rows.tolist()))
    for rows in portions(view.live_edges()):
        yield GraphDelta(edges=tuple(state.edges(rows)))
    yield GraphDelta(removed_nodes=tuple(removed), queued=tuple(state.pending))


def _removed(view: GraphView, row: int) -> MemoryNode:
    """Return a node without content, with the uses of a removed one."""
    place = np.array([row])
    used, charged = (from_micros(getattr(view, name).take(place)[0]) for name in ("last_accessed", "charged_at"))
    return MemoryNode(
        id=view.ids[row],
        content="",
        created_at=used,
        last_accessed=used,
        uses=int(view.uses.take(place)[0]),
        charge=float(view.charge.take(place)[0]),
        charged_at=charged,
    )
