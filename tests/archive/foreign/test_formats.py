"""What is read from the files of each system."""

import hashlib
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.errors import ConfigError, DatasetError
from tests.archive.foreign.files import BEGIN, both, chatgpt, claude, notes, records, texts, written

_SAID = [("user", "I moved to Lyon."), ("assistant", "How is it?"), ("user", "Sunny.")]

_CALL_OF_NO_JSON = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"function": {"name": "send_message", "arguments": "{"}}],
}


def _at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


@pytest.mark.parametrize(
    "changes",
    [
        {"content": {"content_type": "code", "parts": None, "text": "print(1)"}},
        {"content": {"content_type": "text", "parts": None}},
        {"content": {"content_type": "text", "parts": ["", None, {"content_type": "image_asset_pointer"}]}},
        {"content": None},
        {"recipient": "browser"},
    ],
)
def test_what_is_not_said_is_left_out(tmp_path: Path, changes: dict[str, Any]) -> None:
    conversation = chatgpt(_SAID)
    conversation["mapping"]["c1-1"]["message"].update(changes)
    path = written(tmp_path / "x.json", [conversation])
    assert both("chatgpt", path) == ([_SAID[0][1], _SAID[2][1]], [])


def test_a_tree_may_have_holes_and_cycles(tmp_path: Path) -> None:
    hole, cycle, lost = chatgpt(_SAID), chatgpt(_SAID, "c2"), chatgpt(_SAID, "c3", current_node="nowhere")
    del hole["mapping"]["c1-0"]
    cycle["mapping"]["c2-0"]["parent"] = "c2-2"
    lost["mapping"]["c3-0"]["children"] = ["nowhere"]
    said = [text for _, text in _SAID]
    assert both("chatgpt", written(tmp_path / "x.json", [hole, cycle, lost])) == ([*said[1:], *said, *said], [])


def test_a_message_without_a_time_has_that_of_the_message_before(tmp_path: Path) -> None:
    conversation = chatgpt(_SAID)
    conversation["mapping"]["c1-0"]["message"]["create_time"] = None
    conversation["mapping"]["c1-2"]["message"]["create_time"] = 0
    found = texts("chatgpt", written(tmp_path / "x.json", [conversation]))
    assert [one.details["timestamp"] for one in found] == [_at(BEGIN), _at(BEGIN + 60), _at(BEGIN + 60)]


@pytest.mark.parametrize("time", ["yesterday", ["x"], 1e300, True])
def test_a_bad_time_leaves_out_its_message_only(tmp_path: Path, time: object) -> None:
    conversation = chatgpt(_SAID)
    conversation["mapping"]["c1-1"]["message"]["create_time"] = time
    said, places = both("chatgpt", written(tmp_path / "x.json", [conversation]))
    assert said == [_SAID[0][1], _SAID[2][1]]
    assert places == ["x.json[0].mapping.c1-1"]


def test_characters_that_cannot_be_stored_are_replaced(tmp_path: Path) -> None:
    path = written(tmp_path / "x.json", [chatgpt([("user", "a\0b \ud83d c \U0001f600")])])
    assert both("chatgpt", path)[0] == ["a\ufffdb \ufffd c \U0001f600"]


def test_all_parts_of_an_export_in_a_zip_file_or_folder_are_read(tmp_path: Path) -> None:
    (tmp_path / "export").mkdir()
    parts = {f"conversations-00{number}.json": [chatgpt(_SAID[:1], f"c{number}")] for number in range(3)}
    for name, value in parts.items():
        written(tmp_path / "export" / name, value)
    written(tmp_path / "export" / "user.json", {"id": "u"})
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        for name in ("conversations-002.json", "conversations-000.json", "conversations-001.json", "user.json"):
            archive.write(tmp_path / "export" / name, f"../{name}")
    for path in (tmp_path / "export", tmp_path / "export.zip"):
        assert [one.details["session_id"] for one in texts("chatgpt", path)] == [f"chatgpt-c{n}" for n in range(3)]
    with pytest.raises(DatasetError, match=r"conversations-000\.json|user\.json"):
        records("claude", tmp_path / "export")


def test_a_file_of_another_system_is_named(tmp_path: Path) -> None:
    path = written(tmp_path / "conversations.json", [claude([("human", "Hello.")])])
    with pytest.raises(DatasetError, match="--from claude"):
        records("chatgpt", path)
    with pytest.raises(DatasetError, match="colour"):
        records("chatgpt", written(path, [{"colour": "red"}]))
    with pytest.raises(ConfigError, match="chatgpt, claude"):
        records("letters", path)


_MEM0 = {"id": "m1", "memory": "Ana lives in Lyon.", "created_at": "2026-03-01T12:00:00.5-07:00", "user_id": "ana"}


@pytest.mark.parametrize(("count", "is_told"), [(19, False), (20, True), (21, False), (100, True)])
def test_a_file_of_mem0_that_looks_cut_is_told(tmp_path: Path, count: int, *, is_told: bool) -> None:
    memories = [{**_MEM0, "id": f"m{number}"} for number in range(count)]
    assert bool(notes("mem0", written(tmp_path / "m.json", {"results": memories}))) is is_told


def test_memories_that_are_exported_as_pam_come_back(plain: MemoryConfig, tmp_path: Path) -> None:
    file = tmp_path / "memory-store.json"
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


def test_lifetimes_and_kinds_come_back_from_pam_and_ones_own_export_adds_nothing(
    plain: MemoryConfig, tmp_path: Path
) -> None:
    file = tmp_path / "memory-store.json"
    with NeuroGraphMemory(plain) as memory:
        memory.add("The code is 7.", user_id="ana", ttl=3600)
        image: dict[str, Any] = {"role": "user", "content": [{"type": "image", "url": "x.png"}]}
        memory.add(image, user_id="ana", session_id="s")
        memory.add("Water the roses.", user_id="ana", kind="policy")
        memory.facts.add("Ana", "city", "Lyon", user_id="ana")
        count, before = memory.admin.export_to("pam", file, user_id="ana"), _kinds(memory)
        assert memory.admin.import_from("pam", file).added == 0
        assert _kinds(memory) == before
    with NeuroGraphMemory(plain) as memory:
        assert memory.admin.import_from("pam", file).added == count
        assert _kinds(memory) == before
        assert memory.admin.import_from("pam", file, user_id="bob").added == count


def _kinds(memory: NeuroGraphMemory) -> set[tuple[str, str, object]]:
    kinds = ["placeholder", "policy", "fact", "episode"]
    return {(one.content, one.kind, one.expires_at) for one in memory.find(user_id="ana", kinds=kinds)}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("mem0", [{"id": 3, "memory": "Tea."}]),
        ("mem0", [{"id": "a", "memory": "Tea.", "metadata": "x"}]),
        ("letta", {"agents": [{"name": "n", "messages": [_CALL_OF_NO_JSON]}]}),
    ],
)
def test_faults_are_told_in_words_of_the_file(plain: MemoryConfig, tmp_path: Path, source: str, value: object) -> None:
    with NeuroGraphMemory(plain) as memory:
        (told,) = memory.admin.import_from(source, written(tmp_path / "x.json", value)).shown
    assert not [word for word in ("NoneType", "instance", "attribute", "Expecting", "subscriptable") if word in told]


def test_what_stands_beside_the_words_of_a_chat_is_counted(plain: MemoryConfig, tmp_path: Path) -> None:
    beside = {"attachments": [{"text": "Disk full."}], "files": [{"name": "x.png"}]}
    (tmp_path / "general").mkdir()
    slack = {"type": "message", "user": "U1", "text": "Alert", "ts": "1704103201.000200", **beside}
    day = written(tmp_path / "general" / "2024-01-01.json", [slack])
    said: dict[str, Any] = {"id": "1", "type": "Default", "timestamp": "2024-01-01T11:00:00Z", "content": "See"}
    said |= {"embeds": [{"title": "A page"}], "forwardedMessage": {"content": "Hi."}, "author": {"name": "a"}}
    discord = written(tmp_path / "d.json", {"guild": {}, "channel": {"id": "8"}, "messages": [said]})
    editor = {"type": "user.message", "id": "e", "data": {"content": "Why?", "attachments": [{"path": "a.py"}]}}
    copilot = written(tmp_path / "s.jsonl", editor)
    with NeuroGraphMemory(plain) as memory:
        assert memory.admin.import_from("slack", day).parts == {"attachment": 1, "file": 1}
        assert memory.admin.import_from("discord", discord).parts == {"forwarded message": 1, "embed": 1}
        assert memory.admin.import_from("github-copilot", copilot).parts == {"attachment": 1}


def _own(memory: NeuroGraphMemory) -> list[MemoryNode]:
    nodes = memory.find(user_id="ana", kinds=["turn", "episode"])
    return sorted((node for node in nodes if node.scope.user_id), key=lambda node: node.content)


def test_an_export_as_pam_follows_its_specification(plain: MemoryConfig, tmp_path: Path) -> None:
    file = tmp_path / "memory-store.json"
    with NeuroGraphMemory(plain) as memory:
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
