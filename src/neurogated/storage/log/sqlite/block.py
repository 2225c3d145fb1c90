"""What became of a transaction."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

__all__ = ["Block"]


@dataclass(slots=True)
class Block:
    """A transaction or a part of one, by which a graph learns what became of the changes that it shows."""

    outer: Block | None
    """The one that it is a part of."""
    under_way: threading.Lock = field(default_factory=threading.Lock)
    """Held as long as it is neither committed nor rolled back."""
    made: bool = False
    """Whether it was committed, or became a part of the outer one."""
