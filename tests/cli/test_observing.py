"""`stats` and `--log`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from neurogated.cli import main


@pytest.fixture
def flags(tmp_path: Path) -> list[str]:
    """Flags of a memory with one text in it."""
    words = ["--save_dir", str(tmp_path / "agent"), "--embedding_name", "hash"]
    assert main(["add", "The pump failed on Monday.", *words]) == 0
    return words


def test_stats_are_printed_whole_as_json(flags: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["stats", *flags, "--json"]) == 0
    stats = json.loads(capsys.readouterr().out)
    assert stats["nodes"] == 1
    assert stats["namespaces"] == ["default"]
    assert stats["language model use"] == {}
    assert stats["embedding"]["cache bytes"] > 0
    assert stats["embedding"]["cache hit rate"] == 0


@pytest.mark.parametrize(
    ("level", "seen"), [("debug", "DI"), ("info", "I"), ("warning", ""), (None, "")], ids=lambda value: value or "none"
)
def test_log_shows_records_from_a_level_on(
    level: str | None, seen: str, flags: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert main(["ask", "What failed?", *flags, "--json", *([] if level is None else ["--log", level])]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["memories"]
    assert ("DEBUG neurogated.retrieval.neuro_retriever: recalled 1 memories: " in captured.err) == ("D" in seen)
    assert ("INFO neurogated.compose: opened a memory: " in captured.err) == ("I" in seen)
