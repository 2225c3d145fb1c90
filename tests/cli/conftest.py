"""A memory that the commands of a test share."""

from collections.abc import Callable
from pathlib import Path

import pytest

from neurogated.cli import main


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Return a function that runs a command and returns its output, or its errors if it must fail."""

    def call(*words: str, code: int = 0) -> str:
        assert main([*words, "--save_dir", str(tmp_path), "--embedding_name", "hash"]) == code
        told = capsys.readouterr()
        return told.err if code else told.out

    return call
