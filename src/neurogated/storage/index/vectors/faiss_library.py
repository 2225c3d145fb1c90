"""FAISS, imported on first use."""

from __future__ import annotations

import functools
import os
from typing import Any


@functools.cache
def load_faiss() -> Any:  # noqa: ANN401 - its type hints are incomplete and partly wrong
    """Return the package. Importing takes a while, and small memories never need it."""
    import faiss  # noqa: PLC0415

    if hasattr(os, "register_at_fork"):
        # In the child, the forking thread would deadlock on the parent's OpenMP threads.
        os.register_at_fork(after_in_child=functools.partial(faiss.omp_set_num_threads, 1))
    return faiss
