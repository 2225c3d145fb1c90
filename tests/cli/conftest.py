"""A memory that the commands of a test share."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neurogated.cli import main

Run = Callable[..., str]


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return a function that runs a command and returns its output, or its errors if it must fail."""

    def call(*words: str, code: int = 0, folder: str = "agent", embedding_name: str = "hash") -> str:
        capsys.readouterr()
        assert main([*words, "--save_dir", str(tmp_path / folder), "--embedding_name", embedding_name]) == code
        told = capsys.readouterr()
        return told.err if code and not told.out else told.out

    return call


@pytest.fixture
def filled(run: Run) -> list[str]:
    """Return the ids of two memories added by `add`."""
    texts = ("The pump failed on Monday.", "Because the pump failed, the field was flooded.")
    return [run("add", text, "--title", "Log").strip() for text in texts]


def json_of(run: Run, *words: str) -> Any:  # noqa: ANN401 - JSON
    """Return what a command prints as JSON."""
    return json.loads(run(*words, "--json"))
