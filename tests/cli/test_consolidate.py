"""`consolidate` on the command line."""

from __future__ import annotations

import json

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main
from tests.consolidation.clusters import add_cluster


def test_facts_are_made_and_shown(config: MemoryConfig, capsys: pytest.CaptureFixture[str]) -> None:
    with NeuroGraphMemory(config) as memory:
        add_cluster(memory)
        add_cluster(memory, ["Rex ate the cake.", "Rex barked at noon.", "Rex sleeps inside."])
    flags = ["--save_dir", config.save_dir, "--embedding_name", "hash"]
    assert main(["consolidate", *flags, "--max_clusters", "1", "--json"]) == 0
    (fact,) = json.loads(capsys.readouterr().out)["facts"]
    assert fact["id"].startswith("cluster-")
    assert main(["consolidate", *flags]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("made: 1\n")
    assert "pottery course" in fact["content"] + shown
    assert main(["consolidate", *flags]) == 0
    assert capsys.readouterr().out.startswith("made: 0\na profile needs 3 facts")
    assert main(["consolidate", *flags, "--now", "2030-01-01T00:00:00+00:00", "--max_clusters", "0"]) != 0
    assert "max_clusters is 0" in capsys.readouterr().err
