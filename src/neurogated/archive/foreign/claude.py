"""The export of Claude: `conversations.json`, or the zip file around it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Any

from neurogated.archive.foreign.incoming import Format, Found, Incoming, given, moment, read_each, text_of
from neurogated.archive.foreign.stream import Entry

_ROLES = {"human": "user", "assistant": "assistant"}
_PARENT = "parent_message_uuid"


def _read(entry: Entry) -> Found:
    conversation = entry.value
    messages = conversation["chat_messages"]
    title = given(conversation=conversation.get("name"))
    about = given(session_id=f"claude-{conversation['uuid']}", metadata=title)
    reader = partial(_message, about=about, unseen=_unseen(messages))
    return read_each(messages, f"{entry.place}.chat_messages", reader)


def _unseen(messages: object) -> Collection[str]:
    """Return the messages outside the branch that the user saw last, which ends with the last message.

    They have a sibling in the branch, or follow one that has. Other messages stay, also if the tree has holes.
    """
    listed = messages if isinstance(messages, list) else []
    parents = {
        one["uuid"]: one[_PARENT]
        for one in listed
        if isinstance(one, dict) and isinstance(one.get("uuid"), str) and isinstance(one.get(_PARENT), str)
    }
    seen: dict[str, str] = {}
    last = next(reversed(parents), None)
    while last is not None and last in parents and last not in seen:
        seen[last] = parents[last]
        last = parents[last]
    forks, unseen = set(seen.values()), dict[str, None]()
    for name, parent in parents.items():
        if name not in seen and (parent in forks or parent in unseen):
            unseen[name] = None
    return unseen


def _message(
    message: Mapping[str, Any], place: str, *, about: Mapping[str, Any], unseen: Collection[str]
) -> Incoming | None:
    """Return what is said, with the texts of attached files. Thoughts, calls of tools and their results are not."""
    role, said = _ROLES.get(message["sender"]), text_of(message.get("content")) or text_of(message.get("text"))
    text = "\n".join(filter(None, (said, *_attached(message.get("attachments")))))
    if role is None or not text or message["uuid"] in unseen:
        return None
    time = moment(message.get("created_at"))
    return Incoming(place, message["uuid"], text, role, {**about, **given(timestamp=time)})


def _attached(attachments: object) -> list[str]:
    """Return the texts of attached files, each below its name."""
    listed = [one for one in attachments if isinstance(one, dict)] if isinstance(attachments, list) else []
    texts = [(text_of(one.get("file_name")), text_of(one.get("extracted_content"))) for one in listed]
    return [f"[document: {name}]\n{text}" if name else text for name, text in texts if text]


FORMAT = Format("an export of Claude", r"conversations\.json", lambda value: "chat_messages" in value, _read)
