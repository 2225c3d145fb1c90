"""The contracts of projections: they follow a graph, hold no truth, and may be lost at any time."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, Protocol

from neurogated.core.ports import GraphStorePort


class FactProjection(Protocol):
    """A table of the facts of graphs, which follows their journals and holds no truth."""

    @property
    def place(self) -> str | None:
        """Its URL without the password; None if it is a file in the folder of the memory."""

    def catch_up(self, store: GraphStorePort, namespace: str, *, hurried: bool = False) -> int:
        """Write changes since the last call and lost rows, and count them, `hurried` or not; raises StorageError."""

    def forget(self, store: GraphStorePort, namespace: str) -> None:
        """Remove the rows of a graph; raises StorageError."""

    def erase(self, graphs: Mapping[str, GraphStorePort]) -> None:
        """Hold the rows of these graphs only, and leave no removed words in files; raises StorageError."""


def remove_file(path: Path) -> None:
    """Remove a file of SQLite with its write-ahead log."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def remove_manifests(save_dir: str | Path) -> None:
    """Remove the manifests of users that MCP servers show before they have opened the memory of a folder."""
    for file in Path(save_dir, "manifests").glob("*.json"):
        file.unlink(missing_ok=True)


class CanvasKey(NamedTuple):
    """Names a working canvas by hashes."""

    graph: str
    """The graph."""
    scope: str
    """The user and the session."""


class CanvasStorage(Protocol):
    """Holds working canvases: for each key the memories with the highest scores. It may lose them at any time."""

    def enter(self, key: CanvasKey, scores: Mapping[str, float], size: int, *, complete: bool = False) -> None:
        """Put memories with their scores, by id, on a canvas, which keeps the `size` best, each with its larger score.

        It is created if there is none. It is `complete` from now on if `scores` are the best of the whole graph. Raises
        StorageError if the server is away or full.
        """

    def read(self, key: CanvasKey, size: int) -> dict[str, float] | None:
        """Return the `size` best with their scores, best first; None if it was never complete. Raises StorageError."""

    def remove(self, graph: str, ids: Iterable[str]) -> None:
        """Remove memories from all canvases of a graph; raises StorageError, as `clear` does for all canvases."""

    def clear(self) -> None: ...


class SharedCanvases(CanvasStorage, Protocol):
    """Holds working canvases on a server."""

    @property
    def place(self) -> str:
        """The URL of the server without the password."""

    def erase(self) -> None:
        """Remove every key of the memory, also keys that `clear` cannot find any more; raises StorageError."""

    def close(self) -> None: ...
