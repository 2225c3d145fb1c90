"""Valid times of memories that lost a conflict: only given times are stored, and the rest is computed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import apsw
import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.session.compose import build
from neurogated.testing import ManualClock
from tests.knowledge.stated import lives, only, values_at, year


def settings(storage: str, folder: Path) -> MemoryConfig:
    return MemoryConfig(storage=storage, embedding_name="hash", save_dir=str(folder))


@pytest.fixture(params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NeuroGraphMemory]:
    config = settings(request.param, tmp_path / "memory")
    with NeuroGraphMemory(config, parts=build(config, clock=ManualClock())) as memory:
        yield memory


def test_no_outcome_is_stored_in_the_times_that_the_caller_gives(memory: NeuroGraphMemory) -> None:
    old, new = lives(memory, "Leeds", 2020), lives(memory, "York", 2022)
    memory.conflicts.resolve(only(memory).id, new)
    stored = [node for entry in memory.store.journal() for node in entry.delta.nodes if node.id in {old, new}]
    assert {(node.id, node.valid_from, node.valid_to, node.found.given) for node in stored} == {
        (old, year(2020), None, None),
        (new, year(2022), None, None),
    }
    assert values_at(memory, year(2021)) == []


def test_a_winner_that_begins_earlier_ends_the_loser_when_the_conflict_was_found(memory: NeuroGraphMemory) -> None:
    old, new = lives(memory, "Leeds", 2020), lives(memory, "York", 2022)
    found = memory.conflicts.resolve(only(memory).id, "supersede").created_at
    memory.update(new, valid_from=year(2019))
    assert memory.get(old).valid_to == found
    assert values_at(memory, year(2021)) == ["Leeds", "York"]
    memory.update(new, valid_from=year(2023))
    assert memory.get(old).valid_to == year(2023)


def test_of_two_values_that_begin_together_the_superseded_one_held_until_it_was_replaced(
    memory: NeuroGraphMemory,
) -> None:
    old, _ = lives(memory, "Leeds", 2020), lives(memory, "York", 2020)
    conflict = memory.conflicts.resolve(only(memory).id, "supersede")
    assert conflict.loser == old
    assert memory.get(old).valid_to == conflict.created_at
    assert values_at(memory, year(2021)) == ["Leeds", "York"]
    assert conflict.created_at is not None
    assert values_at(memory, conflict.created_at + timedelta(days=1)) == ["York"]


def test_a_file_that_stores_outcomes_beside_given_times_is_read(tmp_path: Path) -> None:
    config = settings("sqlite", tmp_path / "memory")
    with NeuroGraphMemory(config) as memory:
        old, new = lives(memory, "Leeds", 2020), lives(memory, "York", 2022)
    path = tmp_path / "memory" / "memory" / "memory.db"
    with closing(apsw.Connection(str(path))) as file:
        query = "SELECT v.rowid, v.found FROM node_versions v JOIN nodes n ON n.node = v.node WHERE n.id = ?"
        for version, found in list(file.execute(query, (old,))):
            given = json.dumps({**json.loads(found), "given": [year(2020).isoformat(), None]})
            end = int(year(2022).timestamp()) * 10**6
            file.execute("UPDATE node_versions SET found = ?, valid_to = ? WHERE rowid = ?", (given, end, version))
    with NeuroGraphMemory(config) as memory:
        assert memory.get(old).valid_to == year(2022)
        memory.delete(new)
        assert memory.get(old).valid_to is None
        assert values_at(memory, year(2025)) == ["Leeds"]
