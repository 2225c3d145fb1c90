"""FAISS, loaded when it is first of use."""

from __future__ import annotations

from typing import Any

__all__ = ["load_faiss"]


def load_faiss() -> Any:  # noqa: ANN401 - what it says of its types is neither whole nor right
    """Return the package; loading takes a while, and small memories never need it."""
    import faiss  # noqa: PLC0415

    return faiss
