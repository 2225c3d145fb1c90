"""Agent files of Letta, `.af`: the messages and the memory blocks of agents."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

from neurogated.archive.foreign.incoming import Format, Found, Incoming, given, mapping, moment, read_each, text_of
from neurogated.archive.foreign.stream import Entry

_SPEAKS = "send_message"
"""The tool with which agents answer. The text of a message that calls tools is thought, not said."""


def _read(entry: Entry) -> Found:
    """Yield the texts of each agent in the file. An older file is an agent itself."""
    blocks = {block["id"]: block for block in entry.value.get("blocks") or []}
    for number, agent in enumerate(entry.value.get("agents", [entry.value])):
        place, name = f"{entry.place}.agents[{number}]", agent["name"]
        yield from read_each(agent.get("messages") or [], f"{place}.messages", partial(_message, agent=name))
        own = [blocks[key] for key in agent.get("block_ids") or [] if key in blocks]
        own += agent.get("core_memory") or agent.get("memory_blocks") or []
        yield from read_each(own, f"{place}.blocks", partial(_block, agent=name))


def _block(block: Mapping[str, Any], place: str, *, agent: str) -> Incoming | None:
    text, label = text_of(block.get("value")), block["label"]
    time = moment(block.get("updated_at") or block.get("created_at"))
    details = given(agent_id=agent, title=label, timestamp=time)
    return Incoming(place, f"{agent}\0{label}", text, details=details) if text else None


def _message(message: Mapping[str, Any], place: str, *, agent: str) -> Incoming | None:
    """Return what is said. Its time and text identify it, since its id is only its number in the file."""
    said = {"user": _user_text, "assistant": _assistant_text}.get(message["role"])
    if said is None or not (text := said(message)):
        return None
    time = message.get("created_at")
    details = given(session_id=f"letta-{agent}", agent_id=agent, timestamp=moment(time))
    return Incoming(place, f"{time}\0{text}", text, message["role"], details)


def _user_text(message: Mapping[str, Any]) -> str:
    """Return the words of the user, which older versions wrap in JSON. Other JSON with a type is an event."""
    text = text_of(message.get("content"))
    try:
        wrapped = json.loads(text)
    except ValueError:
        return text
    if not isinstance(wrapped, dict) or "type" not in wrapped:
        return text
    return text_of(wrapped.get("message")) if wrapped["type"] == "user_message" else ""


def _assistant_text(message: Mapping[str, Any]) -> str:
    calls = [mapping(call)["function"] for call in message.get("tool_calls") or []]
    if not calls:
        return text_of(message.get("content"))
    return text_of([json.loads(call["arguments"]).get("message") for call in calls if call["name"] == _SPEAKS])


FORMAT = Format(
    "an agent file of Letta",
    r"[^/]*\.(af|json)",
    lambda value: isinstance(value.get("agents"), list) or {"agent_type", "core_memory"} <= value.keys(),
    _read,
    lambda _: "agent files hold no archival passages, and often only the latest messages; get those from Letta's API",
)
