"""Vectors kept by the hash of what was embedded, so that indexing again costs nothing."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neurogated.core.cache_file import CacheFile
from neurogated.core.ports import Embedder

__all__ = ["CachedEmbedder"]


class CachedEmbedder:
    """Wraps an embedder and remembers its passages' vectors in a file; questions are not kept.

    The file is derived: a damaged one is moved aside and begun anew, with a line in the log.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        """Open the cache, or begin one.

        Raises:
            StorageError: the file can be neither opened nor made.
        """
        self._embedder = embedder
        self._file = CacheFile(path)
        # Threads that want the same text wait for the first, so that it is computed once.
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """The wrapped embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the vectors of `texts`, computing only those that were never seen; each text once."""
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        keys = [self._key(text) for text in texts]
        with self._lock:
            found = {key: np.frombuffer(value, dtype="<f4") for key, value in self._file.get(keys).items()}
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            if missing:
                vectors = self._embedder.embed_documents(list(missing.values())).astype("<f4", copy=False)
                self._file.put({key: vector.tobytes() for key, vector in zip(missing, vectors, strict=True)})
                found.update(zip(missing, vectors, strict=True))
        return np.stack([found[key] for key in keys]).astype(np.float32, copy=False)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the wrapped embedder's vectors."""
        return self._embedder.embed_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the wrapped embedder's counts."""
        return self._embedder.count_tokens(texts)

    def close(self) -> None:
        """Close the file and the wrapped embedder."""
        self._file.close()
        self._embedder.close()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.name}\0{text}".encode()).digest()
