"""`ask --explain` writes a page."""

import json
from pathlib import Path

import pytest

from neurogated.cli import main


@pytest.fixture
def words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return flags of a memory with two texts."""
    flags = ["--save_dir", str(tmp_path / "agent"), "--embedding_name", "hash"]
    for text in ("The pump failed on Monday.", "Because the pump failed, the field was flooded."):
        assert main(["add", text, "--title", "Log", *flags]) == 0
    capsys.readouterr()
    return ["ask", "Why was the field flooded?", *flags]


@pytest.mark.parametrize("as_json", [False, True])
def test_the_page_is_written_and_named_beside_the_answer(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], *, as_json: bool
) -> None:
    file = tmp_path / "why.html"
    assert main([*words, *(["--json"] if as_json else [])]) == 0
    without = capsys.readouterr().out
    assert main([*words, "--explain", str(file), *(["--json"] if as_json else [])]) == 0
    captured = capsys.readouterr()
    assert f"explained in {file}" in captured.err
    assert captured.out == without
    assert not as_json or json.loads(captured.out)["memories"]
    page = file.read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "Because the pump failed, the field was flooded." in page
