"""Portable AI Memory 1.0: reads memories and conversations, writes the memories of a user. See docs/formats/pam.md."""

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Any
from uuid import uuid4

from neurogated.archive.foreign.incoming import Branches, Format, Found, Incoming, Left, read_each, read_one
from neurogated.archive.foreign.stream import FileEntry
from neurogated.archive.foreign.values import given, mapping, moment, moment_or_none, objects, text_of
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import NODE_KINDS

_SCHEMA, _CONVERSATION = "portable-ai-memory", "portable-ai-memory-conversation"
_OURS = "neurogated"
"""The platform of our exports, and the field of `metadata` with what the format has no field for, as JSON in a text."""
_TAG = re.compile("[a-z0-9][a-z0-9_-]*")
_KEPT = ("title", "role", "speaker", "importance", "tags", "metadata")


def _read(entry: FileEntry) -> Found:
    value = entry.value
    if value.get("schema") != _CONVERSATION:
        yield from read_one(value, entry.place, partial(_memory, owner=mapping(entry.head.get("owner")).get("id")))
        return
    listed = {one["id"]: one for one in objects(value["messages"]) if isinstance(one.get("id"), str)}
    parents = {key: one["parent_id"] for key, one in listed.items() if one.get("parent_id") is not None}
    named = ((key, one.get("children_ids")) for key, one in listed.items())
    parents |= {str(one): key for key, held in named if isinstance(held, list) for one in held if str(one) in listed}
    parents = {key: parents.get(key) for key in listed} if parents else {}
    times = {key: moment_or_none(listed[key].get("created_at")) for key in parents}
    about = given(session_id=f"pam-{value['id']}", metadata=given(conversation=value.get("title")))
    reader = partial(_message, about=about, branches=Branches(parents, times))
    yield from read_each(value["messages"], f"{entry.place}.messages", reader)


def _memory(memory: Mapping[str, Any], place: str, *, owner: str | None) -> Incoming | Left:
    """Return a memory; none if it is no longer true and the file does not say since when."""
    times, about = mapping(memory["temporal"]), dict(mapping(memory.get("metadata")))
    ours = dict(mapping(json.loads(about.pop(_OURS, "{}"))))
    end, status = times.get("valid_until"), memory.get("status", "active")
    named = memory.get("custom_type") or memory["type"]
    kind = named if ours and named in NODE_KINDS else None
    if status in {"superseded", "retracted"} and not (end := end or times.get("updated_at")):
        return Left(place, f"{status} memories without an end")
    kept = about | given(
        type=None if kind else named,
        status=None if status == "active" else status,
        conversation=None if ours else mapping(memory.get("provenance")).get("conversation_ref"),
    )
    details = given(
        user_id=owner,
        timestamp=moment(times["created_at"]),
        valid_from=moment(times.get("valid_from")),
        valid_to=moment(end),
        expires_at=moment(ours.pop("expires_at", None)),
        kind=kind,
        tags=memory.get("tags"),
        metadata=ours.pop("metadata", {}) | kept,
    )
    role, speaker = ours.pop("role", None), ours.pop("speaker", None)
    return Incoming(place, memory["id"], text_of(memory["content"]), role, details | ours, speaker)


def _message(
    message: Mapping[str, Any], place: str, *, about: Mapping[str, Any], branches: Branches
) -> Incoming | Left:
    if message.get("is_thought"):
        return Left(place, "thoughts")
    content, key = mapping(message.get("content")), message["id"]
    body = content.get("text") or content.get("parts") or ""
    if isinstance(body, list):
        body = [_said(one) for one in body]
    details = {**about, **given(timestamp=moment(message["created_at"]))}
    return Incoming(place, key, "", message["role"], details, content=body, **branches.of(key))


def _said(part: object) -> object:
    """Return a part of a message. Code is said; its words are in `text`, `code` or `content`."""
    if not isinstance(part, dict) or part.get("type") != "code":
        return part
    code = next((part[name] for name in ("text", "code", "content") if isinstance(part.get(name), str)), "")
    return f"```{part.get('language') or ''}\n{code}\n```" if code else ""


FORMAT = Format(
    *("pam", "Portable AI Memory"),
    lambda value: value.get("schema") == _CONVERSATION or {"content", "temporal", "type"} <= value.keys(),
    _read,
    lambda file: any(one.is_rest and one.value.get("schema") == _SCHEMA for one in file.first(1)),
)


def written(nodes: Iterable[MemoryNode], user_id: str, made_by: str, at: datetime) -> Iterator[str]:
    """Yield the text of a `memory-store.json` piece by piece: the memories of a user, in the order of their ids.

    `made_by` is the version of this package, and `at` the time of the export.
    """
    head = {"schema": _SCHEMA, "schema_version": "1.0", "export_id": str(uuid4()), "export_date": at.isoformat()}
    whole = {**head, "exported_by": f"{_OURS}/{made_by}", "owner": {"id": user_id}}
    yield f'{_canonical(whole)[:-1]},"memories":['
    checksum, count, sessions = hashlib.sha256(b"["), 0, dict[str, dict[str, Any]]()
    for node in nodes:
        memory = _memory_of(node)
        text = f"{',' if count else ''}{_canonical(memory)}"
        checksum.update(text.encode())
        count += 1
        if (name := node.scope.session_id) is not None:
            times = {"created_at": memory["temporal"]["created_at"]}
            index = {"id": name, "platform": _OURS, "temporal": times, "derived_memories": []}
            sessions.setdefault(name, index)["derived_memories"].append(node.id)
        yield text
    checksum.update(b"]")
    seal = {"canonicalization": "RFC8785", "checksum": f"sha256:{checksum.hexdigest()}", "total_memories": count}
    tail = {"conversations_index": list(sessions.values()), "integrity": seal, "export_type": "full"}
    yield f"],{_canonical(tail)[1:]}\n"


def _memory_of(node: MemoryNode) -> dict[str, Any]:
    ours = {name: getattr(node, name) for name in _KEPT}
    ours |= {name: getattr(node.scope, name) for name in ("agent_id", "session_id", "path")}
    ours["expires_at"] = node.expires_at and node.expires_at.isoformat()
    times = {"valid_from": node.valid_from, "valid_until": node.valid_to}
    times["created_at"] = node.timestamp or node.created_at
    words = " ".join(unicodedata.normalize("NFC", node.content.strip().lower()).split())
    is_fact = node.kind == "fact"
    return {
        "id": node.id,
        "type": "fact" if is_fact else "custom",
        "custom_type": None if is_fact else node.kind,
        "status": "active",
        "content": node.content,
        "content_hash": f"sha256:{hashlib.sha256(words.encode()).hexdigest()}",
        "tags": [tag for tag in node.tags if _TAG.fullmatch(tag)],
        "temporal": {name: time and time.isoformat() for name, time in times.items()},
        "provenance": {"platform": _OURS, "conversation_ref": node.scope.session_id},
        "metadata": {_OURS: json.dumps(given(**ours), ensure_ascii=False)},
    }


def _canonical(value: object) -> str:
    """Return a value as JSON in the form of RFC 8785, whose numbers differ from Python's; so it must hold no number."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
