"""The connection to a Neo4j database: its address, its statements, and the translation of its errors."""

import logging
import os
import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Any, Final, NamedTuple, Self, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

import neo4j
from neo4j.exceptions import (
    AuthError,
    ConnectionAcquisitionTimeoutError,
    ConstraintError,
    DriverError,
    IncompleteCommit,
    Neo4jError,
    ServiceUnavailable,
    SessionExpired,
)

from neurogated.errors import ConfigError, MemoryClosedError, StorageError, UnreachableError
from neurogated.text.strings import checked_identifier

_DEFAULT_MEMORY = "default"


@dataclass(frozen=True, slots=True)
class BoltAddress:
    """Where a database is, and who opens it."""

    server: str
    """Its URL without user, password and database, as in `bolt://localhost:7687`."""
    database: str | None = None
    """Its name; None for the server's default."""
    memory: str = _DEFAULT_MEMORY
    """Its memory; a database may hold several."""
    user: str | None = None
    password: str = field(default="", repr=False)

    @classmethod
    def of(cls, url: str, environ: Mapping[str, str] = os.environ) -> Self:
        """Return the address that a URL names, as in `bolt://USER:PASSWORD@HOST:7687/DATABASE?memory=NAME`.

        Only the host is necessary. `NEO4J_USERNAME` (or `NEO4J_USER`) and `NEO4J_PASSWORD` of `environ` complete it.

        Raises:
            ConfigError: the URL names no host, has an unknown part, or names a database that no server can have.
        """
        parts = urlsplit(url)
        database = parts.path.removeprefix("/")
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        memory = query.pop("memory", _DEFAULT_MEMORY)
        if not parts.hostname or "/" in database or query or not memory or parts.fragment:
            # The URL may have a password.
            raise ConfigError(
                "storage is no address of a Neo4j database; write bolt://HOST:7687 or bolt://HOST:7687/DATABASE?memory=NAME"
            )
        checked_identifier("the database in storage", database)
        user = unquote(parts.username or "") or environ.get("NEO4J_USERNAME") or environ.get("NEO4J_USER")
        password = unquote(parts.password or "") or environ.get("NEO4J_PASSWORD", "")
        server = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        return cls(server, database or None, memory, user or None, password)

    def __str__(self) -> str:
        return f"{self.server}/{self.database or ''}?memory={self.memory}"


_Answer = TypeVar("_Answer")

_AWAY = ServiceUnavailable, SessionExpired, ConnectionAcquisitionTimeoutError
_CONNECT_SECONDS = 5.0
_RETRY_SECONDS = 5.0
"""How long failed statements are repeated: a server that restarts is back by then."""
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.005, 0.1
"""Longer pauses would starve a statement beside a process that writes again and again."""

# The driver warns of labels that the database does not know yet, and of repetitions that are no fault.
logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)


class BoltStatement(NamedTuple):
    """A statement in Cypher. Its text is a constant; every value is a parameter."""

    text: str
    values: dict[str, Any]


class Connection:
    """A pool of connections to one database. Threads may share it."""

    def __init__(self, address: BoltAddress) -> None:
        """Describe the database; the first statement connects to it."""
        self.address = address
        self._closed = False
        self._driver = neo4j.GraphDatabase.driver(
            address.server,
            auth=None if address.user is None else (address.user, address.password),
            connection_timeout=_CONNECT_SECONDS,
            connection_acquisition_timeout=2 * _CONNECT_SECONDS,
            notifications_min_severity="OFF",
        )

    def read(self, text: str, **values: object) -> list[dict[str, Any]]:
        """Run one statement as a transaction of its own; return its rows. It may run twice.

        Raises:
            StorageError: the server cannot be reached, or refuses the statement.
        """
        return self._repeated(lambda session: session.run(text, self.complete(values)).data())

    def write(self, check: Callable[[neo4j.Transaction], bool], statements: Iterable[BoltStatement]) -> None:
        """Run statements in one transaction, in order.

        `check` runs first, and returns False if an earlier attempt succeeded whose answer was lost.

        Raises:
            StorageError: as for `read`. None of the statements had an effect, unless the connection broke for good
                while they were committed.
        """

        def attempt(session: neo4j.Session) -> None:
            with session.begin_transaction() as transaction:
                if check(transaction):
                    for text, values in statements:
                        transaction.run(text, self.complete(values)).consume()
                transaction.commit()

        self._repeated(attempt)

    def complete(self, values: dict[str, Any]) -> dict[str, Any]:
        """Return the parameters of a statement with the name of the memory."""
        return {**values, "memory": self.address.memory}

    def _repeated(self, action: Callable[[neo4j.Session], _Answer]) -> _Answer:
        if self._closed:
            raise MemoryClosedError("the memory is closed; open it again to use it")
        end, pause = time.monotonic() + _RETRY_SECONDS, _PAUSE_SECONDS
        while True:
            try:
                with self._driver.session(database=self.address.database) as session:
                    return action(session)
            except (Neo4jError, DriverError) as error:
                # Two transactions that meet violate a constraint on some servers, and are a passing fault on others.
                may_pass = error.is_retryable() or isinstance(error, ConstraintError | IncompleteCommit)
                if not may_pass or time.monotonic() > end:
                    raise self._translated(error) from error
                time.sleep(pause * random.random())  # noqa: S311 - parts contenders
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)

    def _translated(self, error: Neo4jError | DriverError) -> StorageError:
        if isinstance(error, AuthError):
            return StorageError(
                f"the database at {self.address} refuses the user or the password; write them into the URL of storage, "
                "or set NEO4J_USERNAME and NEO4J_PASSWORD"
            )
        if isinstance(error, DriverError):
            kind = UnreachableError if isinstance(error, _AWAY) else StorageError
            return kind(f"the database at {self.address} cannot be reached; start it, or correct storage ({error})")
        if error.code.endswith("DatabaseNotFound"):
            return StorageError(f"there is no database at {self.address}; create it, or correct its name in storage")
        told = f"{shorten(error.message, 160, placeholder=' …')} ({error.code})"
        if error.code.startswith("Neo.DatabaseError"):
            return StorageError(
                f"the database at {self.address} failed; its log has the reason, such as a full disk: {told}"
            )
        return StorageError(f"the database at {self.address} refuses a statement: {told}")

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._driver.close()


FORMAT: Final = 1

_UNIQUE = (
    ("NeurogatedMemory", "n.memory"),
    ("NeurogatedGraph", "(n.memory, n.namespace)"),
    ("NeurogatedDelta", "(n.memory, n.namespace, n.sequence)"),
)
# These keys need no constraint, since the log decides; and with one, some servers cannot change a label.
_INDEXED = (
    ("NeurogatedNode", "id"),
    ("NeurogatedNode", "kind"),
    ("NeurogatedNode", "timestamp"),
    ("NeurogatedTag", "name"),
    ("NeurogatedCheckpoint", "name"),
)
SCHEMA: Final = tuple(
    f"CREATE CONSTRAINT {label} IF NOT EXISTS FOR (n:{label}) REQUIRE {key} IS UNIQUE" for label, key in _UNIQUE
) + tuple(
    f"CREATE INDEX {label}_{name} IF NOT EXISTS FOR (n:{label}) ON (n.memory, n.namespace, n.{name})"
    for label, name in _INDEXED
)

_MEMORY: Final = "(m:NeurogatedMemory {memory: $memory})"
MEMORY: Final = f"MATCH {_MEMORY} RETURN properties(m) AS memory"
CREATE_MEMORY: Final = (
    f"MERGE {_MEMORY} ON CREATE SET m.identity = $identity, m.format = $format, m.epochs = 0, m.frozen = false,"
    " m.copies = [], m.holder = '', m.asked = '', m.until = 0 RETURN properties(m) AS memory"
)
SET_MEMORY: Final = f"MATCH {_MEMORY} SET m += $values"
HOLD: Final = (
    f"MATCH {_MEMORY} WHERE m.holder = $holder WITH m, coalesce(m.commit, '') = $commit AS done"
    " SET m.commit = $commit, m.until = timestamp() + $lease RETURN done, coalesce(m.asked, '') <> '' AS is_asked_for"
)

OWN: Final = "memory: $memory, namespace: $namespace"
"""The properties of every node of a graph, in a pattern."""
GRAPH_NODE: Final = f"(g:NeurogatedGraph {{{OWN}}})"
GRAPH: Final = (
    f"MATCH {_MEMORY} OPTIONAL MATCH {GRAPH_NODE} RETURN properties(m) AS memory, g.epoch AS epoch,"
    " g.sequence AS sequence, g.erased AS erased"
)
GRAPHS: Final = "MATCH (g:NeurogatedGraph {memory: $memory}) RETURN g.namespace AS namespace ORDER BY g.created"
SET_GRAPH: Final = f"MERGE {GRAPH_NODE} ON CREATE SET g.created = $values.epoch SET g += $values"
# The graph is locked first, so that nobody adds to a checkpoint that was dropped.
DROP_CHECKPOINT: Final = (
    f"MATCH {GRAPH_NODE} SET g.checkpoint = null, g.checkpointed = null, g.parts = null",
    f"MATCH (c:NeurogatedCheckpoint {{{OWN}}}) DELETE c",
)
DROP_GRAPH: Final = DROP_CHECKPOINT + tuple(
    f"MATCH (n:{label} {{{OWN}}}) DETACH DELETE n"
    for label in ("NeurogatedNode", "NeurogatedTag", "NeurogatedDelta", "NeurogatedGraph")
)

CREATE_DELTA: Final = (
    f"MATCH {GRAPH_NODE} SET g.sequence = $values.sequence"
    f" CREATE (d:NeurogatedDelta {{{OWN}, sequence: $values.sequence}}) SET d += $values"
)
# The name of a commit tells whether it reached the log, also after later ones.
COMMITTED: Final = (
    f"MATCH (d:NeurogatedDelta {{{OWN}, sequence: $sequence}}) WHERE d.commit = $commit RETURN d.sequence AS sequence"
)
# Keys are looked up one by one, since not every server reads a range from an index of several properties.
DELTAS: Final = (
    f"MATCH {GRAPH_NODE} WHERE g.epoch = $epoch WITH g UNWIND range($first, $last) AS number"
    f" MATCH (d:NeurogatedDelta {{{OWN}, sequence: number}})"
    " RETURN d.sequence AS sequence, d.body AS body ORDER BY sequence"
)
SET_BODIES: Final = (
    f"UNWIND $rows AS row MATCH (d:NeurogatedDelta {{{OWN}, sequence: row.sequence}}) SET d.body = row.body"
)
HISTORY: Final = (
    f"MATCH (d:NeurogatedDelta {{{OWN}}}) WHERE d.sequence > $after AND d.sequence <= $up_to"
    " RETURN d.sequence AS sequence, d.at AS at, d.reason AS reason,"
    " d.changes AS changes, d.operators AS operators ORDER BY sequence"
)
