"""Agent files of Letta, `.af`: the messages and the memory blocks of agents. See docs/formats/letta.md."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from typing import Any, NamedTuple

from neurogated.archive.foreign.incoming import Format, Found, Incoming, Left, read_each
from neurogated.archive.foreign.stream import FileEntry
from neurogated.archive.foreign.values import digest, given, mapping, moment, objects, text_of

_SPEAKS = "send_message"
"""The tool with which agents of older kinds answer. The text beside their calls is thought, not said."""
_NEWER = "letta_v1"


class _Agent(NamedTuple):
    name: str
    born: str
    """Tells agents of one name apart: a hash of when the agent began, empty if the file does not say it."""
    speaks: bool
    """Whether the text beside a call of a tool is said."""


def _read(entry: FileEntry) -> Found:
    """Yield the texts of each agent in the file. An older file is an agent itself."""
    blocks = {block["id"]: block for block in objects(entry.value.get("blocks"))}
    for number, agent in enumerate(entry.value.get("agents", [entry.value])):
        messages = agent.get("messages") or []
        first: Mapping[str, Any] = next(iter(objects(messages)), {})
        # The system message names the blocks, which change.
        is_system = first.get("role") == "system"
        born = digest(first.get("created_at"), "" if is_system else _joined(first.get("content"))) if first else ""
        is_newer = str(agent.get("agent_type") or "").startswith(_NEWER)
        known = _Agent(agent["name"], born if is_system else "", is_newer)
        place = f"{entry.place}.agents[{number}]"
        yield from read_each(messages, f"{place}.messages", partial(_message, agent=known))
        own = [blocks[key] for key in agent.get("block_ids") or [] if key in blocks]
        own += agent.get("core_memory") or agent.get("memory_blocks") or []
        yield from read_each(own, f"{place}.blocks", partial(_block, agent=known._replace(born=born)))


def _block(block: Mapping[str, Any], place: str, *, agent: _Agent) -> Incoming | Left:
    text, label = text_of(block.get("value")), block["label"]
    time = moment(block.get("updated_at") or block.get("created_at"))
    details = given(agent_id=agent.name, title=label, timestamp=time)
    key = f"{agent.name}\0{agent.born}\0{label}"
    return Incoming(place, key, text, details=details) if text else Left(place, "empty texts")


def _message(message: Mapping[str, Any], place: str, *, agent: _Agent) -> Incoming | Left | None:
    """Return what is said. Its time and text identify it, since its id is only its number in the file."""
    role, time = message["role"], message.get("created_at")
    session = f"letta-{agent.name}-{agent.born}" if agent.born else f"letta-{agent.name}"
    details = given(session_id=session, agent_id=agent.name, timestamp=moment(time))
    body = message.get("content")
    if role == "summary" or "following is a summary of the previous" in str(body):
        text = _unwrapped(_joined(body), "message")
        return Incoming(place, f"{time}\0{text}", text, details={**details, "metadata": {"derived": "summary"}})
    if role == "approval":
        return Left(place, "calls of tools")
    if role == "user":
        body = _user_text(body)
        if body is None:
            return Left(place, "events")
    elif role == "assistant" and (calls := message.get("tool_calls")):
        calls = [mapping(call)["function"] for call in calls]
        said = [json.loads(call["arguments"]).get("message") for call in calls if call["name"] == _SPEAKS]
        said = [*([_joined(body)] if agent.speaks else []), *said]
        body = "\n".join(filter(None, map(text_of, said)))
        if not body:
            return Left(place, "calls of tools")
    key = f"{time}\0{_joined(body)}"
    return Incoming(place, key, "", role, details, message.get("name") if role == "user" else None, content=body or "")


def _joined(body: object) -> str:
    return (
        "\n".join(one["text"] for one in objects(body) if text_of(one.get("text")))
        if isinstance(body, list)
        else text_of(body)
    )


def _user_text(body: object) -> object:
    """Return the words of the user, which older versions wrap in JSON; None for other JSON with a type, an event."""
    try:
        wrapped = json.loads(_joined(body))
    except (ValueError, RecursionError):
        return body
    if not isinstance(wrapped, dict) or "type" not in wrapped:
        return body
    return text_of(wrapped.get("message")) if wrapped["type"] == "user_message" else None


def _unwrapped(text: str, key: str) -> str:
    try:
        wrapped = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return text_of(wrapped.get(key)) if isinstance(wrapped, dict) else text


FORMAT = Format(
    "letta",
    "an agent file of Letta",
    lambda value: isinstance(value.get("agents"), list) or {"agent_type", "core_memory"} <= value.keys(),
    _read,
    note=lambda _: (
        "agent files hold no archival passages, and at most 50 messages of an agent; get those from Letta's API"
    ),
)
