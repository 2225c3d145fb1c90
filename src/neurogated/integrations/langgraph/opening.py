"""Memories that a store opens."""

from __future__ import annotations

from langgraph.store.base import IndexConfig

from neurogated import compose
from neurogated.config.memory_config import MemoryConfig
from neurogated.errors import ConfigError
from neurogated.integrations.langgraph.embedding import embedder_of
from neurogated.memory import NeuroGraphMemory

RAM = ":memory:"


def checked_type(name: str, given: object, wanted: type, use: str) -> None:
    """Refuse an argument of another type by saying what it is; raises ConfigError."""
    if given is not None and not isinstance(given, wanted):
        raise ConfigError(f"{name} is a {type(given).__name__}, but must be a {wanted.__name__}; {use}")


def open_memory(conn: str, index: IndexConfig | None, config: MemoryConfig | None = None) -> NeuroGraphMemory:
    """Open a memory in the folder `conn`, or in RAM, with the embedder that the index names or else that of `config`.

    Raises:
        StorageError: the memory cannot be opened. Other errors are those of `NeuroGraphMemory`.
    """
    given = compose.load_config() if config is None else config
    chosen = given.replace(storage="memory") if conn == RAM else given.replace(storage="sqlite", save_dir=str(conn))
    embedder = embedder_of(index)
    return NeuroGraphMemory(chosen, parts=None if embedder is None else compose.build(chosen, embedder=embedder))
