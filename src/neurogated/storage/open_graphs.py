"""Which graphs of a memory file have their indexes in memory; beyond a bound the least recently used is closed."""

from __future__ import annotations

import threading
import weakref
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
    """The open graphs in the order of their last use. Its methods are called with the lock of the file held.

    It belongs to the first graph that was opened and keeps the others alive while they are open. The first one it only
    knows by a weak reference, and so do the others know it: a cycle would keep the file open after its last use.
    """

    def __init__(self, most: int) -> None:
        """Keep `most` graphs open, and more only while what is beyond it is in use."""
        self._most = most
        self._graphs: dict[weakref.ref[_Graph], _Graph | None] = {}

    def __len__(self) -> int:
        return len(self._graphs)

    def __contains__(self, graph: object) -> bool:
        return weakref.ref(graph) in self._graphs

    def use(self, graph: _Graph, *, is_first: bool, in_transaction: bool) -> None:
        """Note that an open graph is used, and close others where there are too many and no transaction needs them."""
        self.discard(graph)
        excess = len(self._graphs) + 1 - self._most
        if excess > 0 and not in_transaction:
            for reference in list(self._graphs):
                other = reference()
                if excess > 0 and (other is None or other.unload()):
                    self._graphs.pop(reference, None)
                    excess -= 1
        self._graphs[weakref.ref(graph)] = None if is_first else graph

    def discard(self, graph: _Graph) -> None:
        """Forget a graph that is closed."""
        self._graphs.pop(weakref.ref(graph), None)
