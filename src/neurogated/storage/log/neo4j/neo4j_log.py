"""`Neo4jEngine` and `Neo4jLog`: the journals of a memory in a database that speaks Bolt."""

from __future__ import annotations

import json
import math
import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, replace
from typing import Any, Final, cast

import neo4j

from neurogated.core.clock import to_micros
from neurogated.core.codec import encode
from neurogated.core.delta import GraphDelta, JournalEntry
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.errors import CorruptMemoryError, FormatVersionError, MemoryClosedError, MemoryLockedError, StorageError
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.delta_log import GONE, DatabaseEngine, DeltaLog, Line, line_of
from neurogated.storage.log.log import Position, wanted
from neurogated.storage.log.neo4j import connection as bolt
from neurogated.storage.log.neo4j.projection import in_portions, projection_of
from neurogated.storage.log.neo4j.turn import LEASE, Head, Work, WriteLease

_PART: Final = f"(c:NeurogatedCheckpoint {{{bolt.OWN}, name: $name, number: $number}})"
_FIND: Final = (
    f"MATCH {bolt.GRAPH_NODE} WHERE g.epoch = $epoch AND g.checkpoint IS NOT NULL"
    " RETURN g.checkpoint AS name, g.checkpointed AS sequence, g.parts AS parts"
)
_READ: Final = f"MATCH {_PART} RETURN c.body AS body"
# Setting a property takes the lock of the node, where the server has locks. So a compaction comes before or after.
_IN_EPOCH: Final = f"MATCH {bolt.GRAPH_NODE} SET g.locked = $name WITH g WHERE g.epoch = $epoch"
_WRITE: Final = f"{_IN_EPOCH} MERGE {_PART} SET c.body = $body RETURN c.number AS number"
_FINISH: Final = (
    f"{_IN_EPOCH} AND coalesce(g.checkpointed, 0) < $sequence"
    " SET g.checkpoint = $name, g.checkpointed = $sequence, g.parts = $parts"
)
# A name begins with the number of a delta, so the parts of a later checkpoint stay.
_DROP_EARLIER: Final = (
    f"MATCH {bolt.GRAPH_NODE} MATCH (c:NeurogatedCheckpoint {{{bolt.OWN}}})"
    " WHERE c.name <> coalesce(g.checkpoint, '') AND c.name <= $name DELETE c"
)


_UNKNOWN: tuple[float, dict[str, Any]] = -math.inf, {}
_NO_GRAPH = Head(*GONE)


class Neo4jEngine(DatabaseEngine):
    """A memory in a database that speaks Bolt."""

    def __init__(self, place: str, *, from_scratch: bool, read_only: bool, patience: float) -> None:
        """Open the memory at the URL `place`; create it if there is none; a write waits `patience` seconds for others.

        Raises:
            StorageError: the database cannot be reached, or refuses the user; or it has no memory, and `read_only` is
                set.
            FormatVersionError: the memory has an unknown format.
        """
        self.lock = threading.RLock()
        self.connection, self.url = bolt.Connection(bolt.BoltAddress.of(place)), place
        self.turn = WriteLease(self.connection, self.stored_head)
        self._patience = patience
        self.read_only = read_only
        self._settings = _UNKNOWN
        """The properties of the memory, and when the database was asked for them."""
        self._work: Work | None = None
        try:
            self._identity = self._opened()
            if from_scratch:
                self.clear()
        except BaseException:
            self.close()
            raise
        bind_to_process(self)

    def _opened(self) -> str:
        rows = self.connection.read(bolt.MEMORY)
        if not rows:
            if self.read_only:
                raise StorageError(f"there is no memory at {self.connection.address}; open it once without read_only")
            for statement in bolt.SCHEMA:
                self.connection.read(statement)
            rows = self.connection.read(bolt.CREATE_MEMORY, identity=secrets.token_hex(), format=bolt.FORMAT)
        memory = rows[0]["memory"]
        if memory["format"] != bolt.FORMAT:
            raise FormatVersionError(
                f"the memory at {self.connection.address} has format {memory['format']}, but this version of "
                f"neurogated reads {bolt.FORMAT}"
            )
        return str(memory["identity"])

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the child shares the parent's sockets either way
        """Leave the connections to the parent process."""
        self.lock = cast("threading.RLock", InheritedLock())
        self.turn.disown()

    def identity(self) -> str:
        return self._identity

    def log(self, namespace: str) -> Neo4jLog:
        if self.head(namespace) is None and not self.read_only:
            with self.transaction() as work:
                if work.head(namespace) is None:
                    self.add_epoch(work, namespace, Head(epoch=-1))
        return Neo4jLog(self, namespace)

    @staticmethod
    def add_epoch(work: Work, namespace: str, head: Head) -> None:
        """Give a graph an epoch that no graph had."""
        epoch = work.memory["epochs"] + 1
        work.memory["epochs"] = epoch
        work.add(bolt.SET_MEMORY, values={"epochs": epoch})
        Neo4jEngine.set_head(work, namespace, replace(head, epoch=epoch))

    @staticmethod
    def set_head(work: Work, namespace: str, head: Head) -> None:
        """Record the end of the log of a graph."""
        work.heads[namespace] = head
        work.add(bolt.SET_GRAPH, namespace=namespace, values=asdict(head))

    def head(self, namespace: str) -> Head | None:
        """Return the end of the log of a graph, including uncommitted deltas; None if there is no such graph."""
        with self.lock:
            if (work := self.known) is not None:
                return work.head(namespace)
            return self.stored_head(namespace)

    @property
    def known(self) -> Work | None:
        """What the database holds for certain, with the uncommitted changes of this process; None if unknown."""
        return self._work or self.turn.work

    def stored_head(self, namespace: str) -> Head | None:
        """Read the end of the log of a graph in the database; None if there is no such graph."""
        now = time.monotonic()
        rows = self.connection.read(bolt.GRAPH, namespace=namespace)
        if not rows:
            raise StorageError(f"the memory at {self.connection.address} was deleted; close it")
        self._settings = now, rows[0].pop("memory")
        return None if rows[0]["epoch"] is None else Head(**rows[0])

    def namespaces(self) -> list[str]:
        with self.lock:
            stored = [row["namespace"] for row in self.connection.read(bolt.GRAPHS)]
            heads = {} if (work := self.known) is None else work.heads
        return [name for name in dict.fromkeys((*stored, *heads)) if heads.get(name, _NO_GRAPH) is not None]

    def drop_namespace(self, name: str) -> None:
        with self.transaction() as work:
            for statement in bolt.DROP_GRAPH:
                work.add(statement, namespace=name)
            work.heads[name] = None

    def clear(self) -> None:
        """Erase all graphs and the settings; the names of places that have copies of their texts stay."""
        with self.transaction():
            for name in self.namespaces():
                self.drop_namespace(name)
            self.record(dict.fromkeys(("frozen", "embedder", "dimension")))

    # Transactions

    @contextmanager
    def writing(self, patience: float | None = None) -> Iterator[Work]:
        with self.lock:
            if self._work is not None:
                yield self._work
                return
            # A block without a turn reads one state.
            reading = nullcontext(Work("", self._memory(), self.stored_head)) if self.read_only else None
            patience = self._patience if patience is None else patience
            with reading or self.turn.held(patience, self.while_waiting) as work:
                try:
                    self._work = work
                    yield work
                finally:
                    self._work = None
                    self._settings = _UNKNOWN

    @contextmanager
    def transaction(self) -> Iterator[Work]:
        with self.writing() as work, work.undone_by_errors():
            is_outermost, work.is_part = not work.is_part, True
            yield work
            if is_outermost:
                if work.statements:
                    self._commit(work)
                work.statements.clear()
                work.entries.clear()
                work.is_part, work.first, work.commit = False, None, secrets.token_hex(8)

    def _commit(self, work: Work) -> None:
        """Send the statements of a transaction.

        Raises:
            StorageError: the memory is read-only, or the server is away; the message tells if the outcome is unknown.
            MemoryLockedError: the turn ended while this process was stopped; nothing is written.
        """
        if self.read_only:
            raise StorageError(
                f"the memory at {self.connection.address} is open read-only; open it without read_only to change it"
            )
        values = self.connection.complete({"holder": work.holder, "commit": work.commit, "lease": LEASE})

        held: dict[str, Any] = {}

        def is_to_do(transaction: neo4j.Transaction) -> bool:
            held["sent"], row = time.monotonic(), transaction.run(bolt.HOLD, values).single()
            if row is None:
                raise MemoryLockedError("this process stopped for so long that others wrote; try again")
            held["is_asked_for"] = row["is_asked_for"]
            return not row["done"]

        try:
            self.connection.write(is_to_do, work.statements)
            self.turn.renewed(**held)
        except BaseException as error:
            self.turn.give_up()
            if not (isinstance(error, StorageError) and work.is_stored(self.connection)):
                raise

    # Settings of the memory

    def _memory(self) -> dict[str, Any]:
        with self.lock:
            if (work := self.known) is not None:
                return work.memory
            if self._settings[0] < wanted():
                self.stored_head("")
            return self._settings[1]

    def settings(self) -> dict[str, Any]:
        return self._memory()

    def record(self, settings: Mapping[str, Any]) -> None:
        values = {name: "" if value is None else value for name, value in settings.items()}
        with self.transaction() as work:
            work.memory |= values
            work.add(bolt.SET_MEMORY, values=values)

    def is_frozen(self) -> bool:
        # It is false if it was never frozen, and empty if no longer: earlier builds of this format need the property.
        return self._memory().get("frozen") in (True, "1")

    def copies(self) -> list[str]:
        return sorted(self._memory()["copies"])

    def record_copy(self, place: str, *, exists: bool) -> None:
        with self.transaction() as work:
            others = [other for other in work.memory["copies"] if other != place]
            self.record({"copies": [*others, place] if exists else others})

    def close(self) -> None:
        """Close the connections; the database holds every acknowledged write."""
        self.turn.close()
        self.connection.close()


class Neo4jLog(DeltaLog):
    """The journal of one graph; see `Log`. The same transactions write the nodes and relationships of a delta."""

    def __init__(self, engine: Neo4jEngine, name: str) -> None:
        self.engine: Neo4jEngine = engine
        self.name = name

    @property
    def number(self) -> int:
        """The epoch, which no other graph of the memory has or had."""
        return self.position().epoch

    def position(self) -> Position:
        head = self.engine.head(self.name) or _NO_GRAPH
        return Position(head.epoch, head.sequence)

    def end(self) -> tuple[Position, list[JournalEntry]]:
        with self.engine.lock:
            return super().end()

    def uncommitted(self) -> list[JournalEntry]:
        entries = () if (work := self.engine.known) is None else work.entries
        return [entry for name, entry in entries if name == self.name]

    def unchanged_since(self) -> float:
        """Return when this process took its turn to write, or else the present."""
        return self.engine.turn.began or time.monotonic()

    def append(self, plan: Plan, index: GraphIndex) -> int:
        delta = plan.delta
        reason, changes, operators = line_of(delta)
        with self.engine.transaction() as work:
            head = self._head(work)
            head = replace(head, sequence=head.sequence + 1)
            work.add(
                bolt.CREATE_DELTA,
                namespace=self.name,
                values={
                    "sequence": head.sequence,
                    "commit": work.commit,
                    "body": encode(delta),
                    "at": to_micros(delta.at),
                    "at_text": delta.at.isoformat(),
                    "reason": reason,
                    "changes": json.dumps(changes),
                    "operators": json.dumps(operators),
                },
            )
            work.statements += projection_of(self.name, plan, index)
            work.heads[self.name] = head
            work.first = work.first or (self.name, head.sequence)
            work.entries.append((self.name, JournalEntry(head.sequence, delta)))
        return head.sequence

    def _head(self, work: Work) -> Head:
        if (head := work.head(self.name)) is None:
            raise MemoryClosedError("this namespace was dropped; ask in_namespace for a new one")
        return head

    def bodies(self, epoch: int, first: int, last: int) -> list[tuple[int, bytes]]:
        return [(row["sequence"], row["body"]) for row in self._ask(bolt.DELTAS, first=first, last=last, epoch=epoch)]

    def lines(self, after: int, up_to: int) -> Iterator[tuple[int, int, Line]]:
        for row in self._ask(bolt.HISTORY, after=after, up_to=up_to):
            yield row["sequence"], row["at"], (row["reason"], json.loads(row["changes"]), json.loads(row["operators"]))

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:
        with self.engine.transaction() as work:
            bodies = [{"sequence": number, "body": encode(delta)} for number, delta in enumerate(deltas, start=1)]
            self.engine.add_epoch(work, self.name, self._head(work))
            for statement in bolt.DROP_CHECKPOINT:
                work.add(statement, namespace=self.name)
            work.statements += in_portions(bolt.SET_BODIES, self.name, bodies)
            work.entries = [one for one in work.entries if one[0] != self.name]
            work.entries += [(self.name, JournalEntry(number, one)) for number, one in enumerate(deltas, start=1)]

    def erased_up_to(self) -> int:
        return (self.engine.head(self.name) or _NO_GRAPH).erased

    def record_erased(self, up_to: int) -> None:
        with self.engine.transaction() as work:
            self.engine.set_head(work, self.name, replace(self._head(work), erased=up_to))

    def read_checkpoint(self, epoch: int) -> tuple[int, Iterable[bytes]]:
        for row in self._ask(_FIND, epoch=epoch):
            return row["sequence"], self._parts(row["name"], row["parts"])
        return 0, ()

    def _parts(self, name: str, parts: int) -> Iterator[bytes]:
        for number in range(1, parts + 1):
            rows = self._ask(_READ, name=name, number=number)
            if not rows:
                raise CorruptMemoryError(f"part {number} of {parts} is missing")
            yield rows[0]["body"]

    def write_checkpoint(self, position: Position, deltas: Iterator[bytes]) -> None:
        name = f"{position.sequence:020d}-{secrets.token_hex(8)}"
        given, parts = {"name": name, "epoch": position.epoch}, 0
        for parts, body in enumerate(deltas, start=1):
            if not self._ask(_WRITE, **given, number=parts, body=body):
                break
        else:
            self._ask(_FINISH, **given, sequence=position.sequence, parts=parts)
        self._ask(_DROP_EARLIER, name=name)

    def _ask(self, text: str, **values: object) -> list[dict[str, Any]]:
        return self.engine.connection.read(text, namespace=self.name, **values)
