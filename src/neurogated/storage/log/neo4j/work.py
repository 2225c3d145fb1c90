"""`Work`: what a process writes during one turn, until it is committed."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from neurogated.core.delta import JournalEntry
from neurogated.storage.log.neo4j.connection import Statement


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

    def head(self, name: str) -> Head | None:
        """Return the end of the log of a graph; None if the graph does not exist."""
        if name not in self.heads:
            self.heads[name] = self.look_up(name)
        return self.heads[name]

    def add(self, text: str, **values: Any) -> None:  # noqa: ANN401 - values of parameters
        """Add a statement."""
        self.statements.append(Statement(text, values))

    @contextlib.contextmanager
    def undone_by_errors(self) -> Iterator[None]:
        """Run a block; if it raises, forget what it wrote."""
        memory, heads = dict(self.memory), dict(self.heads)
        statements, entries, is_part = len(self.statements), self.entries.copy(), self.is_part
        try:
            yield
        except BaseException:
            self.memory, self.heads, self.entries, self.is_part = memory, heads, entries, is_part
            del self.statements[statements:]
            raise
