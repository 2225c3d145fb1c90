"""`tiers` and `energy`: counts of the tiers, and the chart of a memory's energy."""

import json
from pathlib import Path

import pytest

from neurogated.cli import main

_ALIKE = ("--set", "metabolism.judge_importance=off")
"""All memories have the importance 0.5."""


def _run(capsys: pytest.CaptureFixture[str], folder: Path, *words: str) -> str:
    assert main([*words, "--save_dir", str(folder), "--embedding_name", "hash"]) == 0
    return capsys.readouterr().out


def test_tiers_counts_memories_and_shows_those_with_the_most_energy(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    node_id = _run(capsys, tmp_path, "add", "The pump failed on Monday.", *_ALIKE).strip()
    lines = _run(capsys, tmp_path, "tiers").splitlines()
    assert [line.split() for line in lines[:4]] == [["canvas", "1"], ["web", "0"], ["crystal", "0"], ["dormant", "0"]]
    assert ["emerging", "1"] in [line.split() for line in lines]
    assert lines[-1] == f"0.500  {node_id}  The pump failed on Monday."
    found = json.loads(_run(capsys, tmp_path, "tiers", "--json"))
    assert found["counts"]["canvas"] == sum(found["layers"].values()) == 1
    assert [one["id"] for one in found["most_energy"]] == [node_id]
    assert json.loads(_run(capsys, tmp_path, "tiers", "--json", "--top", "0"))["most_energy"] == []


def test_energy_draws_the_present_and_the_forecast(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    node_id = _run(capsys, tmp_path, "add", "The pump failed on Monday.", *_ALIKE).strip()
    lines = _run(capsys, tmp_path, "energy", node_id, "--days", "360").splitlines()
    assert len(lines) == 13
    assert lines[0].endswith("now")
    assert lines[0].count("#") == 2 * lines[6].count("#") + 1 == 25
    found = json.loads(_run(capsys, tmp_path, "energy", node_id, "--json"))
    assert found["course"][0]["at"] == found["now"]
    assert [round(point["energy"], 3) for point in found["course"]][::12] == [0.5, 0.25]
