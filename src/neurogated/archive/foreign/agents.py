"""Agents: Claude Code, Codex, OpenAI's Agents SDK, threads of LangGraph, and runs of LangSmith. See docs/formats/."""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing
from functools import partial
from typing import Any

from neurogated.archive.foreign.incoming import NO_WORDS, Branches, Format, Found, Incoming, Left, each_entry, read_one
from neurogated.archive.foreign.stream import MALFORMED, Fault, File, FileEntry, fault_of
from neurogated.archive.foreign.values import digest, given, has_keys, mapping, moment, moment_or_none, words_of
from neurogated.core.extras import import_extra

_CALLS, _RESULTS, _THOUGHTS = "calls of tools", "results of tools", "thoughts"

# --- Claude Code -----------------------------------------------------------------------------------------------------
_COMMAND = re.compile(
    r"\s*<(?:command-(?:name|message|args)|local-command-|bash-(?:input|stdout|stderr)|task-notification)"
    r"|\s*\[Request interrupted by user[^]]*\]\s*$"
)
# What the program adds to the words of the user.
_ADDED = re.compile(r"<(system-reminder|ide_opened_file|ide_selection|ide_diagnostics)>.*?</\1>\s*", re.DOTALL)
_PERSONS = frozenset({None, "human", "prompt"})
"""Origins of messages, and modes of queued ones, that come from a person."""
_HIDDEN = {
    "isSidechain": "messages of subagents",
    "isMeta": "hidden messages",
    "isCompactSummary": "summaries of the session",
    "isVisibleInTranscriptOnly": "hidden messages",
    "isApiErrorMessage": "errors of the program",
}


def _claude_code(file: File) -> Found:
    """Yield the messages of a session with their branches: going back in a session leaves what followed in the file."""
    parents: dict[str, str] = {}
    last = None
    for entry in file.entries():
        value = entry.value if isinstance(entry, FileEntry) and isinstance(entry.value, dict) else {}
        if isinstance(name := value.get("uuid"), str):
            # After its compaction, a session goes on without a parent.
            parents[name] = value.get("parentUuid") or value.get("logicalParentUuid") or f"root of {name}"
            last = name if value.get("type") in {"user", "assistant"} and not value.get("isSidechain") else last
    yield from each_entry(file, partial(_claude_code_message, branches=Branches(parents, last=last)))


def _claude_code_message(value: Mapping[str, Any], place: str, *, branches: Branches) -> Incoming | Left:
    kind, attached = value.get("type"), value.get("attachment")
    if isinstance(attached, dict) and attached.get("type") == "queued_command":
        # What somebody writes while the program works has no other entry.
        kind, value = "user", {**value, **attached, "message": {"content": attached.get("prompt")}}
    if kind not in {"user", "assistant"}:
        return Left(place, f"entries of the type {kind}")
    if mapping(value.get("origin")).get("kind") not in _PERSONS or value.get("commandMode") not in _PERSONS:
        return Left(place, "messages of other programs")
    if reason := next((reason for name, reason in _HIDDEN.items() if value.get(name)), None):
        return Left(place, reason)
    message, key = mapping(value["message"]), value["uuid"]
    body = message.get("content") or ""
    if _COMMAND.match(words_of(body)):
        return Left(place, "commands")
    if kind == "user":
        body = _typed(body, _ADDED)
    time, about = moment(value.get("timestamp")), given(folder=value.get("cwd"), git_branch=value.get("gitBranch"))
    # A fork repeats the messages before it.
    session = mapping(value.get("forkedFrom")).get("sessionId") or value["sessionId"]
    details = given(session_id=f"claude-code-{session}", timestamp=time, metadata=about)
    return Incoming(place, key, "", message.get("role") or kind, details, content=body, **branches.of(key))


def _typed(body: object, added: re.Pattern[str]) -> object:
    """Return the body of a message of the user, or a part of it, without what a program added to his words."""
    if isinstance(body, list):
        return [_typed(one, added) for one in body]
    if isinstance(body, dict) and isinstance(body.get("text"), str):
        return {**body, "text": added.sub("", body["text"])}
    return added.sub("", body) if isinstance(body, str) else body


CLAUDE_CODE = Format(
    *("claude-code", "a session of Claude Code"),
    has_keys("sessionId type uuid", "sessionId type parentUuid", "sessionId type message"),
    read_file=_claude_code,
)

# --- Codex -----------------------------------------------------------------------------------------------------------
_ITEMS = {"reasoning": _THOUGHTS, "web_search_call": _CALLS, "__enc__": "encrypted messages"}
for _kind in ("function_call", "custom_tool_call", "local_shell_call"):
    _ITEMS |= {_kind: _CALLS, f"{_kind}_output": _RESULTS}
_INJECTED = re.compile(
    r"\s*(?:# AGENTS\.md instructions|<(?:environment_context|user_instructions|permissions|turn_aborted|skill|"
    r"INSTRUCTIONS|user_shell_command|subagent_notification|collaboration_mode|hook_prompt|goal_context|"
    r"codex_internal_context|recommended_plugins)\b)"
)
# What an editor puts before the words of the user: the open files, or those that are attached.
_SURROUNDING = re.compile(
    r"\s*# (?:Context from my IDE setup|Files mentioned by the user):\n.*?^## My request for Codex:\s*",
    re.DOTALL | re.MULTILINE,
)


def _codex(file: File) -> Found:
    """Yield the messages of a session. What the program itself adds to a user's messages is left out."""
    session, repeats = str(mapping(_codex_head(file).get("session")).get("id") or ""), Counter[str]()
    undone = _undone(file)

    def message(line: Mapping[str, Any], place: str) -> Incoming | Left:
        nonlocal session
        payload = mapping(line["payload"]) if "payload" in line else line
        kind = payload.get("type") if "payload" not in line or line.get("type") == "response_item" else line.get("type")
        payload = mapping(payload.get("session")) if kind is None and "session" in payload else payload
        if kind == "session_meta" or (kind is None and "instructions" in payload):
            session = session or str(payload["id"])
            return Left(place, "entries of the type session_meta")
        if kind != "message":
            return Left(place, _ITEMS.get(str(kind), f"entries of the type {kind or line.get('record_type')}"))
        body, words = payload.get("content") or "", words_of(payload.get("content"))
        if payload.get("role") == "user":
            if _INJECTED.match(words):
                return Left(place, "context that the program added")
            body = _typed(body, _SURROUNDING)
        key = digest(line.get("timestamp"), payload["role"], words)
        repeats[key] += 1
        details = given(session_id=f"codex-{session or digest(file.name)}", timestamp=moment(line.get("timestamp")))
        key, branch = f"{key}-{repeats[key]}", undone.get(place, {})
        return Incoming(place, key, "", payload["role"], details, content=body, **branch)

    yield from each_entry(file, message)


def _undone(file: File) -> dict[str, dict[str, Any]]:
    """Return the branches of the messages of turns that the user took back, by the places of the messages."""
    said, undone = list[tuple[str, bool]](), dict[str, dict[str, Any]]()
    for number, entry in enumerate(file.entries()):
        line = entry.value if isinstance(entry, FileEntry) and isinstance(entry.value, dict) else {}
        payload = line.get("payload")
        if not isinstance(payload, dict):
            continue
        if payload.get("type") == "thread_rolled_back" and isinstance(turns := payload.get("num_turns"), int):
            begins = [at for at, (_, is_turn) in enumerate(said) if is_turn]
            begin = begins[-min(turns, len(begins))] if begins and turns > 0 else len(said)
            branch = {"branch": f"undone-{number}", "ended_at": moment_or_none(line.get("timestamp"))}
            undone |= dict.fromkeys((place for place, _ in said[begin:]), branch)
            del said[begin:]
        elif line.get("type") == "response_item" and payload.get("type") == "message":
            is_turn = payload.get("role") == "user" and not _INJECTED.match(words_of(payload.get("content")))
            said.append((entry.place, is_turn))
    return undone


def _is_codex(value: Mapping[str, Any]) -> bool:
    is_meta = {"id", "timestamp", "instructions"} <= value.keys() and not isinstance(value.get("messages"), list)
    return is_meta or (value.get("type") in {"session_meta", "response_item", "turn_context"} and "payload" in value)


def _codex_head(file: File) -> Mapping[str, Any]:
    """Return what stands before the items of a session of the first versions, a single object."""
    return next((entry.head for entry in file.first(1) if {"session"} == entry.head.keys()), {})


CODEX = Format("codex", "a session of Codex", _is_codex, sniff=lambda file: bool(_codex_head(file)), read_file=_codex)

# --- OpenAI Agents SDK -----------------------------------------------------------------------------------------------
_ROWS = "SELECT id, session_id, message_data, created_at FROM agent_messages ORDER BY id"
_PLACES = "SELECT session_id, message_id, branch_id FROM message_structure ORDER BY id"


def _openai_agents(file: File) -> Found:
    """Yield the messages of all sessions of a database. The branch that was written last is the seen one."""
    with file.on_disk() as path, closing(sqlite3.connect(path)) as database:
        branches, latest = dict[int, list[str]](), dict[str, str]()
        for session, message, branch in database.execute(_PLACES) if "message_structure" in file.tables else ():
            branches.setdefault(message, []).append(branch)
            latest[session] = branch
        for row in database.execute(_ROWS):
            item = dict(zip(("id", "session", "data", "created_at"), row, strict=True))
            own = branches.get(item["id"], [])
            other = None if not own or latest.get(item["session"]) in own else own[0]
            place = f"{file.name}: agent_messages {item['id']}"
            yield from read_one(item, place, partial(_agent_message, branch=other))


def _agent_message(row: Mapping[str, Any], place: str, *, branch: str | None) -> Incoming | Left:
    message = mapping(json.loads(row["data"]))
    if "role" not in message:
        kind = "__enc__" if "__enc__" in message else message.get("type")
        return Left(place, _ITEMS.get(str(kind), f"entries of the type {kind}"))
    details = given(session_id=f"openai-agents-{row['session']}", timestamp=moment(row["created_at"]))
    body = message.get("content") or ""
    return Incoming(place, str(row["id"]), "", message["role"], details, content=body, branch=branch)


OPENAI_AGENTS = Format(
    *("openai-agents", "sessions of OpenAI's Agents SDK"),
    sniff=lambda file: file.tables >= {"agent_sessions", "agent_messages"},
    read_file=_openai_agents,
)

# --- Checkpoints of LangGraph ----------------------------------------------------------------------------------------
_STATES = "SELECT checkpoint_id, {} FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = '' ORDER BY 1"


def read_thread(database: sqlite3.Connection, thread: str, place: str) -> Found:
    """Yield the messages of a thread. Going back begins a branch; the latest checkpoint ends the seen one."""
    parents = dict(database.execute(_STATES.format("parent_checkpoint_id"), (thread,)))
    branches, said = Branches(parents, last=max(parents, default=None)), dict[object, tuple[str, object, object]]()
    for checkpoint, kind, blob in database.execute(_STATES.format("type, checkpoint"), (thread,)):
        try:
            state = _unpacked(kind, blob)
            messages = mapping(state["channel_values"]).get("messages")
        except MALFORMED as error:
            yield fault_of(error, f"{place}, {checkpoint}")
            continue
        for message in messages if isinstance(messages, list) else ():
            key = (isinstance(message, dict) and message.get("id")) or digest(message)
            # The first checkpoint that has it, of the seen branch if one has it; the time of the first one.
            first, time, _ = said.get(key, (checkpoint, state.get("ts"), None))
            if key not in said or checkpoint not in branches.left:
                said[key] = checkpoint if first in branches.left else first, time, message
    if not said:
        yield Left(place, "states without messages", len(parents))
    for key, (checkpoint, time, message) in said.items():
        details = given(session_id=f"langgraph-{thread}", timestamp=moment_or_none(time))
        if isinstance(message, dict):
            yield Incoming(place, str(key), details=details, content=message, **branches.of(checkpoint))
        else:
            yield Fault(place, f"{str(message)[:40]!r} is no message")


def _unpacked(kind: str | None, blob: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return the state of a checkpoint. The fields of its objects are read, but none is made."""
    if kind not in {None, "json", "msgpack"}:
        raise ValueError(f"it is encoded as {kind}, which is not read")
    if kind != "msgpack":
        return json.loads(blob, object_hook=lambda one: one.get("kwargs", one) if one.get("lc") else one)
    ormsgpack = import_extra("ormsgpack", "langgraph", use="for reading checkpoints of LangGraph")

    def opened(data: bytes) -> Any:  # noqa: ANN401 - JSON
        return ormsgpack.unpackb(data, ext_hook=made, option=ormsgpack.OPT_NON_STR_KEYS)

    def made(_: int, data: bytes) -> object:
        """Return the arguments of an object: it is packed with its module, its class, its arguments and a method."""
        one = opened(data)
        return one[2] if isinstance(one, list) and len(one) > 2 else one  # noqa: PLR2004 - three or four

    return opened(blob)


# --- LangSmith -------------------------------------------------------------------------------------------------------
_THREADS = ("thread_id", "session_id", "conversation_id")
_HELD = (
    *("messages", "generations", "choices", "message", "input", "question", "query", "output", "answer", "result"),
    "text",
)
"""Where inputs and outputs have messages or texts, unless they are a message or a text themselves."""
_OF_MESSAGE = frozenset({"role", "lc", "kwargs", "data", "content"})


def _langsmith(entry: FileEntry) -> Found:
    """Yield what a run was asked and answered, if it is no step of another run.

    A run repeats the messages before it. In a thread, only the last message of the inputs is new.
    """
    run, place = entry.value, entry.place
    if run.get("parent_run_id") or (run.get("trace_id") and run["trace_id"] != run["id"]):
        yield Left(place, "steps of runs")
        return
    about = mapping(mapping(run.get("extra")).get("metadata"))
    thread = next((about[name] for name in _THREADS if about.get(name)), None)
    asked, answered = _turns(run.get("inputs"), "user"), _turns(run.get("outputs"), "assistant")
    session, begin = f"langsmith-{thread or run['id']}", run.get("start_time")
    for name, said, time in (("inputs", asked, begin), ("outputs", answered, run.get("end_time") or begin)):
        new = said[-1:] if thread or name == "outputs" else said
        if earlier := len(said) - len(new):
            yield Left(f"{place}.{name}", "messages of earlier runs", earlier)
        if run.get(name) and not said:
            yield Left(f"{place}.{name}", NO_WORDS)
        for number, message in enumerate(new):
            where, key = f"{place}.{name}[{number}]", f"{run['id']}-{name}-{number}"
            yield Incoming(where, key, details=given(session_id=session, timestamp=moment(time)), content=message)


def _turns(value: object, role: str) -> list[dict[str, Any]]:
    """Return the messages of the inputs or outputs of a run, or of a part of them."""
    if isinstance(value, str):
        return [{"role": role, "content": value}]
    if isinstance(value, list):
        # A list in a list has the messages of one of several calls.
        listed = value[0] if value and isinstance(value[0], list) else value
        return [message for one in listed for message in _turns(one, role)]
    if not isinstance(value, dict):
        return []
    if value.keys() & _OF_MESSAGE:
        return [value if value.keys() & {"role", "lc", "kwargs", "data", "type"} else {"role": role, **value}]
    return next((found for name in _HELD if (found := _turns(value.get(name), role))), [])


LANGSMITH = Format("langsmith", "runs of LangSmith", has_keys("run_type inputs"), _langsmith)
