"""Items of another store are imported where `NeuroStore` reads them, with their times."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.memory import InMemoryStore

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.langgraph import NeuroStore

_VALUES: list[dict[str, Any]] = [
    {"text": "Ana drinks green tea.", "count": 3, "deep": {"list": [1.5, None, True]}},
    {"text": "long " * 2000},
    {},
]


@pytest.fixture
def config(tmp_path: Path) -> MemoryConfig:
    return MemoryConfig(save_dir=str(tmp_path / "memory"), embedding_name="hash")


def _exported(path: Path, *, as_lines: bool = False) -> tuple[Path, list[dict[str, Any]]]:
    store = InMemoryStore()
    for number, value in enumerate(_VALUES):
        store.put(("users", "ana"), f"key {number}", value)
    items = [item.dict() for item in store.search(("users",))]
    for number, item in enumerate(items):
        item["created_at"] = (datetime(2025, 1, 1, tzinfo=UTC) + timedelta(days=number)).isoformat()
    text = "\n".join(map(json.dumps, items)) if as_lines else json.dumps(items)
    path.write_text(text, encoding="utf-8")
    return path, items


@pytest.mark.parametrize("as_lines", [False, True])
def test_items_are_read_back_with_values_and_times(config: MemoryConfig, tmp_path: Path, *, as_lines: bool) -> None:
    path, items = _exported(tmp_path / "items.json", as_lines=as_lines)
    with NeuroGraphMemory(config) as memory:
        done = memory.admin.import_from("langgraph", path)
        assert (done.added, done.faults) == (3, 0)
        store = NeuroStore(memory)
        for item in items:
            found = store.get(("users", "ana"), item["key"])
            assert found is not None
            assert found.dict() == {name: item[name] for name in found.dict()}
        assert store.search(("users",), query="What does Ana drink?")[0].key == "key 0"
        assert store.list_namespaces() == [("users", "ana")]
        store.put(("users", "ana"), "key 1", {"text": "short"})
        assert memory.admin.check() == []
        store.delete(("users", "ana"), "key 0")
        assert store.get(("users", "ana"), "key 0") is None


def test_only_later_versions_of_items_replace_earlier_ones(config: MemoryConfig, tmp_path: Path) -> None:
    path, items = _exported(tmp_path / "items.json")
    with NeuroGraphMemory(config) as memory:
        memory.admin.import_from("langgraph", path)
        before = memory.store.view().sequence
        assert memory.admin.import_from("langgraph", path).added == 0
        assert memory.store.view().sequence == before
        store = NeuroStore(memory)
        first, second = (item["key"] for item in items[:2])
        store.put(("users", "ana"), first, {"text": "written here later"})
        changed = (datetime.now(UTC) + timedelta(days=1)).isoformat()
        newer = [
            {**items[0], "value": {"text": "older"}},
            {**items[1], "value": {"text": "newer"}, "updated_at": changed},
        ]
        path.write_text(json.dumps(newer), encoding="utf-8")
        assert memory.admin.import_from("langgraph", path).added == 0
        assert [store.get(("users", "ana"), key).value["text"] for key in (first, second)] == [  # type: ignore[union-attr]
            "written here later",
            "newer",
        ]
        assert memory.admin.check() == []


def test_items_are_no_memories_of_a_user_to_take_elsewhere(config: MemoryConfig, tmp_path: Path) -> None:
    path, _ = _exported(tmp_path / "items.json")
    with NeuroGraphMemory(config) as memory:
        memory.admin.import_from("langgraph", path, user_id="ana")
        memory.add("Ana drinks tea.", user_id="ana")
        assert memory.admin.export_to("pam", tmp_path / "memory-store.json", user_id="ana") == 1


def test_items_whose_keys_another_user_has_are_faults_and_the_rest_is_imported(
    config: MemoryConfig, tmp_path: Path
) -> None:
    path, items = _exported(tmp_path / "items.json")
    with NeuroGraphMemory(config) as memory:
        NeuroStore(memory, user_label=1).put(("users", "ana"), items[0]["key"], {"text": "Ana's own"})
        done = memory.admin.import_from("langgraph", path, user_id="bob")
        assert (done.texts, done.added, done.faults) == (2, 2, 1)
        kept = NeuroStore(memory).get(("users", "ana"), items[0]["key"])
        assert kept is not None
        assert kept.value == {"text": "Ana's own"}
