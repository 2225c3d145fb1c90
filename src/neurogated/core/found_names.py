"""The names of what a text is about that were found in it, where nobody gave it a title."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["FOUND_NAMES", "found_names"]

FOUND_NAMES = "found_names"
"""Key of a node's metadata: the title that was found, then other names of the same."""


def found_names(metadata: Mapping[str, Any]) -> Sequence[str]:
    """Return the names that were found, the title first; none where none were."""
    names = metadata.get(FOUND_NAMES)
    return [name for name in names if isinstance(name, str)] if isinstance(names, list | tuple) else ()
