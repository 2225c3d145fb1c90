"""A cache of vectors by the hash of their texts, so indexing again computes no vectors."""

import hashlib
import logging
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsStatistics
from neurogated.core.files import CacheFile
from neurogated.core.ports import Embedder

_log = logging.getLogger(__name__)

_NUMBER = np.dtype("<f4")


class CachedEmbedder:
    """Wraps an embedder and caches the vectors of passages in a file. Questions are not cached.

    The file is derived: a damaged entry, or one with another length, is logged and recomputed.
    """

    def __init__(self, embedder: Embedder, path: Path, max_bytes: int = MemoryConfig().cache_bytes) -> None:
        """Open or create the cache, of at most so many bytes. If neither is possible, nothing is cached."""
        self._embedder = embedder
        self._file = CacheFile(path, max_bytes)

    @property
    def name(self) -> str:
        return self._embedder.name

    @property
    def dimension(self) -> int:
        return self._embedder.dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of `texts`. Computes only vectors that are not cached."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        keys = [hashlib.sha256(f"{self.name}\0{text}".encode()).digest() for text in texts]
        found = self._file.get(keys, self._vector)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        if missing:
            since = self._file.epoch()
            begin = time.perf_counter()
            computed = self._embedder.embed_documents(list(missing.values())).astype(_NUMBER, copy=False)
            _log.debug("embedded %d texts in %.3f s", len(missing), time.perf_counter() - begin)
            self._file.put({key: vector.tobytes() for key, vector in zip(missing, computed, strict=True)}, since)
            found.update(zip(missing, computed, strict=True))
        return np.array([found[key] for key in keys], dtype=np.float32)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder.embed_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return self._embedder.count_tokens(texts)

    def epoch(self) -> tuple[Path, int]:
        return self._file.path, self._file.epoch()

    def clear(self) -> None:
        """Delete all vectors, including those on disk. Raises StorageError if the file cannot be changed now."""
        self._file.clear()

    def statistics(self) -> dict[str, int | float]:
        """Return hits, misses and bytes of the cache, and the embedder's statistics. A call counts each text once."""
        wrapped = self._embedder.statistics() if isinstance(self._embedder, SupportsStatistics) else {}
        return {**wrapped, **self._file.statistics()}

    def close(self) -> None:
        """Close the file and the wrapped embedder."""
        self._file.close()
        self._embedder.close()

    def _vector(self, value: bytes) -> NDArray[np.float32] | None:
        fits = len(value) == self.dimension * _NUMBER.itemsize
        return np.frombuffer(value, dtype=_NUMBER) if fits else None
