"""`PostgresFollower`: the index of a graph from its checkpoint and its later deltas, and the writing of checkpoints.

A checkpoint is the graph as two deltas: the first puts all nodes and edges, and the second removes the nodes that were
removed. Their uses outlive them. Replaying two deltas takes a fraction of the time of replaying a life.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import LiteralString, Protocol

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import from_micros
from neurogated.core.codec import decode, encode
from neurogated.core.delta import GraphDelta
from neurogated.core.model import MemoryNode
from neurogated.core.view import GraphView
from neurogated.errors import CorruptMemoryError, FormatVersionError, StorageError
from neurogated.storage.checkpoint.checkpointer import Checkpointer
from neurogated.storage.checkpoint.checkpoints import Stamp
from neurogated.storage.index.follower import Uses
from neurogated.storage.index.graph.resolve import Plan, make_plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.index.records import MemoryRecords
from neurogated.storage.log.log import Engine, Log, Position
from neurogated.storage.log.postgres.server import Row, Server
from neurogated.storage.log.replay import ReplayFollower
from neurogated.utils.background import while_alive

_log = logging.getLogger(__name__)

GONE = Position(-1, 0)
"""The position in a graph that another process dropped."""

_LEAST = 100  # deltas before a checkpoint: replaying them takes about as long as reading a small one
_WEIGHT = 4  # so a checkpoint is due after deltas for an eighth of the nodes; each is rewritten as a whole
# A transaction of this process may wait for this thread, so the thread must not wait for the transaction.
_HURRY = "SELECT set_config('lock_timeout', '1s', false)"
_READ = "SELECT sequence, graph, removals FROM checkpoints WHERE namespace = %s AND epoch = %s"
# The lock on the head row makes a compaction either wait, and then delete this row, or prevent it.
_WRITE = """
    INSERT INTO checkpoints SELECT namespace, epoch, %s, %b, %b FROM heads WHERE namespace = %s AND epoch = %s FOR SHARE
    ON CONFLICT (namespace) DO UPDATE
    SET epoch = excluded.epoch, sequence = excluded.sequence, graph = excluded.graph, removals = excluded.removals
    WHERE (checkpoints.epoch, checkpoints.sequence) < (excluded.epoch, excluded.sequence)
"""


class RewrittenError(StorageError):
    """The log was rewritten or dropped while it was read."""


class _Engine(Engine, Protocol):
    """The engine of the database; see `PostgresEngine`."""

    server: Server

    def fetch(self, statement: LiteralString, values: Sequence[object] = ()) -> list[Row]: ...


class _Numbered(Log, Protocol):
    """A log in the database; see `PostgresLog`."""

    name: str
    namespace: int


@dataclass(frozen=True, slots=True)
class _Frozen:
    """A graph at one moment."""

    stamp: Stamp
    epoch: int
    state: GraphState


class _Checkpoints:
    """The table of checkpoints, for a `Checkpointer`."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def exclusively(self, patience: float) -> AbstractContextManager[object]:  # noqa: ARG002 - the row has a lock
        return nullcontext()

    def write(self, frozen: _Frozen, is_wanted: Callable[[], bool]) -> Path | None:
        """Write a checkpoint, unless the graph was compacted meanwhile or the table has a later one."""
        stamp = frozen.stamp
        graph, removals = map(encode, _deltas(frozen.state))
        if is_wanted():
            with self._server.session() as connection:
                values = stamp.sequence, graph, removals, stamp.namespace, frozen.epoch
                self._server.execute(connection, _HURRY)
                self._server.execute(connection, _WRITE, values)
        return None

    def tidy(self, namespace: int) -> None:
        """Do nothing: a graph has one row."""


class PostgresFollower(ReplayFollower):
    """Replays the deltas in the database; other processes may compact or drop the graph at any time."""

    def __init__(
        self,
        engine: _Engine,
        log: _Numbered,
        config: MemoryConfig,
        current: Callable[[], GraphIndex | None],
    ) -> None:
        super().__init__(engine, log.name, log, config)
        self._database, self._current, self._numbered = engine, current, log
        self.searching = self._searches = Uses()
        self.loads_on_use = engine.server.address.searches
        self._checkpointer = Checkpointer(
            _Checkpoints(engine.server),
            graph_lock=engine.lock,
            freeze=while_alive(self._freeze),
            remap=lambda _: None,
            is_current=lambda: True,
            least=min(_LEAST, config.runtime.checkpoint_changes),
        )

    def load(self) -> GraphIndex | None:
        """Return an index of all deltas; None if the graph was dropped."""
        while (position := self._log.position()) != GONE:
            index, self._epoch = self._from_checkpoint(position.epoch), position.epoch
            before = index.topology.sequence
            if self.follow(index):
                self._checkpointer.add_backlog(index.topology.sequence - before, _size(index))
                return index
        return None

    def follow(self, index: GraphIndex) -> bool:
        """Replay new deltas; return False if the log was rewritten, dropped or rolled back."""
        try:
            return super().follow(index)
        except RewrittenError:
            return False

    def unchanged_since(self) -> float:
        """Return the present: only the database knows."""
        return time.monotonic()

    def is_end(self, sequence: int) -> bool:
        """Return whether the log ends with this delta, apart from uncommitted deltas of another thread."""
        return self._log.position() == (self._epoch, sequence)

    def note(self, plan: Plan, index: GraphIndex) -> None:
        """Write a checkpoint after many deltas."""
        self._checkpointer.note(1, len(plan.delta.operators), _size(index))

    def may_unload(self, index: GraphIndex) -> bool:
        """Return whether nothing uses the index, which is reloaded from its checkpoint."""
        return not (self._searches or self._checkpointer.busy or index.vectors.busy)

    def wait(self, index: GraphIndex) -> None:
        """Wait for the checkpoint; start one if there are many changes."""
        index.vectors.wait()
        if not self._database.server.read_only:
            self._checkpointer.checkpoint(at_once=False)
        self._checkpointer.wait()

    def cancel(self) -> None:
        """Cancel the running checkpoint."""
        self._checkpointer.cancel()

    def _from_checkpoint(self, epoch: int) -> GraphIndex:
        """Return the index from the checkpoint; an empty one if there is none."""
        index = GraphIndex(self._config)
        index.records = MemoryRecords()
        for sequence, *stored in self._database.fetch(_READ, (self._numbered.namespace, epoch)):
            try:
                deltas = [decode(one) for one in stored]
            except (CorruptMemoryError, FormatVersionError) as error:
                _log.warning("a checkpoint of %r cannot be used (%s); the index is rebuilt", self._namespace, error)
                break
            for delta in deltas:
                plan = make_plan(index.topology.view(), delta)
                outcomes = index.planned_outcomes(plan, self.records(index))
                index.commit(plan, sequence)
                index.commit_validity(plan, outcomes)
        return index

    def _freeze(self) -> _Frozen | None:
        index = self._current()
        if index is None:
            return None
        records, view = self.records(index), index.topology.view()
        state = GraphState(index, view, records, index.made_texts, index.pending, index.embedder).isolated()
        stamp = Stamp(str(self._epoch), self._numbered.namespace, view.sequence, 0)
        return _Frozen(stamp, self._epoch, state)


def _size(index: GraphIndex) -> int:
    return _WEIGHT * index.topology.view().node_count


def _deltas(state: GraphState) -> tuple[GraphDelta, GraphDelta]:
    """Return the deltas that make a graph with the same rows of nodes."""
    view = state.view
    rows = view.live_nodes()
    live = dict(zip(rows.tolist(), state.nodes(rows), strict=True))
    nodes = [live.get(row) or _removed(view, row) for row in range(view.node_count)]
    edges = state.edges(view.live_edges())
    return (
        GraphDelta(nodes=tuple(nodes), edges=tuple(edges), queued=tuple(state.pending)),
        GraphDelta(removed_nodes=tuple(node.id for row, node in enumerate(nodes) if row not in live)),
    )


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
