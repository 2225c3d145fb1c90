"""The outcome of transactions."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class Block:
    """A transaction or a nested part of one. It tells a graph whether the changes it shows were committed."""

    outer: Block | None
    """The enclosing transaction."""
    under_way: threading.Lock = field(default_factory=threading.Lock)
    """Held until the transaction is committed or rolled back."""
    made: bool = False
    """Whether it was committed, or merged into the outer one."""


class Blocks:
    """The transactions of one engine in this process; only one thread at a time is in them.

    They stay consistent if an interrupt strikes at any line, because a `with` statement releases each lock.
    """

    def __init__(self) -> None:
        self._last: Block | None = None

    @property
    def innermost(self) -> Block | None:
        """The innermost transaction under way."""
        block = self._last
        while block is not None and not block.under_way.locked():
            block = block.outer
        return block

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Run the block as a transaction, or as a part of the one under way; it is made when the block ends."""
        block = self._last = Block(self.innermost)
        with block.under_way:
            yield
        block.made = True
