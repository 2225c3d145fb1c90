"""Which graphs of a memory file have their indexes in memory; beyond a bound the least recently used is closed."""

from __future__ import annotations

import threading
from types import TracebackType
from typing import Protocol

__all__ = ["OpenGraphs", "Uses"]


class Uses:
    """Counts who uses something just now; a context manager that threads may enter at once."""

    def __init__(self) -> None:
        self._count = 0
        self._lock = threading.Lock()

    def __enter__(self) -> None:
        with self._lock:
            self._count += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            self._count -= 1

    def __bool__(self) -> bool:
        return self._count > 0


class _Graph(Protocol):
    """A graph that can be closed, and opens itself on its next use."""

    def unload(self) -> bool:
        """Let go of what is in memory; return whether that was possible."""


class OpenGraphs:
    """The open graphs in the order of their last use. Its methods are called with the lock of the engine held.

    The stores of a memory hold it, and it keeps the graphs alive while they are open.
    """

    def __init__(self) -> None:
        self._graphs: dict[_Graph, None] = {}

    def __len__(self) -> int:
        return len(self._graphs)

    def __contains__(self, graph: object) -> bool:
        return graph in self._graphs

    def use(self, graph: _Graph, most: int) -> None:
        """Note that an open graph is used, and close others beyond `most`, except those that are in use."""
        self.discard(graph)
        excess = len(self._graphs) + 1 - most
        for other in list(self._graphs) if excess > 0 else ():
            if excess > 0 and other.unload():
                excess -= 1
        self._graphs[graph] = None

    def discard(self, graph: _Graph) -> None:
        """Forget a graph that is closed."""
        self._graphs.pop(graph, None)
