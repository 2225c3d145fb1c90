"""What is read from the files of memory systems."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.archive.foreign import FORMATS
from tests.archive.foreign.files import both, notes, texts, written

_MEM0 = {
    "id": "m1",
    "memory": "Ana lives in Lyon.",
    "hash": "h",
    "metadata": {"place": "home"},
    "created_at": "2026-03-01T12:00:00.5-07:00",
    "updated_at": "2026-04-01T12:00:00",
    "user_id": "ana",
    "agent_id": "helper",
}
_FACT = {
    "uuid": "e1",
    "fact": "Ana lives in Lyon",
    "name": "LIVES_IN",
    "created_at": "2026-03-02T00:00:00Z",
    "valid_at": "2026-03-01T00:00:00Z",
    "invalid_at": "2026-05-01T00:00:00Z",
}
_PAM: dict[str, Any] = {
    "schema": "portable-ai-memory",
    "schema_version": "1.0",
    "owner": {"id": "ana"},
    "memories": [
        {
            "id": "p1",
            "type": "preference",
            "custom_type": None,
            "status": "active",
            "content": "Prefers tea.",
            "content_hash": "sha256:0",
            "tags": ["drink"],
            "temporal": {"created_at": "2026-03-01T12:00:00Z", "valid_from": "2025-01-01T00:00:00Z"},
            "provenance": {"platform": "claude", "conversation_ref": "c7"},
            "metadata": {"domain": "personal"},
        }
    ],
}


def _message(number: int, role: str, text: str, **more: object) -> dict[str, object]:
    return {"uuid": f"z{number}", "role": role, "content": text, "created_at": f"2026-03-01T12:0{number}:00Z", **more}


@pytest.mark.parametrize("shape", ["results", "list", "lines"])
def test_memories_of_mem0_have_owner_times_and_metadata(tmp_path: Path, shape: str) -> None:
    path = tmp_path / "memories.json"
    if shape == "lines":
        path.write_text(json.dumps(_MEM0) + "\n", encoding="utf-8")
    else:
        written(path, {"results": [_MEM0]} if shape == "results" else [_MEM0])
    (one,) = texts("mem0", path)
    assert one.text == "Ana lives in Lyon."
    assert one.details["timestamp"] == datetime(2026, 4, 1, 12, tzinfo=UTC)
    assert (one.details["user_id"], one.details["agent_id"]) == ("ana", "helper")
    assert one.details["metadata"]["created_at"] == _MEM0["created_at"]
    assert one.details["metadata"]["place"] == "home"


@pytest.mark.parametrize(("count", "is_told"), [(19, False), (20, True), (21, False), (100, True)])
def test_a_file_of_mem0_that_looks_cut_is_told(tmp_path: Path, count: int, *, is_told: bool) -> None:
    memories = [{**_MEM0, "id": f"m{number}"} for number in range(count)]
    assert bool(notes("mem0", written(tmp_path / "m.json", {"results": memories}))) is is_told


def test_malformed_memories_are_left_out(tmp_path: Path) -> None:
    bad = [{**_MEM0, "metadata": "x"}, {**_MEM0, "updated_at": "soon"}, {**_MEM0, "memory": None}, "x", {"id": 1}]
    path = written(tmp_path / "m.json", [_MEM0, *bad, {**_MEM0, "id": "m9"}])
    found = both("mem0", path)
    assert found == (["Ana lives in Lyon."] * 2, [f"m.json[{number}]" for number in (1, 2, 4, 5)])


def test_an_agent_of_letta_is_read_with_its_messages_and_blocks(tmp_path: Path) -> None:
    speak = {"name": "send_message", "arguments": json.dumps({"message": "Nice!"})}
    time = {"created_at": "2026-03-01T12:00:00Z"}
    thought = [{"type": "text", "text": "She moved."}]
    heartbeat = json.dumps({"type": "heartbeat", "time": "noon"})
    messages = [
        {"id": "message-0", "role": "system", "content": [{"type": "text", "text": "You are Letta."}], **time},
        {"id": "message-1", "role": "user", "content": [{"type": "text", "text": "I moved to Lyon."}], **time},
        {"id": "message-2", "role": "assistant", "content": thought, "tool_calls": [{"function": speak}], **time},
        {"id": "message-3", "role": "tool", "content": [{"type": "text", "text": "OK"}], **time},
        {"id": "message-4", "role": "user", "content": heartbeat, **time},
        {"id": "message-5", "role": "user", "content": json.dumps({"type": "user_message", "message": "Bye."}), **time},
        {"id": "message-6", "role": "assistant", "content": "Bye.", "tool_calls": None, **time},
    ]
    blocks = [
        {"id": "block-0", "label": "human", "value": "Ana of Lyon."},
        {"id": "block-1", "label": "x", "value": ""},
    ]
    agent = {"id": "agent-0", "name": "helper", "messages": messages, "block_ids": ["block-0", "block-1", "gone"]}
    path = written(tmp_path / "helper.af", {"agents": [agent], "blocks": blocks, "tools": []})
    found = texts("letta", path)
    assert [(one.role, one.text) for one in found] == [
        ("user", "I moved to Lyon."),
        ("assistant", "Nice!"),
        ("user", "Bye."),
        ("assistant", "Bye."),
        (None, "Ana of Lyon."),
    ]
    assert found[0].details["timestamp"] == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert {one.details["agent_id"] for one in found} == {"helper"}
    assert "archival" in notes("letta", path)[0]
    old = {"agent_type": "memgpt", "name": "old", "core_memory": [blocks[0]], "messages": messages[1:2]}
    assert both("letta", written(path, old)) == (["I moved to Lyon.", "Ana of Lyon."], [])


@pytest.mark.parametrize("shape", ["thread", "sessions", "memory"])
def test_conversations_of_zep_are_read(tmp_path: Path, shape: str) -> None:
    said = [
        _message(1, "user", "I moved."),
        _message(2, "Helper", "Nice.", role_type="assistant"),
        _message(3, "system", "x"),
    ]
    whole = {
        "thread": {"thread_id": "t1", "user_id": "ana", "messages": said},
        "sessions": {"user_id": "ana", "sessions": [{"session_id": "t1", "messages": said}]},
        "memory": {"session_id": "t1", "user_id": "ana", "messages": said, "facts": [_FACT]},
    }[shape]
    found = texts("zep", written(tmp_path / "zep.json", whole))
    assert [(one.role, one.text) for one in found[:2]] == [("user", "I moved."), ("assistant", "Nice.")]
    assert found[0].details["timestamp"] == datetime(2026, 3, 1, 12, 1, tzinfo=UTC)
    assert (found[0].details["user_id"], found[0].details["session_id"]) == ("ana", "zep-t1")


@pytest.mark.parametrize("shape", ["edges", "list"])
def test_facts_of_zep_hold_from_and_until(tmp_path: Path, shape: str) -> None:
    (one,) = texts("zep", written(tmp_path / "zep.json", {"edges": [_FACT]} if shape == "edges" else [_FACT]))
    assert one.text == "Ana lives in Lyon"
    assert one.details["valid_from"] == datetime(2026, 3, 1, tzinfo=UTC)
    assert one.details["valid_to"] == datetime(2026, 5, 1, tzinfo=UTC)
    assert one.details["timestamp"] == datetime(2026, 3, 2, tzinfo=UTC)


def test_memories_of_pam_are_read(tmp_path: Path) -> None:
    (one,) = texts("pam", written(tmp_path / "memory-store.json", _PAM))
    assert one.text == "Prefers tea."
    assert one.details == {
        "user_id": "ana",
        "timestamp": datetime(2026, 3, 1, 12, tzinfo=UTC),
        "valid_from": datetime(2025, 1, 1, tzinfo=UTC),
        "tags": ["drink"],
        "metadata": {"domain": "personal", "type": "preference", "conversation": "c7"},
    }


@pytest.mark.parametrize("status", ["retracted", "superseded"])
def test_memories_of_pam_that_ended_do_not_hold_any_more(tmp_path: Path, status: str) -> None:
    memory = {**_PAM["memories"][0], "status": status}
    path = tmp_path / "memory-store.json"
    assert texts("pam", written(path, {**_PAM, "memories": [memory]})) == []
    memory["temporal"] = {**memory["temporal"], "updated_at": "2026-06-01T00:00:00Z"}
    (one,) = texts("pam", written(path, {**_PAM, "memories": [memory]}))
    assert one.details["valid_to"] == datetime(2026, 6, 1, tzinfo=UTC)


def test_conversations_of_pam_are_read(tmp_path: Path) -> None:
    time = {"created_at": "2026-03-01T12:00:00Z"}
    parts = {"type": "multipart", "parts": [{"type": "text", "text": "Nice."}, {"type": "image", "ref": "x.png"}]}
    messages = [
        {"id": "1", "role": "user", "content": {"type": "text", "text": "I moved."}, **time},
        {"id": "2", "role": "assistant", "content": {"type": "text", "text": "Hm."}, "is_thought": True, **time},
        {"id": "3", "role": "assistant", "content": parts, **time},
        {"id": "4", "role": "tool", "content": None, **time},
    ]
    (tmp_path / "conversations").mkdir()
    whole = {"schema": "portable-ai-memory-conversation", "id": "c7", "title": "Home", "messages": messages}
    written(tmp_path / "conversations" / "c7.json", whole)
    written(tmp_path / "memory-store.json", _PAM)
    written(tmp_path / "embeddings.json", {"schema": "portable-ai-memory-embeddings", "embeddings": []})
    found = texts("pam", tmp_path)
    assert [one.text for one in found] == ["I moved.", "Nice.", "Prefers tea."]
    assert [one.details.get("session_id") for one in found] == ["pam-c7", "pam-c7", None]


def test_memories_that_are_exported_as_pam_come_back(tmp_path: Path) -> None:
    plain, file = MemoryConfig(storage="memory", embedding_name="hash"), tmp_path / "memory-store.json"
    with NeuroGraphMemory(plain) as memory:
        memory.add({"role": "user", "content": "I moved.", "name": "Ana"}, user_id="ana", session_id="s", timestamp=1e9)
        about = {"number": 1e-7, "größe": [1.0, None]}
        memory.add("Tea\nis “best”.", user_id="ana", title="Drinks", tags=["a b", "c"], metadata=about, path=("x", "y"))
        memory.add("Old.", user_id="ana", valid_from="2020-01-01", valid_to="2021-01-01", importance=0.9)
        memory.add("Bob's.", user_id="bob")
        memory.add("Everybody's.")
        assert memory.admin.export_to("pam", file, user_id="ana") == 3
        before = _own(memory)
    with NeuroGraphMemory(plain) as memory:
        done = memory.admin.import_from("pam", file)
        assert (done.added, done.faults) == (3, 0)
        after = _own(memory)
    names = ("content", "role", "speaker", "title", "tags", "metadata", "scope", "valid_from", "valid_to", "importance")
    for one, other in zip(before, after, strict=True):
        assert [getattr(one, name) for name in names] == [getattr(other, name) for name in names]
        assert other.timestamp == (one.timestamp or one.created_at)


def _own(memory: NeuroGraphMemory) -> list[MemoryNode]:
    nodes = memory.find(user_id="ana", kinds=["turn", "episode"])
    return sorted((node for node in nodes if node.scope.user_id), key=lambda node: node.content)


def test_an_export_as_pam_follows_its_specification(tmp_path: Path) -> None:
    file = tmp_path / "memory-store.json"
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        memory.add("  I  MOVED\tto Köln. ", user_id="ana", session_id="s", tags=["home", "Not A Tag"])
        memory.facts.add("Ana", "city", "Lyon", user_id="ana")
        memory.admin.export_to("pam", file, user_id="ana")
        whole = json.loads(file.read_text(encoding="utf-8"))
        assert {"schema", "schema_version", "owner", "memories", "integrity"} <= whole.keys()
        assert whole["integrity"]["total_memories"] == len(whole["memories"]) >= 2
        ids = [one["id"] for one in whole["memories"]]
        assert ids == sorted(ids)
        (said,) = (one for one in whole["memories"] if one["custom_type"] == "turn")
        # By hand: the SHA-256 of "i moved to köln."
        assert said["content_hash"] == "sha256:" + _sha256("i moved to köln.")
        assert said["tags"] == ["home"]
        (session,) = whole["conversations_index"]
        assert session["derived_memories"] == [said["id"]]
        assert session["temporal"] == {"created_at": said["temporal"]["created_at"]}
        canonical = json.dumps(whole["memories"], sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert whole["integrity"]["checksum"] == "sha256:" + _sha256(canonical)
        assert not _numbers(whole["memories"])
        with pytest.raises(OSError, match="exists"):
            memory.admin.export_to("pam", file, user_id="ana")


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _numbers(value: object) -> list[object]:
    """Return the numbers in a value, which RFC 8785 writes in another way than Python."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [value] if isinstance(value, int | float) else [one for part in inner for one in _numbers(part)]


@pytest.mark.parametrize("source", [name for name, one in FORMATS.items() if one.matches])
def test_an_empty_file_has_no_texts(tmp_path: Path, source: str) -> None:
    assert both(source, written(tmp_path / "x.json", [])) == ([], [])
