"""`PostgresFollower`: the index of a graph from its checkpoint and its later deltas in PostgreSQL."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import LiteralString, Protocol

from neurogated.config.memory_config import MemoryConfig
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.checkpointed import CheckpointedFollower
from neurogated.storage.log.log import Engine, Log, Position
from neurogated.storage.log.postgres.server import Row, Server

GONE = Position(-1, 0)
"""The position in a graph that another process dropped."""

# A transaction of this process may wait for this thread, so the thread must not wait for the transaction.
_HURRY = "SELECT set_config('lock_timeout', '1s', false)"
_READ = "SELECT sequence, deltas FROM checkpoints WHERE namespace = %s AND epoch = %s"
# The lock on the head row makes a compaction either wait, and then delete this row, or prevent it.
_WRITE = """
    INSERT INTO checkpoints SELECT namespace, epoch, %s, %b FROM heads WHERE namespace = %s AND epoch = %s FOR SHARE
    ON CONFLICT (namespace) DO UPDATE
    SET epoch = excluded.epoch, sequence = excluded.sequence, deltas = excluded.deltas
    WHERE (checkpoints.epoch, checkpoints.sequence) < (excluded.epoch, excluded.sequence)
"""


class _Engine(Engine, Protocol):
    """The engine of the database; see `PostgresEngine`."""

    server: Server

    def fetch(self, statement: LiteralString, values: Sequence[object] = ()) -> list[Row]: ...


class _Numbered(Log, Protocol):
    """A log in the database; see `PostgresLog`."""

    name: str
    namespace: int


class _Checkpoint:
    """The checkpoint of one graph, in one row; see `CheckpointTable`."""

    def __init__(self, engine: _Engine, log: _Numbered) -> None:
        self._engine, self._log = engine, log

    def read(self, epoch: int) -> tuple[int, Iterable[bytes]]:
        """Return the number of the last delta in the checkpoint, and its deltas; see `CheckpointTable`."""
        for sequence, deltas in self._engine.fetch(_READ, (self._log.namespace, epoch)):
            return sequence, deltas
        return 0, ()

    def write(self, position: Position, deltas: Iterator[bytes]) -> None:
        """Replace the checkpoint, unless the table has a later one; see `CheckpointTable`."""
        values = position.sequence, list(deltas), self._log.namespace, position.epoch
        server = self._engine.server
        with server.session() as connection:
            server.execute(connection, _HURRY)
            server.execute(connection, _WRITE, values)


class PostgresFollower(CheckpointedFollower):
    """Replays the deltas in the database; other processes may compact or drop the graph at any time."""

    def __init__(
        self, engine: _Engine, log: _Numbered, config: MemoryConfig, current: Callable[[], GraphIndex | None]
    ) -> None:
        table, read_only = _Checkpoint(engine, log), engine.server.read_only
        super().__init__(engine, log.name, log, table, config=config, current=current, read_only=read_only)

    def has_graph(self) -> bool:
        """Return whether the graph was not dropped, without reading the names of all graphs."""
        return self._log.position() != GONE

    def unchanged_since(self) -> float:
        """Return the present: only the database knows."""
        return time.monotonic()

    def is_end(self, sequence: int) -> bool:
        """Return whether the log ends with this delta, apart from uncommitted deltas of another thread."""
        return self._log.position() == (self._epoch, sequence)
