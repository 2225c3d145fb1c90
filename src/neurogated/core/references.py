"""References to memories, as arguments of calls."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from neurogated.core.model import MemoryNode
from neurogated.core.trace import RecalledMemory
from neurogated.errors import InputError

MemoryRef = str | UUID | MemoryNode | RecalledMemory
"""A memory, or its id."""


def listed(ids: MemoryRef | Iterable[MemoryRef]) -> Iterable[MemoryRef]:
    """Return one or several references as several; raises InputError."""
    if isinstance(ids, str | UUID | MemoryNode | RecalledMemory):
        return [ids]
    if not isinstance(ids, Iterable):
        raise InputError(f"the ids are {ids!r}, but must be an id or a list of ids")
    return ids


def id_of(one: MemoryRef) -> str:
    """Return the id of a memory."""
    return one.id if isinstance(one, MemoryNode | RecalledMemory) else str(one)
