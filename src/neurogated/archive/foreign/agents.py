"""Agents: Claude Code, Codex, editors, OpenAI's Agents SDK, threads of LangGraph, and runs of LangSmith."""

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import datetime
from functools import partial
from pathlib import PurePath
from typing import Any

from neurogated.archive.foreign.incoming import NO_WORDS, Branches, Format, Found, Incoming, Left, each_entry, read_one
from neurogated.archive.foreign.stream import MALFORMED, Fault, File, FileEntry, fault_of
from neurogated.archive.foreign.values import digest, given, has_keys, mapping, minus, moment, moment_or_none, words_of
from neurogated.core.extras import import_extra
from neurogated.text.strings import table_of

_TABLE = table_of(__package__, "agents")
_COMMAND, _TYPED, _ADDED, _INJECTED, _SURROUNDING, _QUERY, _SAID_AT, _UNSHOWN = (
    re.compile(_TABLE[name])
    for name in ["command", "typed", "added", "injected", "surrounding", "query", "said_at", "unshown"]
)

# --- Claude Code -----------------------------------------------------------------------------------------------------
_PERSONS = frozenset({None, "human", "prompt"})
"""Origins of messages, and modes of queued ones, that come from a person."""


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
    if reason := next((reason for name, reason in _TABLE["hidden"].items() if value.get(name)), None):
        return Left(place, reason)
    message, key = mapping(value["message"]), value["uuid"]
    body = message.get("content") or ""
    if _COMMAND.match(words_of(body)):
        return Left(place, "commands", is_prompt=kind == "user" and bool(_TYPED.match(words_of(body))))
    if kind == "user":
        body = minus(body, _ADDED)
    time, about = moment(value.get("timestamp")), given(folder=value.get("cwd"), git_branch=value.get("gitBranch"))
    # A fork repeats the messages before it.
    session = mapping(value.get("forkedFrom")).get("sessionId") or value["sessionId"]
    details = given(session_id=f"claude-code-{session}", timestamp=time, metadata=about)
    return Incoming(place, key, "", message.get("role") or kind, details, content=body, **branches.of(key))


CLAUDE_CODE = Format(
    *("claude-code", "a session of Claude Code"),
    has_keys("sessionId type uuid", "sessionId type parentUuid", "sessionId type message"),
    read_file=_claude_code,
)


# --- Codex -----------------------------------------------------------------------------------------------------------
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
            return Left(place, _TABLE["items"].get(str(kind), f"entries of the type {kind or line.get('record_type')}"))
        body, words = payload.get("content") or "", words_of(payload.get("content"))
        if payload.get("role") == "user":
            if _INJECTED.match(words):
                return Left(place, "context that the program added")
            body = minus(body, _SURROUNDING)
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


def _codex_head(file: File) -> Mapping[str, Any]:
    """Return what stands before the items of a session of the first versions, a single object."""
    return next((entry.head for entry in file.first(1) if {"session"} == entry.head.keys()), {})


CODEX = Format(
    *("codex", "a session of Codex"),
    lambda value: (
        (value.get("type") in {"session_meta", "response_item", "turn_context"} and "payload" in value)
        or ({"id", "timestamp", "instructions"} <= value.keys() and not isinstance(value.get("messages"), list))
    ),
    sniff=lambda file: bool(_codex_head(file)),
    read_file=_codex,
)

# --- Cursor, and GitHub Copilot in VS Code ---------------------------------------------------------------------------


def _editor(file: File, *, name: str) -> Found:
    """Yield the messages of a session. Those of Cursor have no ids, and only its prompts have a time."""
    repeats, session, about = Counter[str](), PurePath(file.name).stem, dict[str, Any]()

    def message(line: Mapping[str, Any], place: str) -> Incoming | Left:
        nonlocal session, about
        role = str(line.get("role") or line.get("type")).removesuffix(".message")
        said, time = mapping(line.get("message") or line.get("data")), line.get("timestamp")
        if role == "session.start":
            session, about = said["sessionId"], given(folder=mapping(said.get("context")).get("cwd"))
        if role not in {"user", "assistant"}:
            return Left(place, f"entries of the type {role}")
        body: object = said.get("content") or ""
        words, unread = words_of(body), ("attachment",) * len(said.get("attachments") or ())
        if role == "assistant":
            body = minus(body, _UNSHOWN)
        else:
            asked, found = _QUERY.findall(words), _SAID_AT.match(words)
            body = "\n".join(asked) if asked else _SAID_AT.sub("", words)
            if found and (time := _time_of(found)) is None:
                unread += ("time",)
        repeats[key := digest(session, role, words)] += 1
        details = given(session_id=f"{name}-{session}", timestamp=moment(time), metadata=about)
        key = line.get("id") or f"{key}-{repeats[key]}"
        return Incoming(place, key, "", role, details, content=body, without=unread)

    yield from each_entry(file, message)


def _time_of(found: re.Match[str]) -> str | None:
    """Return the time before a prompt of Cursor in ISO format; None for one in another form."""
    with suppress(ValueError):
        at = datetime.strptime(found[1], "%b %d, %Y, %I:%M %p")  # noqa: DTZ007 - the offset follows
        return f"{at.isoformat()}{int(found[2] or 0):+03}:{found[3] or '00'}"
    return None


CURSOR, COPILOT_AGENT = (
    Format(name, f"a session of {title}", matches, read_file=partial(_editor, name=name))
    for name, title, matches in (
        ("cursor", "Cursor", lambda one: one.keys() == {"role", "message"} and isinstance(one["message"], dict)),
        (
            *("github-copilot", "GitHub Copilot's agent"),
            lambda one: "data" in one and one.get("type") in {"session.start", "user.message"},
        ),
    )
)

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
        return Left(place, _TABLE["items"].get(str(kind), f"entries of the type {kind}"))
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
def _langsmith(entry: FileEntry) -> Found:
    """Yield what a run was asked and answered, if it is no step of another run.

    A run repeats the messages before it. In a thread, only the last message of the inputs is new.
    """
    run, place = entry.value, entry.place
    if run.get("parent_run_id") or (run.get("trace_id") and run["trace_id"] != run["id"]):
        yield Left(place, "steps of runs")
        return
    about = mapping(mapping(run.get("extra")).get("metadata"))
    thread = next((about[name] for name in _TABLE["threads"] if about.get(name)), None)
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
    if value.keys() & set(_TABLE["of_message"]):
        return [value if value.keys() & {"role", "lc", "kwargs", "data", "type"} else {"role": role, **value}]
    return next((found for name in _TABLE["held"] if (found := _turns(value.get(name), role))), [])


LANGSMITH = Format("langsmith", "runs of LangSmith", has_keys("run_type inputs"), _langsmith)
