"""Vectors kept by the hash of what was embedded, so that indexing again costs nothing."""

from __future__ import annotations

import hashlib
import logging
import sqlite3
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neurogated.core.ports import Embedder
from neurogated.errors import StorageError

__all__ = ["CachedEmbedder"]

_log = logging.getLogger(__name__)

_DDL = "CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, vector BLOB NOT NULL) WITHOUT ROWID"


class CachedEmbedder:
    """Wraps an embedder and remembers its passages' vectors in an SQLite file; questions are not kept.

    The file is derived: a damaged one is moved aside and begun anew, with a line in the log.
    """

    def __init__(self, embedder: Embedder, path: Path) -> None:
        self._embedder = embedder
        self._path = path
        self._lock = threading.Lock()
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()
        except (OSError, sqlite3.OperationalError) as error:
            raise StorageError(f"cannot write the embedding cache {path} ({error}); choose another save_dir") from error

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
        keys = [self._key(text) for text in texts]
        with self._lock:
            found = self._read_or_renew(keys)
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
            if missing:
                vectors = self._embedder.embed_documents(list(missing.values()))
                fresh = dict(zip(missing, vectors, strict=True))
                self._write(fresh)
                found.update(fresh)
        if not texts:
            return np.empty((0, self.dimension), dtype=np.float32)
        return np.stack([found[key] for key in keys])

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the wrapped embedder's vectors."""
        return self._embedder.embed_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the wrapped embedder's counts."""
        return self._embedder.count_tokens(texts)

    def close(self) -> None:
        """Close the file and the wrapped embedder."""
        self._connection.close()
        self._embedder.close()

    def _key(self, text: str) -> bytes:
        return hashlib.sha256(f"{self.name}\0{text}".encode()).digest()

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        found = {}
        for key in dict.fromkeys(keys):
            row = self._connection.execute("SELECT vector FROM vectors WHERE key = ?", (key,)).fetchone()
            if row is not None:
                found[key] = np.frombuffer(row[0], dtype="<f4").astype(np.float32)
        return found

    def _read_or_renew(self, keys: Sequence[bytes]) -> dict[bytes, NDArray[np.float32]]:
        try:
            return self._read(keys)
        except sqlite3.DatabaseError as error:
            self._connection.close()
            self._connection = self._renew(error)
            return {}

    def _write(self, vectors: dict[bytes, NDArray[np.float32]]) -> None:
        try:
            with self._connection:
                self._connection.executemany(
                    "INSERT OR REPLACE INTO vectors VALUES (?, ?)",
                    ((key, vector.astype("<f4").tobytes()) for key, vector in vectors.items()),
                )
        except sqlite3.Error as error:
            # Without the cache the work goes on; the vectors reach the memory all the same.
            _log.warning("embedding cache %s cannot be written: %s", self._path, error)

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.DatabaseError as error:
            if isinstance(error, sqlite3.OperationalError):
                raise
            return self._renew(error)

    def _renew(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        aside = self._path.with_suffix(".damaged")
        _log.warning("embedding cache %s is damaged (%s); moved to %s and begun anew", self._path, error, aside)
        self._path.replace(aside)
        for suffix in ("-wal", "-shm"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                connection.execute(_DDL)
        except sqlite3.Error:
            connection.close()
            raise
        return connection
