"""Stores of every kind."""

from collections.abc import Callable
from pathlib import Path

from neurogated import GraphStore
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.testing import ManualClock

OpenStore = Callable[[ManualClock], GraphStore]


def stores(kind: str, folder: Path) -> OpenStore:
    """Return a function that opens new, empty stores of a kind."""
    made: list[None] = []

    def make(clock: ManualClock) -> GraphStore:
        made.append(None)
        if kind == "memory":
            return GraphStore(config=MemoryConfig(runtime=RuntimeSettings(overlay_edges=4)), clock=clock)
        from neurogated.storage.sqlite_store import SqliteStore

        return SqliteStore.open(
            folder / f"{len(made)}-{id(made)}.db",
            config=MemoryConfig(runtime=RuntimeSettings(overlay_edges=4)),
            clock=clock,
        )

    return make
