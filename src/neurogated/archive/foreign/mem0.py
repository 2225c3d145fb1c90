"""Memories of mem0, as `get_all` returns them. See docs/formats/mem0.md."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC
from typing import Any

from neurogated.archive.foreign.incoming import Format, Incoming, read_one
from neurogated.archive.foreign.values import given, mapping, moment, text_of
from neurogated.core.clock import read_expiration, to_utc

_PAGES = frozenset({20, 100})
"""How many memories `get_all` returns unless told otherwise, by version."""
_KEPT = ("created_at", "updated_at", "categories", "actor_id", "attributed_to", "expiration_date")
_SPEAKERS = frozenset({"user", "assistant"})


def _memory(memory: Mapping[str, Any], place: str) -> Incoming | None:
    """Return a memory. Its time is that of its last change, when its text was written."""
    text, by = text_of(memory["memory"]), memory.get("attributed_to")
    end = read_expiration("expiration_date", memory.get("expiration_date") or None)
    details = given(
        user_id=memory.get("user_id"),
        agent_id=memory.get("agent_id"),
        session_id=memory.get("run_id"),
        expires_at=end and to_utc(end, UTC),
        timestamp=moment(memory.get("updated_at")) or moment(memory.get("created_at")),
        metadata={**mapping(memory.get("metadata")), **given(**{name: memory.get(name) for name in _KEPT})},
    )
    role = memory.get("role") or (by if by in _SPEAKERS else None)
    speaker = memory.get("actor_id") or (by if isinstance(by, str) and by not in _SPEAKERS else None)
    return Incoming(place, memory["id"], text, role, details, speaker or None) if text else None


def _note(count: int) -> str | None:
    return (
        count in _PAGES
        and (
            f"the file has exactly {count} memories, the most that mem0's get_all returns unless told otherwise; "
            "if there are more, get them with a higher limit and import them, too"
        )
    ) or None


FORMAT = Format(
    "mem0",
    "memories of mem0",
    lambda value: {"id", "memory"} <= value.keys(),
    lambda entry: read_one(entry.value, entry.place, _memory),
    note=_note,
)
