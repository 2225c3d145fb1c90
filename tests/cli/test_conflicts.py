"""The commands `conflicts` and `resolve`."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from neurogated.cli import main

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    def call(*words: str) -> str:
        assert main([*words, "--save_dir", str(tmp_path), "--embedding_name", "hash"]) == 0
        return capsys.readouterr().out

    return call


def test_a_conflict_is_listed_and_resolved(run: Run) -> None:
    first = run("facts", "--add", "Ana", "city", "Lyon", "--user_id", "ana").strip()
    run("facts", "--add", "Ana", "city", "Paris", "--user_id", "ana")
    assert run("conflicts") == "0 conflicts\n"
    listed = run("conflicts", "--user_id", "ana")
    assert "Which of them is right?" in listed
    (found,) = json.loads(run("conflicts", "--user_id", "ana", "--json"))["conflicts"]
    assert (found["first"], found["status"], found["user_id"]) == (first, "open", "ana")
    run("resolve", found["id"], "--keep", first, "--because", "She said so.")
    assert run("conflicts", "--user_id", "ana") == "0 conflicts\n"
    (resolved,) = json.loads(run("conflicts", "--user_id", "ana", "--status", "all", "--json"))["conflicts"]
    assert (resolved["outcome"], resolved["loser"], resolved["because"]) == ("wrong", found["second"], "She said so.")


def test_an_unknown_choice_is_refused(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for city in ("Lyon", "Paris"):
        run("facts", "--add", "Ana", "city", city)
    (found,) = json.loads(run("conflicts", "--json"))["conflicts"]
    words = ["resolve", found["id"], "--keep", "neither", "--save_dir", str(tmp_path), "--embedding_name", "hash"]
    assert main(words) != 0
    assert "supersede" in capsys.readouterr().err
