"""The contracts of projections: they follow a graph, hold no truth, and may be lost at any time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from neurogated.core.ports import GraphStorePort

__all__ = ["CanvasKey", "CanvasStorage", "FactProjection", "remove_file"]


class FactProjection(Protocol):
    """A table of the facts of graphs, which follows their journals and holds no truth."""

    def catch_up(self, store: GraphStorePort, namespace: str) -> int:
        """Write the changes of a graph since the last call, and return their number; raises StorageError."""

    def forget(self, store: GraphStorePort, namespace: str) -> None:
        """Remove the rows of a graph; raises StorageError."""

    def settle(self) -> None:
        """Leave no removed words in files; raises StorageError if that is not possible now."""


def remove_file(path: Path) -> None:
    """Remove a file of SQLite with its write-ahead log."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


class CanvasKey(NamedTuple):
    """Names a working canvas by hashes."""

    graph: str
    """The graph."""
    scope: str
    """The user and the session."""


class CanvasStorage(Protocol):
    """Holds working canvases: for each key the memories with the highest scores. It may lose them at any time."""

    def enter(self, key: CanvasKey, scores: Mapping[str, float], size: int, *, complete: bool = False) -> None:
        """Put memories on a canvas, which keeps the `size` best.

        Args:
            key: the canvas; it is created if there is none.
            scores: the score by id; a memory on the canvas keeps the larger score.
            size: how many memories the canvas holds.
            complete: whether the canvas is complete from now on, since `scores` are the best of the whole graph.

        Raises:
            StorageError: the server is away or full.
        """

    def read(self, key: CanvasKey, size: int) -> dict[str, float] | None:
        """Return the `size` best memories of a canvas with their scores, best first.

        None if there is no canvas or if it was never complete. Raises StorageError.
        """

    def remove(self, graph: str, ids: Iterable[str]) -> None:
        """Remove memories from all canvases of a graph; raises StorageError."""

    def clear(self) -> None:
        """Remove all canvases of the memory; raises StorageError."""

    def close(self) -> None:
        """Release connections."""
