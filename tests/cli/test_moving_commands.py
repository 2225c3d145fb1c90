"""The commands that move a memory."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neurogated import NeuroGraphMemory, compose
from neurogated.cli import main
from neurogated.config.memory_config import MemoryConfig
from neurogated.embedding.registry import HashEmbedder

Run = Callable[..., tuple[int, str]]


class _Other(HashEmbedder):
    name = "other model"


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs a command on the memory of a folder and returns its exit code and output."""

    def build(config: MemoryConfig, *, api_key: str | None = None, **_: object) -> HashEmbedder:
        assert api_key is None
        return _Other() if config.embedding_name == "other" else HashEmbedder()

    def call(folder: str, *words: str, embedding_name: str = "hash") -> tuple[int, str]:
        code = main([*words, "--save_dir", str(tmp_path / folder), "--embedding_name", embedding_name])
        captured = capsys.readouterr()
        return code, captured.out if code == 0 or captured.out else captured.err

    monkeypatch.setattr(compose, "build_embedder", build)
    return call


@pytest.fixture
def filled(run: Run) -> list[str]:
    """Return the ids of two memories added by `add`."""
    texts = ("The pump failed on Monday.", "Because the pump failed, the field was flooded.")
    return [run("one", "add", text, "--title", "Log")[1].strip() for text in texts]


def _asked(run: Run, folder: str, **model: str) -> Any:  # noqa: ANN401 - JSON
    code, out = run(folder, "ask", "Why was the field flooded?", "--json", **model)
    assert code == 0, out
    return json.loads(out)["memories"]


def test_an_imported_memory_answers_like_the_exported_one(run: Run, filled: list[str], tmp_path: Path) -> None:
    folder = str(tmp_path / "out")
    code, out = run("one", "export", folder)
    assert code == 0
    assert "1 namespace, 2 nodes" in out
    counts = json.loads(run("two", "import", folder, "--json")[1])
    assert counts["embedder"] == "hash-256"
    assert counts["namespaces"]["default"]["nodes"] == len(filled)
    assert _asked(run, "one") == _asked(run, "two")
    code, out = run("two", "import", folder)
    assert code == 1
    assert "'default' already has a history" in out
    code, out = run("one", "export", folder)
    assert code == 1
    assert "already exists" in out


@pytest.mark.parametrize("command", ["export", "snapshot", "migrate"])
def test_there_must_be_a_memory(run: Run, tmp_path: Path, command: str) -> None:
    words = [command] if command == "migrate" else [command, str(tmp_path / "out")]
    code, out = run("nowhere", *words)
    assert code == 1
    assert "there is no memory" in out
    assert not list(tmp_path.iterdir())


def test_a_snapshot_is_restored(run: Run, filled: list[str], tmp_path: Path) -> None:
    file = str(tmp_path / "one.snapshot")
    assert run("one", "snapshot", file)[0] == 0
    assert run("one", "feedback", *filled)[0] == 0
    assert run("two", "restore", file)[0] == 0
    assert [memory["id"] for memory in _asked(run, "two")] == [memory["id"] for memory in _asked(run, "one")]
    assert json.loads(run("two", "stats", "--json")[1])["edges"].get("ASSOC", 0) == 0
    assert json.loads(run("one", "stats", "--json")[1])["edges"]["ASSOC"] == 1
    code, out = run("one", "restore", file)
    assert code == 1
    assert "there is a memory" in out
    assert "restore --replace" in out
    assert json.loads(run("one", "stats", "--json")[1])["edges"]["ASSOC"] == 1
    assert run("one", "restore", file, "--replace")[0] == 0
    assert json.loads(run("one", "stats", "--json")[1])["edges"].get("ASSOC", 0) == 0


def test_a_memory_goes_over_to_another_model(run: Run, filled: list[str]) -> None:
    assert run("one", "ask", "pump?", embedding_name="other")[0] == 1
    code, out = run("one", "migrate", embedding_name="other")
    assert code == 0
    assert f"{len(filled)} texts embedded with other" in out
    assert _asked(run, "one", embedding_name="other")[0]["id"] in filled
    assert json.loads(run("one", "migrate", "--json", embedding_name="other")[1]) == {"texts": 0}
    assert run("one", "ask", "pump?")[0] == 1


def test_an_export_of_all_versions_of_a_user_says_what_to_import_instead(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    common = ["--save_dir", str(tmp_path / "one"), "--embedding_name", "hash"]
    assert main(["add", "I keep bees.", "--user_id", "ana", *common]) == 0
    assert main(["export", str(tmp_path / "ana.jsonl"), "--user_id", "ana", *common]) == 0
    assert "--to pam" in capsys.readouterr().out
    assert main(["import", str(tmp_path / "ana.jsonl"), *common]) == 2
    assert "--to pam" in capsys.readouterr().err
    assert main(["export", str(tmp_path / "ana.json"), "--user_id", "ana", "--to", "pam", *common]) == 0
    common[1] = str(tmp_path / "two")
    assert main(["import", str(tmp_path / "ana.json"), *common]) == 0
    with NeuroGraphMemory(MemoryConfig(save_dir=common[1], embedding_name="hash")) as memory:
        assert [one.content for one in memory.list(user_id="ana")] == ["I keep bees."]
