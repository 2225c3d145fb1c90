"""`doctor` lists the working parts, the failing parts and their remedies."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from neurogated.cli import main


def _findings(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, dict[str, Any]]:
    code = main(["doctor", "--embedding_name", "hash", "--json", *words])
    value = json.loads(capsys.readouterr().out)
    assert value["works"] == (code == 0)
    return code, {finding["part"]: finding for finding in value["findings"]}


def test_a_sound_installation_works(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, findings = _findings(capsys, "--save_dir", str(tmp_path / "new"))
    assert code == 0
    assert set(findings) == {"program", "extras", "embedding model", "GPU", "disk", "memory", "language model"}
    assert "none yet" in findings["memory"]["detail"]
    assert list(tmp_path.iterdir()) == []


def test_extras_without_their_packages_are_named_with_the_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = metadata.distributions
    monkeypatch.setattr(metadata, "distributions", lambda name: () if name == "redis" else found(name=name))
    code, findings = _findings(capsys, "--save_dir", str(tmp_path))
    assert code == 0
    assert "redis" in findings["extras"]["detail"]
    assert "dev" not in findings["extras"]["detail"].split()
    assert "pip install 'neurogated[NAME]'" in findings["extras"]["remedy"]


def test_a_folder_that_cannot_be_made_has_a_remedy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    code, findings = _findings(capsys, "--save_dir", "/proc/none")
    assert code == 1
    assert "--save_dir" in findings["disk"]["remedy"]
