"""The error for a memory that is opened with another embedder than it was built with."""

from __future__ import annotations

from neurogated.errors import EmbedderMismatchError


def mismatch(known: str, known_dimension: int | None, name: str, dimension: int | None) -> EmbedderMismatchError:
    """Return the error that names both embedders and the remedy."""
    return EmbedderMismatchError(
        f"this memory was built with embedder {known!r} (dimension {known_dimension}), but is opened "
        f"with {name!r} (dimension {dimension or 'not loaded yet'}); set embedding_name to the first, "
        f"or move the memory to the second with `neurogated migrate --embedding_name {name}` and the --save_dir or "
        "--storage of the memory"
    )
