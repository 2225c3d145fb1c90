"""`Connection`: sends statements to a database over Bolt, and repeats what failed for a passing reason."""

from __future__ import annotations

import logging
import random
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

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

from neurogated.errors import MemoryClosedError, StorageError, UnreachableError
from neurogated.storage.log.neo4j.address import Address

_Answer = TypeVar("_Answer")

_AWAY = ServiceUnavailable, SessionExpired, ConnectionAcquisitionTimeoutError
_CONNECT_SECONDS = 5.0
_RETRY_SECONDS = 5.0
"""How long failed statements are repeated: a server that restarts is back by then."""
_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.005, 0.1
"""Longer pauses would starve a statement beside a process that writes again and again."""

# The driver warns of labels that the database does not know yet, and of repetitions that are no fault.
logging.getLogger("neo4j.notifications").setLevel(logging.ERROR)


class Statement(NamedTuple):
    """A statement in Cypher. Its text is a constant; every value is a parameter."""

    text: str
    values: dict[str, Any]


class Connection:
    """A pool of connections to one database. Threads may share it."""

    def __init__(self, address: Address) -> None:
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

    def write(self, check: Callable[[neo4j.Transaction], bool], statements: Iterable[Statement]) -> None:
        """Run statements in one transaction.

        Args:
            check: runs first, in the same transaction; returns False if an earlier attempt succeeded, whose success
                the server could not report.
            statements: run in order.

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
                if not _may_pass(error) or time.monotonic() > end:
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
        return StorageError(f"the database at {self.address} refuses a statement: {error.message} ({error.code})")

    def close(self) -> None:
        """Close all connections."""
        self._closed = True
        self._driver.close()


def _may_pass(error: Neo4jError | DriverError) -> bool:
    """Return whether the same statements may succeed later.

    Two transactions that meet violate a constraint on some servers, and are a passing fault on others.
    """
    return error.is_retryable() or isinstance(error, ConstraintError | IncompleteCommit)
