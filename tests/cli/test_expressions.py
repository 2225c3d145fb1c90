"""Expressions on the command line: `run` and `repl`."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from neurogated.cli import main

FLAGS = ["--embedding_name", "hash", "--user_id", "ana"]


@pytest.fixture
def folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """The folder of a memory of nobody."""
    place = str(tmp_path / "memory")
    assert main(["run", '(remember "A grebe.")', "--save_dir", place, "--embedding_name", "hash"]) == 0
    capsys.readouterr()
    return place


def test_run_prints_the_value_as_json(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", '(remember "A heron.")', "--save_dir", folder, *FLAGS]) == 0
    name = json.loads(capsys.readouterr().out)
    assert main(["run", "(query)", "--save_dir", folder, *FLAGS, "--read_only"]) == 0
    assert name in [one["id"] for one in json.loads(capsys.readouterr().out)]


def test_a_fault_has_a_caret_under_its_place(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", '(recall\n "x" 0)', "--save_dir", folder, *FLAGS]) == 1
    *_, line, caret = capsys.readouterr().err.splitlines()
    assert line[caret.index("^")] == "0"


def test_reading_only_writes_nothing(folder: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "(stats)", "--save_dir", folder, *FLAGS]) == 0
    assert main(["run", '(remember "x")', "--save_dir", folder, *FLAGS, "--read_only"]) == 1
    capsys.readouterr()
    assert main(["run", "(stats)", "--save_dir", folder, *FLAGS]) == 0
    assert json.loads(capsys.readouterr().out)["memories"] == 1


def test_a_session_of_the_repl(
    folder: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    application = pytest.importorskip("prompt_toolkit.application")
    inputs, output = pytest.importorskip("prompt_toolkit.input"), pytest.importorskip("prompt_toolkit.output")
    monkeypatch.setenv("HOME", str(tmp_path))
    with inputs.create_pipe_input() as keys:
        # An expression on two lines, a fault, and the end of the input.
        keys.send_text('(remember\r "A heron.")\r(stat)\r\x04')
        with application.create_app_session(input=keys, output=output.DummyOutput()):
            assert main(["repl", "--save_dir", folder, *FLAGS]) == 0
    shown = capsys.readouterr()
    assert isinstance(json.loads(shown.out), str)
    assert "^" in shown.err
    assert stat.S_IMODE((tmp_path / ".neurogated_history").stat().st_mode) == 0o600
