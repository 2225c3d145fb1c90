"""The export of Claude: `conversations.json`, or the zip file around it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from neurogated.archive.foreign.incoming import Format, Found, Incoming, given, moment, read_each, text_of
from neurogated.archive.foreign.stream import Entry

_ROLES = {"human": "user", "assistant": "assistant"}


def _read(entry: Entry) -> Found:
    conversation = entry.value
    title = given(conversation=conversation.get("name"))
    about = given(session_id=f"claude-{conversation['uuid']}", metadata=title)
    return read_each(conversation["chat_messages"], f"{entry.place}.chat_messages", partial(_message, about=about))


def _message(message: Mapping[str, Any], place: str, *, about: Mapping[str, Any]) -> Incoming | None:
    """Return what is said. Thoughts, calls of tools and their results are not."""
    role, text = _ROLES.get(message["sender"]), text_of(message.get("content")) or text_of(message.get("text"))
    if role is None or not text:
        return None
    time = moment(message.get("created_at"))
    return Incoming(place, message["uuid"], text, role, {**about, **given(timestamp=time)})


FORMAT = Format("an export of Claude", r"conversations\.json", lambda value: "chat_messages" in value, _read)
