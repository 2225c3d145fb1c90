"""Conversations and facts of Zep, as its API returns them: sessions or threads, messages, and edges of the graph."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from neurogated.archive.foreign.incoming import (
    Format,
    Found,
    Incoming,
    given,
    mapping,
    moment,
    read_each,
    read_one,
    text_of,
)
from neurogated.archive.foreign.stream import Entry

_LISTS = ("messages", "facts", "edges")
_SESSION = ("session_id", "thread_id")
_ROLES: dict[str | None, str | None] = {"norole": None, "human": "user", "ai": "assistant"}
_SILENT = frozenset({"system", "tool", "function"})


def _matches(value: Mapping[str, Any]) -> bool:
    lists = [name for name in _LISTS if isinstance(value.get(name), list)]
    one = value.keys() & {"fact", "content"} if "uuid" in value else ()
    return "agent_type" not in value and bool(lists or one or value.keys() & set(_SESSION))


def _read(entry: Entry) -> Found:
    """Yield the texts of a session, or a single message or fact."""
    value = entry.value
    user = given(user_id=value.get("user_id") or entry.head.get("user_id"))
    session = next((value[name] for name in _SESSION if value.get(name)), None)
    reader = partial(_text, user=user, session=given(session_id=session and f"zep-{session}"))
    if value.keys() & {"fact", "content"}:
        yield from read_one(value, entry.place, reader)
    for name in _LISTS:
        yield from read_each(value.get(name) or [], f"{entry.place}.{name}", reader)


def _text(
    item: Mapping[str, Any], place: str, *, user: Mapping[str, Any], session: Mapping[str, Any]
) -> Incoming | None:
    """Return a message; or a fact, true from `valid_at` until `invalid_at`."""
    time = given(timestamp=moment(item.get("created_at")))
    if "fact" in item:
        valid = given(valid_from=moment(item.get("valid_at")), valid_to=moment(item.get("invalid_at")))
        about = given(metadata=given(relation=item.get("name")))
        text, role, details = text_of(item["fact"]), None, {**user, **time, **valid, **about}
    else:
        text, role = text_of(item["content"]), item.get("role_type") or item.get("role")
        details = {**user, **session, **time, **given(metadata=mapping(item.get("metadata")))}
    return (
        Incoming(place, item["uuid"], text, _ROLES.get(role, role), details) if text and role not in _SILENT else None
    )


FORMAT = Format("conversations or facts of Zep", r"[^/]*\.jsonl?", _matches, _read)
