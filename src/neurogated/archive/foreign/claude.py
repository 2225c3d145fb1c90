"""The export of Claude: conversations, memories and projects, as JSON or in zip files.

See docs/formats/claude.md.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

from neurogated.archive.foreign.incoming import (
    Ends,
    Format,
    Found,
    Incoming,
    Left,
    ends_of,
    last_leaf,
    read_each,
    unseen,
)
from neurogated.archive.foreign.stream import FileEntry
from neurogated.archive.foreign.values import digest, given, mapping, moment, moment_or_none, objects, text_of

_ROLES = {"human": "user", "assistant": "assistant"}
_PARENT = "parent_message_uuid"
_DERIVED = {"derived": True}
"""Marks what Claude wrote about conversations."""
# What the export writes where a device shows something else.
_UNSUPPORTED = re.compile(r"(?:```\n)?This block is not supported on your current device yet\.(?:\n```)?\n*")


def _read(entry: FileEntry) -> Found:
    value, place = entry.value, entry.place
    if "chat_messages" in value:
        yield from _conversation(value, place)
    elif "docs" in value:
        yield from _project(value, place)
    else:
        texts = {"conversations": value.get("conversations_memory"), **mapping(value.get("project_memories"))}
        texts |= {
            str(one.get("path") or one.get("name")): one.get("content") for one in objects(value.get("memory_files"))
        }
        for name, text in texts.items():
            yield _noted(f"{place}.{name}", f"memory-{name}", text, "Memory of Claude", metadata=_DERIVED)


def _conversation(value: Mapping[str, Any], place: str) -> Found:
    """Yield the messages of a conversation with their branches. The last message is at the end of the seen one."""
    messages, name = value["chat_messages"], value["uuid"]
    about = given(session_id=f"claude-{name}", metadata=given(conversation=value.get("name")))
    listed = {one["uuid"]: one for one in objects(messages) if isinstance(one.get("uuid"), str)}
    parents = {key: one[_PARENT] for key, one in listed.items() if isinstance(one.get(_PARENT), str)}
    times = {key: moment_or_none(listed[key].get("created_at")) for key in parents}
    last = value.get("current_leaf_message_uuid")
    last = last if last in parents else next(reversed(parents), last_leaf(parents, times))
    others = unseen(parents, last)
    ends = ends_of(parents, times, others)
    yield from read_each(messages, f"{place}.chat_messages", partial(_message, about=about, others=others, ends=ends))
    if summary := text_of(value.get("summary")):
        title = f"Summary of {value.get('name') or 'a conversation'}"
        yield _noted(f"{place}.summary", f"summary-{name}", summary, title, metadata=_DERIVED)


def _message(
    message: Mapping[str, Any], place: str, *, about: Mapping[str, Any], others: Mapping[str, str], ends: Ends
) -> Incoming | Left | None:
    """Return what is said, with the texts of attached files. Thoughts, calls of tools and their results are not."""
    role, key, said = _ROLES.get(message["sender"]), message["uuid"], message.get("content")
    if role is None:
        return Left(place, f"messages of {message['sender']!r:.40}")
    said = said if isinstance(said, list) and said else [said or message.get("text") or ""]
    said = [_supported(one) for one in said]
    files = [name for one in objects(message.get("files")) if (name := text_of(one.get("file_name")))]
    details = {**about, **given(timestamp=moment(message.get("created_at")))}
    if files:
        details["metadata"] = {**about.get("metadata", {}), "attachments": files}
    text = "\n".join(_attached(message.get("attachments")))
    return Incoming(place, key, text, role, details, content=said, branch=others.get(key), ended_at=ends.get(key))


def _supported(part: object) -> object:
    """Return a part of a message without the words that stand for a block of another kind."""
    if isinstance(part, str):
        return _UNSUPPORTED.sub("", part)
    if isinstance(part, dict) and isinstance(part.get("text"), str):
        return {**part, "text": _UNSUPPORTED.sub("", part["text"])}
    return part


def _attached(attachments: object) -> list[str]:
    """Return the texts of attached files, each below its name."""
    texts = [(text_of(one.get("file_name")), text_of(one.get("extracted_content"))) for one in objects(attachments)]
    return [f"[document: {name}]\n{text}" if name else text for name, text in texts if text]


def _noted(place: str, key: str, text: object, title: str, **details: object) -> Incoming | Left:
    """Return a text that stands for itself."""
    if not text_of(text):
        return Left(place, "empty texts")
    return Incoming(place, key, text_of(text), details=given(title=title, **details))


def _project(value: Mapping[str, Any], place: str) -> Found:
    """Yield the description, the instructions and the documents of a project."""
    name, time = value.get("name") or "a project", moment(value.get("updated_at") or value.get("created_at"))
    for key, title in (("description", str(name)), ("prompt_template", f"Instructions of {name}")):
        if text_of(value.get(key)):
            yield _noted(f"{place}.{key}", f"{value['uuid']}-{key}", value[key], title, timestamp=time)

    def document(one: Mapping[str, Any], place: str) -> Incoming | Left:
        title = f"{one.get('filename') or 'a document'} ({name})"
        key = one.get("uuid") or digest(value["uuid"], one.get("filename"))
        return _noted(place, key, one.get("content"), title, timestamp=moment(one.get("created_at")) or time)

    yield from read_each(value["docs"], f"{place}.docs", document)


FORMAT = Format(
    "claude",
    "an export of Claude",
    lambda value: (
        "chat_messages" in value or "conversations_memory" in value or {"uuid", "name", "docs"} <= value.keys()
    ),
    _read,
)
