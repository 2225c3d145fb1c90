"""Conversations and facts of Zep and Graphiti: sessions or threads, messages, episodes, and edges of the graph.

See docs/formats/zep.md.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from neurogated.archive.foreign.incoming import Format, Found, Incoming, Left, read_each, read_one
from neurogated.archive.foreign.stream import FileEntry
from neurogated.archive.foreign.values import digest, given, mapping, moment, objects, text_of

_LISTS = ("messages", "facts", "edges", "episodes")
_SESSION = ("session_id", "thread_id", "thread_uuid")
_IDS = ("uuid", "uuid_")
_ROLES: dict[str | None, str | None] = {"norole": None, "human": "user", "ai": "assistant", "function": "tool"}
_KNOWN = frozenset({"user", "assistant", "system", "tool", None})


def _is_record(value: Mapping[str, Any]) -> bool:
    return bool(value.keys() & set(_IDS)) and bool(value.keys() & {"fact", "content"}) and "docs" not in value


def _matches(value: Mapping[str, Any]) -> bool:
    if "agent_type" in value or "schema" in value:
        return False
    lists = [one for name in _LISTS for one in objects(value.get(name))[:1]]
    return (
        _is_record(value)
        or any(map(_is_record, lists))
        or (bool(value.keys() & set(_SESSION)) and isinstance(value.get("messages"), list))
    )


def _read(entry: FileEntry) -> Found:
    """Yield the texts of a session, or a single message or fact."""
    value = entry.value
    user = given(user_id=value.get("user_id") or entry.head.get("user_id"))
    outer = value if _session(value) else entry.head
    reader = partial(_text, user=user, session=_session(outer))
    if _is_record(value):
        yield from read_one(value, entry.place, reader)
    for name in _LISTS:
        yield from read_each(value.get(name), f"{entry.place}.{name}", reader)
    if nodes := objects(value.get("nodes")):
        yield Left(f"{entry.place}.nodes", "nodes are not imported", len(nodes))


def _session(value: Mapping[str, Any]) -> object:
    return next((value[name] for name in _SESSION if value.get(name)), None)


def _text(item: Mapping[str, Any], place: str, *, user: Mapping[str, Any], session: object) -> Incoming | Left | None:
    """Return a message, with the time that its developer gave before that of its receipt; or a fact.

    A fact is true from `valid_at` until `invalid_at`, or until it expired.
    """
    unnamed = digest(item.get("role"), item.get("created_at"), item.get("fact"), item.get("content"))
    key = next((item[name] for name in _IDS if item.get(name)), unnamed)
    group = given(agent_id=None if user else item.get("group_id") or None)
    times = ("reference_time", "valid_at", "created_at")
    if "fact" in item:
        begin, end = moment(item.get("valid_at")), moment(item.get("invalid_at")) or moment(item.get("expired_at"))
        time = moment(item.get("reference_time") or item.get("created_at"))
        if begin and end and end <= begin:
            return Left(place, "facts that held at no time")
        valid = given(valid_from=begin, valid_to=end)
        about = given(metadata=given(relation=item.get("name"), source=item.get("source_node_uuid")))
        text = text_of(item["fact"])
        return (
            Incoming(place, key, text, None, {**user, **group, **given(timestamp=time), **valid, **about})
            if text
            else None
        )
    time = moment(next((item[name] for name in times if item.get(name)), None))
    session = _session(item) or session
    told = item.get("role_type") or item.get("role")
    role = _ROLES.get(told, told)
    name = item.get("role_name") or item.get("name") if item.get("source") in {None, "message"} else None
    if "role_type" in item and item.get("role") not in {None, "", told}:
        name = name or item["role"]
    if role not in _KNOWN:
        name, role = name or role, None
    if "entity_edges" in item:
        # Graphiti names its episodes.
        name = None
    about = given(metadata={**mapping(item.get("metadata")), **given(source=item.get("source_description"))})
    details = {**user, **group, **given(session_id=session and f"zep-{session}", timestamp=time), **about}
    return Incoming(place, key, "", role, details, name or None, content=item["content"] or "")


FORMAT = Format("zep", "conversations or facts of Zep", _matches, _read)
GRAPHITI = Format(
    "graphiti",
    "episodes or edges of Graphiti",
    lambda value: (
        "group_id" in value and bool(value.keys() & {"entity_edges", "source_node_uuid"}) and _is_record(value)
    ),
    _read,
)
