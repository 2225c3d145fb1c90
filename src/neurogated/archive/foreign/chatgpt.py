"""The export of ChatGPT: `conversations.json`, `conversations-000.json` and so on, or the zip file around them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import partial
from typing import Any

from neurogated.archive.foreign.incoming import Format, Found, Incoming, given, mapping, moment, read_one, text_of
from neurogated.archive.foreign.stream import Entry

# What stands between these characters is shown as a link, as a name, or not at all.
_SHOWN = re.compile("( ?)\ue200([^\ue201\ue202]*)\ue202?([^\ue201]*)\ue201| ?【[^】†]*†[^】]*】")
_SPOKEN = frozenset({"text", "multimodal_text"})
_HIDDEN = ("is_visually_hidden_from_conversation", "is_user_system_message")


def _read(entry: Entry) -> Found:
    """Yield what user and assistant say in a conversation, in order.

    A conversation is a tree. The branch that the user sees leads from the node `current_node` to the parents. A message
    without a time has the time of the message before it.
    """
    conversation, nodes = entry.value, mapping(entry.value["mapping"])
    name = conversation.get("conversation_id") or conversation.get("id") or next(iter(nodes), "")
    about = given(session_id=f"chatgpt-{name}", metadata=given(conversation=conversation.get("title")))
    time = moment(conversation.get("create_time") or None)
    for key in _branch(nodes, conversation.get("current_node")):
        reader = partial(_message, key=key, about=about, before=time)
        for found in read_one(nodes[key], f"{entry.place}.mapping.{key}", reader):
            time = found.details.get("timestamp") if isinstance(found, Incoming) else time
            yield found


def _branch(nodes: Mapping[str, Any], current: object) -> list[str]:
    """Return the keys of the nodes from the root to the current one; to the last one if there is no current one."""
    key = current if current in nodes else next(reversed(list(nodes)), None)
    branch: dict[str, None] = {}
    while isinstance(key, str) and key in nodes and key not in branch:
        branch[key] = None
        key = mapping(nodes[key]).get("parent")
    return list(reversed(branch))


def _message(
    node: Mapping[str, Any], place: str, *, key: str, about: Mapping[str, Any], before: datetime | None
) -> Incoming | None:
    message = mapping(node.get("message"))
    author, content, flags = (mapping(message.get(name)) for name in ("author", "content", "metadata"))
    is_said = (
        author.get("role") in {"user", "assistant"}
        and content.get("content_type") in _SPOKEN
        and message.get("recipient") in {None, "all"}
        and not any(flags.get(name) for name in _HIDDEN)
    )
    text = _SHOWN.sub(_as_shown, text_of(content.get("parts"))).strip() if is_said else ""
    if not text:
        return None
    time = moment(message.get("create_time") or None) or before
    return Incoming(place, key, text, author["role"], {**about, **given(timestamp=time)})


def _as_shown(found: re.Match[str]) -> str:
    """Return the name within the mark of an entity, as in `["drink","rooibos","tea"]`; nothing for other marks."""
    if found[2] != "entity":
        return ""
    try:
        return f"{found[1]}{json.loads(found[3])[1]}"
    except (ValueError, TypeError, LookupError):
        return ""


FORMAT = Format("an export of ChatGPT", r"conversations(-\d+)?\.json", lambda value: "mapping" in value, _read)
