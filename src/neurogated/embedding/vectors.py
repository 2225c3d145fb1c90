"""The format of all embeddings: float32, finite, unit length."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.errors import EmbeddingError


def unit_vectors(vectors: ArrayLike, source: str) -> NDArray[np.float32]:
    """Return `vectors` (n, d) as float32 of unit length; a zero vector stays zero.

    Raises:
        EmbeddingError: a vector holds NaN or infinity, for example after an overflow in half precision.
    """
    matrix = np.asarray(vectors, dtype=np.float32)
    (bad,) = np.nonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise EmbeddingError(
            f"{source} returned NaN or infinity for text {bad[0] + 1} of {len(matrix)}; "
            "use a higher precision or another embedding_name"
        )
    # In double precision, the squares of very large and very small numbers neither overflow nor underflow.
    wide = matrix.astype(np.float64)
    norms = np.linalg.norm(wide, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(wide, norms, out=np.zeros_like(wide), where=norms > 0)
    return unit.astype(np.float32)
