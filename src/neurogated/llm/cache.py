"""A cache of answers by the hash of their requests, so a repeated request costs nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsStatistics
from neurogated.core.files import CacheFile
from neurogated.core.ports import Message
from neurogated.llm.base import BaseLLM, Meta, ask


class CachedLLM(BaseLLM):
    """Wraps a model and caches its answers in an SQLite file. Empty answers are not cached.

    The `meta` of a cached answer holds its original token counts, and `cached` is True. The file is derived: a damaged
    entry is logged, and the model is asked again.
    """

    def __init__(self, llm: BaseLLM, path: Path, max_bytes: int = MemoryConfig().cache_bytes) -> None:
        """Open or create the cache. If neither is possible, nothing is cached.

        Args:
            llm: the wrapped model.
            path: the cache's file.
            max_bytes: maximum size of the file; the least recently used answers are evicted.
        """
        self._llm = llm
        self._file = CacheFile(path, max_bytes)

    @property
    def name(self) -> str:
        return self._llm.name

    @property
    def parameters(self) -> Mapping[str, Any]:
        return self._llm.parameters

    def infer(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> tuple[str, Meta]:
        """Return the cached answer, or the wrapped model's.

        Raises:
            LLMError: from the wrapped model.
            MemoryClosedError: the cache is closed.
        """
        key = self._key(messages, schema)
        kept = self._file.get([key], _parsed).get(key)
        if kept is not None:
            text, meta = kept
            return text, {**meta, "cached": True}
        since = self._file.epoch()
        text, meta = ask(self._llm, messages, schema)
        if text.strip():
            self._file.put({key: json.dumps([text, meta]).encode()}, since)
        return text, meta

    def reading(self, *, stale: bool = False) -> AbstractContextManager[None]:
        return self._file.reading(stale=stale)

    def forget(self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None) -> None:
        """Drop the answer to these messages, so that the next call asks the wrapped model."""
        self._file.remove([self._key(messages, schema)])

    def clear(self) -> None:
        """Delete all answers, including those on disk. Raises StorageError if the file cannot be changed now."""
        self._file.clear()

    def statistics(self) -> dict[str, int | float]:
        """Return the cache's hits, misses and bytes, and the wrapped model's statistics."""
        wrapped = self._llm.statistics() if isinstance(self._llm, SupportsStatistics) else {}
        return {**wrapped, **self._file.statistics()}

    def close(self) -> None:
        """Close the file and the wrapped model."""
        self._file.close()
        self._llm.close()

    def _key(self, messages: Sequence[Message], schema: Mapping[str, Any] | None) -> bytes:
        asked = {"messages": [dict(message) for message in messages], "schema": schema, **self.parameters}
        return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).digest()


def _parsed(value: bytes) -> tuple[str, Meta] | None:
    """Return a cached answer and its metadata, None if the entry is damaged."""
    try:
        match json.loads(value):
            case [str(text), dict(meta)]:
                return text, meta
    except ValueError:
        pass
    return None
