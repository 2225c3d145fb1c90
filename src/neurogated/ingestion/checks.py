"""The last stage of a write: it may add to the delta, such as conflicts and links."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from neurogated.core.delta import GraphDelta
from neurogated.core.model import MemoryNode

Check = Callable[[GraphDelta, Sequence[MemoryNode]], GraphDelta]
"""Returns a delta with additions, given the delta and the memories whose texts or times are new."""


def unchecked(delta: GraphDelta, fresh: Sequence[MemoryNode]) -> GraphDelta:  # noqa: ARG001 - as every check
    """Return the delta."""
    return delta
