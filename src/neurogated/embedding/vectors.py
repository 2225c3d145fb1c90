"""What embedders share: the format of vectors (float32, finite, unit length), the lock for loading, and the GPU."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.core.forking import ForkSafeLock
from neurogated.errors import EmbeddingError


def unit_vectors(vectors: ArrayLike, source: str) -> NDArray[np.float32]:
    """Return `vectors` (n, d) as float32 of unit length; a zero vector stays zero.

    Raises:
        EmbeddingError: a vector holds NaN or infinity, for example after an overflow in half precision.
    """
    matrix = np.asarray(vectors, dtype=np.float32)
    # In double precision, the squares of very large and very small numbers neither overflow nor underflow.
    wide = matrix.astype(np.float64)
    norms = np.sqrt(np.add.reduce(wide * wide, axis=1, keepdims=True))
    finite = np.isfinite(norms)
    if not np.logical_and.reduce(finite, axis=None):
        (bad,) = np.nonzero(~finite[:, 0])
        raise EmbeddingError(
            f"{source} returned NaN or infinity for text {bad[0] + 1} of {len(matrix)}; "
            "use a higher precision or another embedding_name"
        )
    unit: NDArray[np.float64] = wide / np.where(norms > 0, norms, 1.0)
    return unit.astype(np.float32)


LOADING = ForkSafeLock()
"""The lock for loading a model and its first run; it prevents a deadlock.

Bindings of native libraries fill tables on their first call. Without this lock, one thread may hold the interpreter
lock and wait for such a table, while another thread fills the table and waits for the interpreter lock.
"""


# Device files of the drivers of NVIDIA, AMD, and WSL.
_DEVICE_FILES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


def has_accelerator() -> bool:
    """Return whether torch is installed and sees a GPU.

    The import of torch takes seconds, so the function first looks for a driver.
    """
    if sys.platform == "linux" and not any(Path(name).exists() for name in _DEVICE_FILES):
        return False
    if importlib.util.find_spec("torch") is None:
        return False
    return bool(importlib.import_module("torch").accelerator.is_available())
