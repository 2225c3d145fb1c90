"""FAISS, loaded when it is first of use."""

from __future__ import annotations

import functools
import os
from typing import Any

__all__ = ["load_faiss"]


@functools.cache
def load_faiss() -> Any:  # noqa: ANN401 - what it says of its types is neither whole nor right
    """Return the package; loading takes a while, and small memories never need it."""
    import faiss  # noqa: PLC0415

    if hasattr(os, "register_at_fork"):
        # The thread that forked would wait in the child for the threads that OpenMP had in the parent.
        os.register_at_fork(after_in_child=functools.partial(faiss.omp_set_num_threads, 1))
    return faiss
