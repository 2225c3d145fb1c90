"""Settings of a memory."""

from neurogated.config.memory_config import MemoryConfig

__all__ = ["MemoryConfig"]
