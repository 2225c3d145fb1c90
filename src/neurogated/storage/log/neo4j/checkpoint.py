"""The checkpoint of a graph in a database that speaks Bolt: encoded deltas, one a node."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from typing import Any, Final

from neurogated.errors import CorruptMemoryError
from neurogated.storage.log.log import Position
from neurogated.storage.log.neo4j.connection import Connection
from neurogated.storage.log.neo4j.schema import GRAPH_NODE, OWN

_PART: Final = f"(c:NeurogatedCheckpoint {{{OWN}, name: $name, number: $number}})"
_FIND: Final = (
    f"MATCH {GRAPH_NODE} WHERE g.epoch = $epoch AND g.checkpoint IS NOT NULL"
    " RETURN g.checkpoint AS name, g.checkpointed AS sequence, g.parts AS parts"
)
_READ: Final = f"MATCH {_PART} RETURN c.body AS body"
# Setting a property takes the lock of the node, where the server has locks. So a compaction comes before or after.
_IN_EPOCH: Final = f"MATCH {GRAPH_NODE} SET g.locked = $name WITH g WHERE g.epoch = $epoch"
_WRITE: Final = f"{_IN_EPOCH} MERGE {_PART} SET c.body = $body RETURN c.number AS number"
_FINISH: Final = (
    f"{_IN_EPOCH} AND coalesce(g.checkpointed, 0) < $sequence"
    " SET g.checkpoint = $name, g.checkpointed = $sequence, g.parts = $parts"
)
# A name begins with the number of a delta, so the parts of a later checkpoint stay.
_DROP_EARLIER: Final = (
    f"MATCH {GRAPH_NODE} MATCH (c:NeurogatedCheckpoint {{{OWN}}})"
    " WHERE c.name <> coalesce(g.checkpoint, '') AND c.name <= $name DELETE c"
)


class BoltCheckpoint:
    """The checkpoint of one graph; see `CheckpointTable`."""

    def __init__(self, connection: Connection, namespace: str) -> None:
        self._connection = connection
        self._namespace = namespace

    def read(self, epoch: int) -> tuple[int, Iterable[bytes]]:
        """Return the number of the last delta in the checkpoint, and its deltas; see `CheckpointTable`."""
        for row in self._ask(_FIND, epoch=epoch):
            return row["sequence"], self._parts(row["name"], row["parts"])
        return 0, ()

    def _parts(self, name: str, parts: int) -> Iterator[bytes]:
        for number in range(1, parts + 1):
            rows = self._ask(_READ, name=name, number=number)
            if not rows:
                raise CorruptMemoryError(f"part {number} of {parts} is missing")
            yield rows[0]["body"]

    def write(self, position: Position, deltas: Iterator[bytes]) -> None:
        """Replace the checkpoint, part by part; see `CheckpointTable`."""
        name = f"{position.sequence:020d}-{secrets.token_hex(8)}"
        given, parts = {"name": name, "epoch": position.epoch}, 0
        for parts, body in enumerate(deltas, start=1):
            if not self._ask(_WRITE, **given, number=parts, body=body):
                break
        else:
            self._ask(_FINISH, **given, sequence=position.sequence, parts=parts)
        self._ask(_DROP_EARLIER, name=name)

    def _ask(self, text: str, **values: object) -> list[dict[str, Any]]:
        return self._connection.read(text, namespace=self._namespace, **values)
