"""Other memories: mem0, stores of LangGraph, Letta, Zep and Graphiti. See docs/formats/."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC
from functools import partial
from typing import Any

from neurogated.archive.foreign.agents import read_thread
from neurogated.archive.foreign.incoming import (
    EMPTY,
    Format,
    Found,
    Incoming,
    IncomingItem,
    Left,
    count_unread,
    read_each,
    read_one,
    safely,
)
from neurogated.archive.foreign.stream import File, FileEntry
from neurogated.archive.foreign.values import digest, given, has_keys, mapping, moment, objects, text_of, words_of
from neurogated.core.clock import read_expiration, to_utc

# --- mem0 ------------------------------------------------------------------------------------------------------------
_MEM0_PAGES = frozenset({20, 100})
"""How many memories `get_all` returns unless told otherwise, by version."""
_MEM0_KEPT = ("created_at", "updated_at", "categories", "actor_id", "attributed_to", "expiration_date")
_SPEAKERS = frozenset({"user", "assistant"})


def _mem0(memory: Mapping[str, Any], place: str) -> Incoming:
    """Return a memory. Its time is that of its last change, when its text was written."""
    text, by = text_of(memory["memory"]), memory.get("attributed_to")
    end = read_expiration("expiration_date", memory.get("expiration_date") or None)
    details = given(
        user_id=memory.get("user_id"),
        agent_id=memory.get("agent_id"),
        session_id=memory.get("run_id"),
        expires_at=end and to_utc(end, UTC),
        timestamp=moment(memory.get("updated_at")) or moment(memory.get("created_at")),
        metadata={**mapping(memory.get("metadata")), **given(**{name: memory.get(name) for name in _MEM0_KEPT})},
    )
    role = memory.get("role") or (by if by in _SPEAKERS else None)
    speaker = memory.get("actor_id") or (by if isinstance(by, str) and by not in _SPEAKERS else None)
    return Incoming(place, memory["id"], text, role, details, speaker or None)


_MEM0_NOTE = (
    "the file has exactly {} memories, the most that mem0's get_all returns unless told otherwise; if there are more, "
    "get them with a higher limit and import them, too"
)
MEM0 = Format(
    *("mem0", "memories of mem0", has_keys("id memory")),
    lambda entry: read_one(entry.value, entry.place, _mem0),
    note=lambda count: _MEM0_NOTE.format(count) if count in _MEM0_PAGES else None,
)


# --- LangGraph -------------------------------------------------------------------------------------------------------
def _item(item: Mapping[str, Any], place: str) -> IncomingItem:
    """Return an item. JavaScript spells its times in camel case."""
    if "prefix" in item:
        # A row of a table joins the names of the namespace by dots. Values are JSON, which PostgreSQL returns read.
        value = item["value"]
        value = json.loads(value) if isinstance(value, str) else value
        item = {**item, "namespace": item["prefix"].split("."), "value": value}
    namespace, key = item["namespace"], item["key"]
    if not (isinstance(namespace, list) and all(isinstance(one, str) and one for one in (*namespace, key))):
        raise ValueError(f"its namespace {namespace!r:.80} and its key {key!r:.80} must be texts")
    created, updated = (item.get(f"{name}_at") or item.get(f"{name}At") for name in ("created", "updated"))
    ttl, ends = item.get("ttl_minutes"), moment(item.get("expires_at"))
    value, ttl = mapping(item["value"]), None if ttl is None else float(ttl)
    return IncomingItem(place, tuple(namespace), key, value, moment(created), moment(updated), ttl, ends)


def _tables(file: File) -> Found:
    """Yield the rows of the table `store`, whose times are in UTC, and the messages of the checkpoints."""
    with file.on_disk() as path, closing(sqlite3.connect(path)) as database:
        if "store" in file.tables:
            # Older tables have no lifetimes.
            rows = database.execute("SELECT * FROM store ORDER BY rowid")
            names = [column for column, *_ in rows.description]
            for number, row in enumerate(rows):
                yield from read_one(dict(zip(names, row, strict=True)), f"{file.name}: store[{number}]", _item)
        if "checkpoints" in file.tables:
            for (thread,) in database.execute("SELECT DISTINCT thread_id FROM checkpoints ORDER BY 1").fetchall():
                yield from read_thread(database, thread, f"{file.name}: checkpoints of {thread}")


LANGGRAPH = Format(
    *("langgraph", "items of a LangGraph store", has_keys("namespace key value", "prefix key value")),
    lambda entry: read_one(entry.value, entry.place, _item),
    lambda file: "store" in file.tables or file.tables >= {"checkpoints", "writes"},
    _tables,
)


# --- Letta -----------------------------------------------------------------------------------------------------------
_SEND_MESSAGE = "send_message"
"""The tool with which agents of older kinds answer. The text beside their calls is thought, not said."""
_NEWER = "letta_v1"


def _letta(entry: FileEntry) -> Found:
    """Yield the texts of each agent in the file. An older file is an agent itself."""
    blocks, used = {str(block.get("id")): block for block in objects(entry.value.get("blocks"))}, set[str]()
    for number, agent in enumerate(entry.value.get("agents", [entry.value])):
        place = f"{entry.place}.agents[{number}]"
        yield from safely(_letta_agent(agent, place, blocks, used), place)
    rest = {**entry.value, "blocks of no agent": [key for key in blocks if key not in used]}
    yield from count_unread(rest, entry.place, "files", "passages", "blocks of no agent")


def _letta_agent(agent: Mapping[str, Any], place: str, blocks: Mapping[str, Any], used: set[str]) -> Found:
    messages = mapping(agent).get("messages") or []
    first: Mapping[str, Any] = next(iter(objects(messages)), {})
    # The system message names the blocks, which change.
    is_system = first.get("role") == "system"
    born = digest(first.get("created_at"), "" if is_system else words_of(first.get("content"))) if first else ""
    is_newer = str(agent.get("agent_type") or "").startswith(_NEWER)
    # A hash of when the agent began tells agents of one name apart, where the file says it.
    name, session = agent["name"], f"-{born}" if born and is_system else ""
    about = {"session_id": f"letta-{name}{session}", "agent_id": name}
    yield from read_each(messages, f"{place}.messages", partial(_letta_message, about=about, speaks=is_newer))
    keys = [str(key) for key in agent.get("block_ids") or []]
    used.update(keys)
    own = [blocks[key] for key in keys if key in blocks]
    own += agent.get("core_memory") or agent.get("memory_blocks") or []

    def block(one: Mapping[str, Any], place: str) -> Incoming:
        time = moment(one.get("updated_at") or one.get("created_at"))
        details = given(agent_id=name, title=one["label"], timestamp=time)
        return Incoming(place, f"{name}\0{born}\0{one['label']}", text_of(one.get("value")), details=details)

    yield from read_each(own, f"{place}.blocks", block)


def _letta_message(
    message: Mapping[str, Any], place: str, *, about: Mapping[str, Any], speaks: bool
) -> Incoming | Left:
    """Return the words of a message; those beside a call of a tool count only if the agent `speaks` there.

    Its time and text identify it, since its id is only its number in the file.
    """
    role, time = message["role"], message.get("created_at")
    details = {**about, **given(timestamp=moment(time))}
    body = message.get("content")
    if role == "summary" or "following is a summary of the previous" in str(body):
        text = words_of(body)
        wrapped = _object(text)
        text = text_of(wrapped.get("message")) if wrapped else text
        return Incoming(place, f"{time}\0{text}", text, details={**details, "metadata": {"derived": "summary"}})
    if role == "approval":
        return Left(place, "calls of tools")
    if role == "user":
        # Older versions wrap the words of the user, and events, in JSON with a type.
        if "type" in (wrapped := _object(words_of(body))):
            if wrapped["type"] != "user_message":
                return Left(place, "events")
            body = text_of(wrapped.get("message"))
    elif role == "assistant" and (calls := message.get("tool_calls")):
        calls = [mapping(call)["function"] for call in calls]
        said = [json.loads(call["arguments"]).get("message") for call in calls if call["name"] == _SEND_MESSAGE]
        said = [*([words_of(body)] if speaks else []), *said]
        body = "\n".join(filter(None, map(text_of, said)))
        if not body:
            return Left(place, "calls of tools")
    key = f"{time}\0{words_of(body)}"
    return Incoming(place, key, "", role, details, message.get("name") if role == "user" else None, content=body or "")


def _object(text: str) -> Mapping[str, Any]:
    """Return the object of JSON that a text is; an empty one for another text."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


LETTA = Format(
    *("letta", "an agent file of Letta"),
    lambda value: isinstance(value.get("agents"), list) or {"agent_type", "core_memory"} <= value.keys(),
    _letta,
    wordless=EMPTY,
    note=lambda _: (
        "agent files hold at most 50 messages, and archival passages are not imported; get those from Letta's API"
    ),
)


# --- Zep and Graphiti ------------------------------------------------------------------------------------------------
_LISTS = ("messages", "facts", "edges", "episodes")
_ZEP_SESSION = ("session_id", "thread_id", "thread_uuid")
_IDS = ("uuid", "uuid_")
_ROLES: dict[str | None, str | None] = {"norole": None, "human": "user", "ai": "assistant", "function": "tool"}
_ZEP_ROLES = frozenset({"user", "assistant", "system", "tool", None})


def _is_record(value: Mapping[str, Any]) -> bool:
    return bool(value.keys() & set(_IDS)) and bool(value.keys() & {"fact", "content"}) and "docs" not in value


def _is_zep(value: Mapping[str, Any]) -> bool:
    if "agent_type" in value or "schema" in value:
        return False
    lists = [one for name in _LISTS for one in objects(value.get(name))[:1]]
    is_session = bool(value.keys() & set(_ZEP_SESSION)) and isinstance(value.get("messages"), list)
    return is_session or any(map(_is_record, [value, *lists]))


def _zep(entry: FileEntry) -> Found:
    value = entry.value
    user = given(user_id=value.get("user_id") or entry.head.get("user_id"))
    outer = value if _zep_session(value) else entry.head
    reader = partial(_zep_text, user=user, session=_zep_session(outer))
    if _is_record(value):
        # Its own lists are of ids.
        yield from read_one(value, entry.place, reader)
        return
    for name in _LISTS:
        yield from read_each(value.get(name), f"{entry.place}.{name}", reader)
    yield from count_unread(value, entry.place, "nodes", "summary", "relevant_facts", "context")


def _zep_session(value: Mapping[str, Any]) -> object:
    return next((value[name] for name in _ZEP_SESSION if value.get(name)), None)


def _zep_text(item: Mapping[str, Any], place: str, *, user: Mapping[str, Any], session: object) -> Incoming | Left:
    """Return a message, with the time that its developer gave before that of its receipt; or a fact.

    A fact is true from `valid_at` until `invalid_at`, or until it expired.
    """
    unnamed = digest(item.get("role"), item.get("created_at"), item.get("fact"), item.get("content"))
    key = next((item[name] for name in _IDS if item.get(name)), unnamed)
    group = given(agent_id=None if user else item.get("group_id") or None)
    times = ("reference_time", "valid_at", "created_at")
    if "fact" in item:
        begin, end = moment(item.get("valid_at")), moment(item.get("invalid_at")) or moment(item.get("expired_at"))
        time = moment(item.get("reference_time") or item.get("created_at"))
        if begin and end and end <= begin:
            return Left(place, "facts that held at no time")
        valid = given(valid_from=begin, valid_to=end)
        about = given(metadata=given(relation=item.get("name"), source=item.get("source_node_uuid")))
        details = {**user, **group, **given(timestamp=time), **valid, **about}
        return Incoming(place, key, text_of(item["fact"]), None, details)
    time = moment(next((item[name] for name in times if item.get(name)), None))
    session = _zep_session(item) or session
    told = item.get("role_type") or item.get("role")
    role = _ROLES.get(told, told)
    name = item.get("role_name") or item.get("name") if item.get("source") in {None, "message"} else None
    if "role_type" in item and item.get("role") not in {None, "", told}:
        name = name or item["role"]
    if role not in _ZEP_ROLES:
        name, role = name or role, None
    if "entity_edges" in item:
        # Graphiti names its episodes.
        name = None
    about = given(metadata={**mapping(item.get("metadata")), **given(source=item.get("source_description"))})
    details = {**user, **group, **given(session_id=session and f"zep-{session}", timestamp=time), **about}
    return Incoming(place, key, "", role, details, name or None, content=item["content"] or "")


ZEP = Format("zep", "conversations or facts of Zep", _is_zep, _zep)
_OF_GRAPH = has_keys("group_id entity_edges", "group_id source_node_uuid")
GRAPHITI = Format(
    "graphiti", "episodes or edges of Graphiti", lambda value: _OF_GRAPH(value) and _is_record(value), _zep
)
