"""The commands that move a memory."""

import json
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig
from neurogated.embedding.registry import HashEmbedder
from neurogated.session import compose
from tests.archive.foreign.files import chatgpt, written
from tests.cli.conftest import Run, json_of


class _Other(HashEmbedder):
    name = "other model"


def _asked(run: Run, folder: str = "agent", embedding_name: str = "hash") -> Any:  # noqa: ANN401 - JSON
    told = run("ask", "Why was the field flooded?", "--json", folder=folder, embedding_name=embedding_name)
    return json.loads(told)["memories"]


def test_an_imported_memory_answers_like_the_exported_one(run: Run, filled: list[str], tmp_path: Path) -> None:
    folder = str(tmp_path / "out")
    assert "1 namespace, 2 nodes" in run("export", folder)
    counts = json.loads(run("import", folder, "--json", folder="two"))
    assert counts["embedder"] == "hash-256"
    assert counts["namespaces"]["default"]["nodes"] == len(filled)
    assert _asked(run) == _asked(run, "two")
    assert "'default' already has a history" in run("import", folder, folder="two", code=1)
    assert "already exists" in run("export", folder, code=1)


def test_a_snapshot_is_restored(run: Run, filled: list[str], tmp_path: Path) -> None:
    def learned() -> int:
        return int(json_of(run, "stats")["edges"].get("ASSOC", 0))

    file = str(tmp_path / "one.snapshot")
    run("snapshot", file)
    run("feedback", *filled)
    run("restore", file, folder="two")
    assert [memory["id"] for memory in _asked(run, "two")] == [memory["id"] for memory in _asked(run)]
    refused = run("restore", file, code=1)
    assert "there is a memory" in refused
    assert "restore --replace" in refused
    assert learned() == 1
    run("restore", file, "--replace")
    assert learned() == 0


def test_a_memory_goes_over_to_another_model(run: Run, filled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def build(config: MemoryConfig, *, api_key: str | None = None, **_: object) -> HashEmbedder:
        assert api_key is None
        return _Other() if config.embedding_name == "other" else HashEmbedder()

    monkeypatch.setattr(compose, "build_embedder", build)
    run("ask", "pump?", embedding_name="other", code=1)
    assert f"{len(filled)} texts embedded with other" in run("migrate", embedding_name="other")
    assert _asked(run, embedding_name="other")[0]["id"] in filled
    assert json.loads(run("migrate", "--json", embedding_name="other")) == {"texts": 0}
    run("ask", "pump?", code=1)


def test_an_export_says_how_many_items_of_a_store_it_leaves_out(run: Run, tmp_path: Path) -> None:
    item = {"namespace": ["notes"], "key": "k", "value": {"text": "Tea.", "other": 3}}
    (tmp_path / "items.json").write_text(json.dumps([item]), encoding="utf-8")
    run("import", str(tmp_path / "items.json"), "--user_id", "ana")
    run("add", "I keep bees.", "--user_id", "ana")
    told = json.loads(run("export", str(tmp_path / "ana.json"), "--user_id", "ana", "--to", "pam", "--json"))
    assert told == {"memories": 1, "items_left_out": 1}


def test_an_export_of_all_versions_of_a_user_says_what_to_import_instead(run: Run, tmp_path: Path) -> None:
    run("add", "I keep bees.", "--user_id", "ana")
    assert "--to pam" in run("export", str(tmp_path / "ana.jsonl"), "--user_id", "ana")
    assert "--to pam" in run("import", str(tmp_path / "ana.jsonl"), code=2)
    run("export", str(tmp_path / "ana.json"), "--user_id", "ana", "--to", "pam")
    run("import", str(tmp_path / "ana.json"), folder="two")
    assert [
        one["content"] for one in json.loads(run("list", "--user_id", "ana", "--json", folder="two"))["memories"]
    ] == ["I keep bees."]


# Files of other systems


def test_the_format_is_found_and_a_report_written(run: Run, tmp_path: Path) -> None:
    said = [("user", "I moved to Lyon."), ("assistant", "Nice.")]
    file, report = written(tmp_path / "conversations.json", [chatgpt(said), 7]), tmp_path / "report.json"
    run("import", str(file), "--report", str(report), code=1)
    found = json.loads(report.read_text(encoding="utf-8"))
    assert (found["source"], found["present"], found["texts"]) == ("chatgpt", 3, 2)
    assert found["left_out"] == {"of another kind": 1}
    file = written(file, [{**chatgpt(said), "current_node": "c1-0"}])
    told = run("import", str(file))
    assert "1 left out: of another branch" in told
    assert "(chatgpt): 1 text, 0 of them new; 0 parts not imported; 1 text no longer valid" in told
