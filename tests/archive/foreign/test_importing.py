"""Files of other systems are imported into a memory once, however often and however interrupted."""

import asyncio
import json
import sqlite3
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from agents import SQLiteSession
from langchain_core.messages import AIMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.graph import START, MessagesState, StateGraph

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import DatasetError, InputError
from neurogated.session.compose import build
from neurogated.testing import ManualClock
from tests.archive.foreign.files import BEGIN, both, chatgpt, chatgpt_node, claude, records, written
from tests.postgres_server import Postgres

_SAID = [("user", "I moved to Lyon."), ("assistant", "How is it?"), ("user", "Sunny.")]


def test_conversations_become_sessions_with_the_times_of_their_messages(plain: MemoryConfig, tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", [chatgpt(_SAID), chatgpt(_SAID[:1], "c2", begin=BEGIN + 9999)])
    with NeuroGraphMemory(plain) as memory:
        done = memory.admin.import_from("chatgpt", path, user_id="ana")
        assert (done.texts, done.added, done.faults) == (4, 4, 0)
        turns = memory.find(user_id="ana", session_id="chatgpt-c1", kinds=["turn"], order_by="position")
        assert [(one.role, one.content) for one in turns] == _SAID
        assert [one.timestamp for one in turns] == [datetime.fromtimestamp(BEGIN + 60 * n, UTC) for n in range(3)]
        assert memory.count(user_id="ana", session_id="chatgpt-c2", kinds=["turn"]) == 1
        assert memory.count() == 0


def test_a_second_import_adds_nothing_and_a_later_export_only_what_is_new(config: MemoryConfig, tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", [chatgpt(_SAID[:2]), chatgpt(_SAID, "c2")])
    with NeuroGraphMemory(config) as memory:
        memory.admin.import_from("chatgpt", path, user_id="ana")
        written(path, [chatgpt(_SAID), chatgpt(_SAID, "c2")])
        later = memory.admin.import_from("chatgpt", path, user_id="ana")
        assert (later.texts, later.added) == (6, 1)
        turns = memory.find(user_id="ana", session_id="chatgpt-c1", kinds=["turn"], order_by="position")
        assert [one.content for one in turns] == [text for _, text in _SAID]
        other = memory.admin.import_from("chatgpt", path, user_id="bob")
        assert other.added == 6


def test_a_later_agent_file_replaces_no_message_of_an_earlier_one(plain: MemoryConfig, tmp_path: Path) -> None:
    """An agent file numbers the messages that it holds, and often holds only the latest."""
    said = [
        {"role": "user", "content": text, "created_at": f"2026-03-0{day}"} for day, text in ((1, "One."), (2, "Two."))
    ]
    with NeuroGraphMemory(plain) as memory:
        for one in said:
            messages = [{**one, "id": "message-0"}]
            path = written(tmp_path / "helper.af", {"agents": [{"name": "helper", "messages": messages}], "blocks": []})
            memory.admin.import_from("letta", path, user_id="ana")
        assert memory.count(user_id="ana", kinds=["turn"]) == 2


def test_where_each_text_has_a_user_one_must_be_given(plain: MemoryConfig, tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", [chatgpt(_SAID)])
    with NeuroGraphMemory(plain.replace(require_user=True)) as memory:
        with pytest.raises(InputError, match="user"):
            memory.admin.import_from("chatgpt", path)
        assert memory.admin.import_from("chatgpt", path, user_id="ana").added == 3


def test_metadata_that_cannot_be_stored_is_a_fault(plain: MemoryConfig, tmp_path: Path) -> None:
    deep: object = 1
    for _ in range(200):
        deep = [deep]
    memories = [{"id": f"m{number}", "memory": "Tea."} for number in range(4)]
    bad = [{**memories[0], "metadata": {"a": value}} for value in (float("nan"), deep)]
    path = written(tmp_path / "x.json", [memories[1], *bad, memories[2]])
    with NeuroGraphMemory(plain) as memory:
        done = memory.admin.import_from("mem0", path, user_id="ana")
    assert (done.added, done.faults) == (2, 2)


def test_an_edited_question_ends_the_branch_that_was_seen_before(plain: MemoryConfig, tmp_path: Path) -> None:
    old = chatgpt([("user", "I move to Lisbon."), ("assistant", "Lisbon is lovely.")])
    new = chatgpt([("user", "I move to Lisbon."), ("assistant", "Lisbon is lovely.")])
    edited = {"e0": chatgpt_node("root", "user", "I move to Porto.", BEGIN + 500)}
    edited["e1"] = chatgpt_node("e0", "assistant", "Porto is fine.", BEGIN + 505)
    new = {**new, "mapping": {**new["mapping"], **edited}, "current_node": "e1"}
    path = tmp_path / "conversations.json"
    with NeuroGraphMemory(plain) as memory:
        memory.admin.import_from("chatgpt", written(path, [old]), user_id="ana")
        done = memory.admin.import_from("chatgpt", written(path, [new]), user_id="ana")
        assert (done.added, done.ended, done.left_out["of another branch"]) == (2, 2, 2)
        assert _held(memory) == ["I move to Porto.", "Porto is fine."]
        now = datetime.fromtimestamp(BEGIN + 600, UTC)
        assert "I move to Lisbon." not in memory.retrieve("I move to Lisbon.", user_id="ana", valid_at=now)
        then = datetime.fromtimestamp(BEGIN + 200, UTC)
        assert "I move to Lisbon." in memory.retrieve("I move to Lisbon.", user_id="ana", valid_at=then)
        sequence = memory.store.view().sequence
        memory.admin.import_from("chatgpt", path, user_id="ana")
        assert memory.store.view().sequence == sequence
        memory.admin.import_from("chatgpt", written(path, [{**new, "current_node": "c1-1"}]), user_id="ana")
        assert _held(memory) == ["I move to Lisbon.", "Lisbon is lovely."]


def _held(memory: NeuroGraphMemory) -> list[str]:
    """Return the texts that are still valid."""
    turns = memory.find(user_id="ana", kinds=["turn"], order_by="position")
    return [one.content for one in turns if one.valid_to is None]


def test_what_the_source_deleted_is_told_and_deleted_by_a_mirror(plain: MemoryConfig, tmp_path: Path) -> None:
    path, other = tmp_path / "conversations.json", tmp_path / "other.json"
    with NeuroGraphMemory(plain) as memory:
        memory.admin.import_from("chatgpt", written(path, [chatgpt(_SAID), chatgpt(_SAID, "c2")]), user_id="ana")
        memory.admin.import_from("claude", written(other, [claude([("human", "Hello.")])]), user_id="ana")
        memory.admin.import_from("chatgpt", path, user_id="bob")
        done = memory.admin.import_from("chatgpt", written(path, [chatgpt(_SAID)]), user_id="ana")
        assert (done.missing, done.deleted) == (3, 0)
        assert "3 texts of earlier imports are not in this file" in done.notes[0]
        done = memory.admin.import_from("chatgpt", path, user_id="ana", mirror=True)
        assert (done.missing, done.deleted) == (3, 3)
        assert memory.count(user_id="ana", kinds=["turn"]) == 4
        assert memory.count(user_id="bob", kinds=["turn"]) == 6


def test_a_mirror_touches_only_what_imports_of_its_own_format_wrote(plain: MemoryConfig, tmp_path: Path) -> None:
    session, chats = tmp_path / "session.jsonl", written(tmp_path / "claude.json", [claude([("human", "Hello.")])])
    entry = {"type": "user", "uuid": "u1", "sessionId": "s1", "message": {"content": "I code in Rust."}}
    session.write_text(json.dumps(entry), encoding="utf-8")
    with NeuroGraphMemory(plain) as memory:
        memory.admin.import_from("claude-code", session, user_id="ana")
        memory.add("My plan for May.", user_id="ana", id="claude-plan")
        memory.admin.import_from("claude", chats, user_id="ana")
        other = written(chats, [claude([("human", "Good evening.")], "c2")])
        done = memory.admin.import_from("claude", other, user_id="ana", mirror=True)
        assert (done.missing, done.deleted, done.notes) == (1, 1, [])
        kept = {one.content for one in memory.find(user_id="ana")}
        assert kept == {"I code in Rust.", "My plan for May.", "Good evening."}


def test_an_empty_file_and_an_unknown_one_are_named(plain: MemoryConfig, tmp_path: Path) -> None:
    empty = tmp_path / "conversations.json"
    empty.write_bytes(b"\xef\xbb\xbf \n")
    with NeuroGraphMemory(plain) as memory:
        with pytest.raises(DatasetError, match=r"conversations\.json is empty"):
            memory.admin.import_from(None, empty)
        with pytest.raises(DatasetError, match="an object with colour"):
            memory.admin.import_from(None, written(tmp_path / "x.json", {"colour": "red"}))
        done = memory.admin.import_from("chatgpt", written(tmp_path / "x.json", []))
        assert (done.present, done.notes) == (0, ["x.json is empty"])


def test_items_of_langgraph_expire_after_their_lifetime(plain: MemoryConfig, tmp_path: Path) -> None:
    begin = datetime(2026, 1, 1, 12, tzinfo=UTC)
    with closing(sqlite3.connect(tmp_path / "store.db")) as database:
        database.execute(
            "CREATE TABLE store (prefix TEXT, key TEXT, value TEXT, created_at TIMESTAMP, updated_at TIMESTAMP, "
            "expires_at TIMESTAMP, ttl_minutes REAL)"
        )
        lifetimes: dict[str, tuple[str | None, float | None]] = {
            "gone": (None, 30),
            "ended": ("2026-01-01 12:30:00", 30),
            "kept": (None, 90),
            "later": (None, 2e9),
        }
        lifetimes |= {"read": ("2026-01-01 14:00:00", 30), "wrong": (None, -1), "always": (None, None)}
        for key, (end, ttl) in lifetimes.items():
            row = ("notes", key, '{"text": "Tea."}', "2026-01-01 11:00:00", "2026-01-01 12:00:00", end, ttl)
            database.execute("INSERT INTO store VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        database.commit()
    with NeuroGraphMemory(plain, parts=build(plain, ManualClock(begin + timedelta(hours=1)))) as memory:
        done = memory.admin.import_from(None, tmp_path / "store.db")
        nodes = {node.metadata["key"]: node for node in memory.find(kinds=["item"])}
        ends = {key: node.expires_at and node.expires_at - begin for key, node in nodes.items()}
        minute = timedelta(minutes=1)
        assert ends == {"kept": 90 * minute, "later": 2e9 * minute, "read": 120 * minute, "always": None}
        assert {key: node.metadata.get("ttl") for key, node in nodes.items()} == {
            "kept": 90,
            "later": 2e9,
            "read": 30,
            "always": None,
        }
        assert (done.texts, done.faults) == (4, 3)


def test_a_database_in_use_is_read_with_what_its_log_still_holds(tmp_path: Path) -> None:
    with closing(SQLiteSession("ana", str(tmp_path / "agents.db"))) as session:
        asyncio.run(session.add_items([{"role": "user", "content": "I moved to Lyon."}]))
        assert (tmp_path / "agents.db-wal").stat().st_size
        for path in (tmp_path, tmp_path / "agents.db"):
            assert [one.text for one in records(None, path)] == ["I moved to Lyon."]


def test_checkpoints_of_postgresql_are_imported_by_the_copy_that_the_page_shows(
    postgres: Postgres, tmp_path: Path
) -> None:
    def answer(state: MessagesState) -> dict[str, list[AIMessage]]:
        return {"messages": [AIMessage(f"On {state['messages'][-1].content}")]}

    page = Path("docs/formats/langgraph.md").read_text(encoding="utf-8")
    recipe: dict[str, Any] = {}
    exec(page.split("```py\n")[1].split("```")[0], recipe)  # noqa: S102 - a page of this project
    with PostgresSaver.from_conn_string(postgres.database()) as saver:
        saver.setup()
        agent = StateGraph(MessagesState).add_node(answer).add_edge(START, "answer").compile(saver)
        thread: RunnableConfig = {"configurable": {"thread_id": "t"}}
        for said in ("tea", "coffee"):
            agent.invoke({"messages": [HumanMessage(said)]}, thread)
        began = next(one for one in agent.get_state_history(thread) if len(one.values["messages"]) == 2)
        agent.invoke({"messages": [HumanMessage("milk")]}, began.config)
        recipe["copy"](saver, str(tmp_path / "copied.db"))
    assert both(None, tmp_path / "copied.db") == (["tea", "On tea", "milk", "On milk"], [])
