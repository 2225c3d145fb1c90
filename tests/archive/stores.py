"""Stores of every kind."""

from collections.abc import Callable
from pathlib import Path

from neurogated import GraphStore
from neurogated.testing import ManualClock

OpenStore = Callable[[ManualClock], GraphStore]


def stores(kind: str, folder: Path) -> OpenStore:
    """Return a function that opens new, empty stores of a kind."""
    made: list[None] = []

    def make(clock: ManualClock) -> GraphStore:
        made.append(None)
        if kind == "memory":
            return GraphStore(clock=clock)
        from neurogated.storage.sqlite_store import SqliteStore

        return SqliteStore.open(folder / f"{len(made)}-{id(made)}.db", clock=clock)

    return make
