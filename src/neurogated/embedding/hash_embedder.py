"""An embedder without a model: it hashes words into a vector. It is instant and deterministic, without semantics."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neurogated.embedding.vectors import unit_vectors
from neurogated.text.keywords import count_words, split_words

_BYTES_PER_HASH = 8


class HashEmbedder:
    """The hashing trick: each word adds the square root of its count, with a hashed sign, at a hashed position.

    Source: Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009.
    """

    DIMENSION = 256

    name = f"hash-{DIMENSION}"
    dimension = DIMENSION

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 256) unit vectors."""
        matrix = np.zeros((len(texts), self.DIMENSION), dtype=np.float32)
        for row, text in zip(matrix, texts, strict=True):
            for word, count in Counter(split_words(text)).items():
                digest = hashlib.blake2b(word.encode("utf-8"), digest_size=_BYTES_PER_HASH).digest()
                number = int.from_bytes(digest, "big")
                row[number // 2 % self.DIMENSION] += math.sqrt(count) * (1 if number % 2 else -1)
        return unit_vectors(matrix, f"embedder {self.name!r}")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 256) unit vectors, as for passages."""
        return self.embed_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words of each text."""
        return count_words(texts)

    def close(self) -> None:
        """Do nothing: this embedder holds no resources."""
