"""What became of a transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Block", "Blocks"]


@dataclass(slots=True)
class Block:
    """A transaction or a part of one, by which a graph learns what became of the changes that it shows."""

    outer: Block | None
    """The one that it is a part of."""
    under_way: threading.Lock = field(default_factory=threading.Lock)
    """Held as long as it is neither committed nor rolled back."""
    made: bool = False
    """Whether it was committed, or became a part of the outer one."""


class Blocks:
    """The transactions of one engine in this process; one thread at a time is in them.

    An interrupt at any line leaves them in order: only a `with` statement releases a lock wherever it strikes.
    """

    def __init__(self) -> None:
        self._last: Block | None = None

    @property
    def innermost(self) -> Block | None:
        """The innermost transaction that is under way."""
        block = self._last
        while block is not None and not block.under_way.locked():
            block = block.outer
        return block

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Run the block as a transaction, or a part of the one under way; it is made when the block ends."""
        block = self._last = Block(self.innermost)
        with block.under_way:
            yield
        block.made = True
