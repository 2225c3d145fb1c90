"""`Work`: what a process writes during one turn, until it is committed."""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from neurogated.core.delta import JournalEntry
from neurogated.errors import StorageError
from neurogated.storage.log.neo4j.connection import Connection, Statement
from neurogated.storage.log.neo4j.schema import COMMITTED


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log of one graph."""

    epoch: int
    sequence: int = 0
    erased: int = 0
    """The number of the last change whose past was erased."""


@dataclass(slots=True)
class Work:
    """The statements of a transaction, and what the database will hold after them.

    The statements are sent when the transaction ends, so a part of it can be rolled back; Bolt has no savepoints.
    """

    holder: str
    """The name of the turn."""
    memory: dict[str, Any]
    """Properties of the memory."""
    look_up: Callable[[str], Head | None]
    """Reads the head of a graph in the database."""
    heads: dict[str, Head | None] = field(default_factory=dict)
    """The heads that were read or written; None for a graph that does not exist."""
    statements: list[Statement] = field(default_factory=list)
    entries: list[tuple[str, JournalEntry]] = field(default_factory=list)
    """The appended and replaced deltas, with their namespaces."""
    is_part: bool = False
    """Whether a transaction is under way."""
    commit: str = field(default_factory=lambda: secrets.token_hex(8))
    """The name of the transaction."""
    first: tuple[str, int] | None = None
    """The namespace and number of the first delta that it appends."""

    def head(self, name: str) -> Head | None:
        """Return the end of the log of a graph; None if the graph does not exist."""
        if name not in self.heads:
            self.heads[name] = self.look_up(name)
        return self.heads[name]

    def add(self, text: str, **values: Any) -> None:  # noqa: ANN401 - values of parameters
        """Add a statement."""
        self.statements.append(Statement(text, values))

    def is_stored(self, connection: Connection) -> bool:
        """Return whether the log has the transaction although it failed: its answer may have been lost.

        Raises:
            StorageError: the server is away, so that this is unknown.
        """
        if self.first is None:
            return False
        namespace, sequence = self.first
        try:
            return bool(connection.read(COMMITTED, namespace=namespace, sequence=sequence, commit=self.commit))
        except StorageError as error:
            raise StorageError(f"{error}; whether the last change was stored is unknown") from error

    @contextlib.contextmanager
    def undone_by_errors(self) -> Iterator[None]:
        """Run a block; if it raises, forget what it wrote."""
        memory, heads, first = dict(self.memory), dict(self.heads), self.first
        statements, entries, is_part = len(self.statements), self.entries.copy(), self.is_part
        try:
            yield
        except BaseException:
            self.memory, self.heads, self.entries, self.is_part = memory, heads, entries, is_part
            self.first = first
            del self.statements[statements:]
            raise
