"""The graphs of a memory file whose indexes are in memory; beyond a bound, the least recently used is unloaded."""

from __future__ import annotations

from typing import Protocol

__all__ = ["OpenGraphs"]


class _Graph(Protocol):
    """A graph that can be unloaded and reloads itself on its next use."""

    def unload(self) -> bool:
        """Release the memory of the index; return whether that was possible."""


class OpenGraphs:
    """The open graphs in the order of their last use. Callers hold the lock of the engine.

    The stores of a memory hold it, and it keeps the open graphs alive.
    """

    def __init__(self) -> None:
        self._graphs: dict[_Graph, None] = {}

    def __len__(self) -> int:
        return len(self._graphs)

    def __contains__(self, graph: object) -> bool:
        return graph in self._graphs

    def use(self, graph: _Graph, most: int) -> None:
        """Record the use of an open graph, and unload idle graphs while more than `most` are open."""
        self.discard(graph)
        excess = len(self._graphs) + 1 - most
        for other in list(self._graphs) if excess > 0 else ():
            if excess > 0 and other.unload():
                excess -= 1
        self._graphs[graph] = None

    def discard(self, graph: _Graph) -> None:
        """Forget a closed graph."""
        self._graphs.pop(graph, None)
