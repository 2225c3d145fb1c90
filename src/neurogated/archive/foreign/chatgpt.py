"""The export of ChatGPT: `conversations.json`, `conversations-000.json` and so on, or the zip file around them.

See docs/formats/chatgpt.md.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any

from neurogated.archive.foreign.incoming import Format, Found, Incoming, Left, ends_of, last_leaf, read_one, unseen
from neurogated.archive.foreign.stream import FileEntry
from neurogated.archive.foreign.values import digest, given, mapping, moment, moment_or_none, objects, text_of

# What stands between these characters is shown as a link, as a name, or not at all.
_MARK = re.compile("( ?)\ue200([^\ue201\ue202]*)\ue202?([^\ue201]*)\ue201| ?【[^】†]*†[^】]*】")
# Other marks, such as those around a quoted passage.
_REST = re.compile("[\ue200-\ue206]|:*contentReference\\[oaicite:[^]]*\\](?:\\{[^}]*\\})?")
_SPOKEN = frozenset({"text", "multimodal_text"})
_HIDDEN = ("is_visually_hidden_from_conversation", "is_user_system_message")
_PRIVATE = ("is_do_not_remember", "is_temporary_chat")
_UNSAID = {
    "code": "calls of tools",
    "thoughts": "thoughts",
    "reasoning_recap": "thoughts",
    "execution_output": "results of tools",
}


def _read(entry: FileEntry) -> Found:
    """Yield the messages of a conversation: those of the branch that the user sees, in order, and then the others.

    A conversation is a tree. The seen branch leads from the node `current_node` to the parents; without it, from the
    newest message that no other follows. A message without a time has the time of the message before it.
    """
    conversation, nodes = entry.value, mapping(entry.value["mapping"])
    about = given(
        session_id=f"chatgpt-{_name(conversation, nodes)}", metadata=given(conversation=conversation.get("title"))
    )
    is_private = any(conversation.get(name) for name in _PRIVATE)
    parents = {key: node.get("parent") for key, node in nodes.items() if isinstance(node, dict)}
    times = {key: _time_of(nodes[key]) for key in parents}
    current = conversation.get("current_node")
    last = current if current in parents else last_leaf(parents, times)
    others = unseen(parents, last, keeps_lost=False)
    ends = ends_of(parents, times, others)
    time = _time_of({"message": conversation})
    for key in (*_path(parents, last), *(key for key in nodes if key in others or key not in parents)):
        place = f"{entry.place}.mapping.{key}"
        if isinstance(nodes[key], dict) and nodes[key].get("message") is None:
            continue
        for one in read_one(nodes[key], place, partial(_message, key=key, about=about)):
            if not isinstance(one, Incoming):
                yield one
                continue
            time = one.details.get("timestamp") or time
            details = {**one.details, **given(timestamp=time)}
            branch, end = others.get(key), ends.get(key) or time
            yield replace(one, details=details, branch=branch, ended_at=end, is_private=is_private)


def _name(conversation: Mapping[str, Any], nodes: Mapping[str, Any]) -> object:
    """Return the id of a conversation; a hash of its begin if it has none, since ids of nodes may repeat."""
    first = next((one["message"] for one in nodes.values() if isinstance(one, dict) and one.get("message")), None)
    unnamed = digest(conversation.get("create_time"), json.dumps(first, sort_keys=True))
    return conversation.get("conversation_id") or conversation.get("id") or unnamed


def _path(parents: Mapping[str, Any], last: str | None) -> list[str]:
    """Return the keys of the nodes from the root to the last one."""
    branch: dict[str, None] = {}
    while isinstance(last, str) and last in parents and last not in branch:
        branch[last] = None
        last = parents[last]
    return list(reversed(branch))


def _time_of(node: Mapping[str, Any]) -> datetime | None:
    """Return the time of a message; None for one that has no time or a malformed one."""
    message = node.get("message")
    return moment_or_none(message.get("create_time") or None) if isinstance(message, dict) else None


def _message(node: Mapping[str, Any], place: str, *, key: str, about: Mapping[str, Any]) -> Incoming | Left | None:
    message = mapping(node["message"])
    author, content, flags = (mapping(message.get(name)) for name in ("author", "content", "metadata"))
    kind, recipient, role = content.get("content_type"), message.get("recipient") or "all", author.get("role")
    details = {**about, **given(timestamp=moment(message.get("create_time") or None))}
    own = {name: value for name, value in details.items() if name != "session_id"}
    if kind == "user_editable_context":
        return _instructions(content, flags, place, own)
    if kind == "model_editable_context" or recipient == "bio":
        text = text_of(content.get("model_set_context")) or _shown_text(content)
        title = {"title": "Memory of ChatGPT"}
        return Incoming(place, f"memory-{digest(text)}", text, None, own | title) if text else None
    if isinstance(recipient, str) and recipient.startswith("canmore."):
        return _canvas(content, place, key, details)
    if role in {"system", "developer"} or any(flags.get(name) for name in _HIDDEN):
        return Left(place, "instructions" if role in {"system", "developer"} else "hidden messages")
    if role == "tool" or recipient != "all" or kind not in _SPOKEN:
        return Left(place, "results of tools" if role == "tool" else _UNSAID.get(kind or "", "calls of tools"))
    files = [str(one["name"]) for one in objects(flags.get("attachments")) if one.get("name")]
    if files:
        details["metadata"] = {**details.get("metadata", {}), "attachments": files}
    references = [text_of(one.get("matched_text")) for one in objects(content.get("content_references"))]
    references += [text_of(one.get("matched_text")) for one in objects(flags.get("content_references"))]
    parts = content.get("parts")
    shown = [_shown(one, references) for one in parts] if isinstance(parts, list) else parts
    return Incoming(place, key, "", role, details, author.get("name") or None, content=shown)


def _shown_text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    texts = [one for one in parts if isinstance(one, str)] if isinstance(parts, list) else []
    return text_of("\n".join(texts)) or text_of(content.get("text"))


def _instructions(
    content: Mapping[str, Any], flags: Mapping[str, Any], place: str, own: Mapping[str, Any]
) -> Incoming | None:
    """Return what the user wrote about himself and how to answer. Every conversation repeats it."""
    data = mapping(flags.get("user_context_message_data"))
    about = text_of(data.get("about_user_message")) or text_of(content.get("user_profile"))
    wish = text_of(data.get("about_model_message")) or text_of(content.get("user_instructions"))
    text = "\n".join(filter(None, (about, wish)))
    own = {**{name: value for name, value in own.items() if name != "metadata"}, "title": "Custom instructions"}
    return Incoming(place, f"instructions-{digest(text)}", text, "user", own) if text else None


def _canvas(content: Mapping[str, Any], place: str, key: str, details: Mapping[str, Any]) -> Incoming | Left:
    """Return the document that a canvas begins with. Its later changes are patterns and replacements."""
    made = json.loads(content.get("text") or _shown_text(content) or "{}")
    text = text_of(made.get("content")) if isinstance(made, dict) else ""
    if not text:
        return Left(place, "changes of a canvas")
    return Incoming(place, key, f"[document: {made.get('name', 'canvas')}]\n{text}", "assistant", details)


def _shown(part: object, references: list[str]) -> object:
    """Return a part of a message without the marks of citations, and with the names of entities."""
    if not isinstance(part, str):
        return part
    part = _MARK.sub(_as_shown, part)
    for reference in references:
        if any(sign in reference for sign in "\ue200【") or "oaicite" in reference:
            part = part.replace(reference, "")
    return _REST.sub("", part)


def _as_shown(found: re.Match[str]) -> str:
    """Return the name within the mark of an entity, as in `["drink","rooibos","tea"]`, or the title of a link."""
    if found[2] in {"url", "link_title"}:
        return f"{found[1]}{found[3].partition(chr(0xE202))[0]}"
    if found[2] != "entity":
        return ""
    try:
        return f"{found[1]}{json.loads(found[3])[1]}"
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""


FORMAT = Format("chatgpt", "an export of ChatGPT", lambda value: isinstance(value.get("mapping"), dict), _read)
