"""The durable store beyond the contract: reopening, and refusals of foreign or broken files."""

import os
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from neurogated import MemoryNode
from neurogated.errors import MemoryLockedError
from neurogated.storage.log.sqlite import journal
from neurogated.storage.sqlite_store import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def test_dropping_an_open_memory_is_refused_with_its_place(path: Path) -> None:
    with SqliteStore.open(path):
        with pytest.raises(MemoryLockedError):
            SqliteStore.open(path, from_scratch=True)
        script = (
            "from neurogated.storage.sqlite_store import SqliteStore; "
            f"SqliteStore.open({str(path)!r}, from_scratch=True)"
        )
        other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert other.returncode != 0
        assert f"process {os.getpid()}" in other.stderr
    SqliteStore.open(path).close()


def test_a_crash_while_the_file_is_made_leaves_nothing_in_the_way(path: Path) -> None:
    path.with_suffix(".draft").write_bytes(b"half a file")
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="a", content="a"))
    assert not path.with_suffix(".draft").exists()


def test_the_changes_since_a_delta_are_found_without_reading_all_nodes(path: Path) -> None:
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="a", content="a"))
    values = {"after": 0, "up_to": 1, "namespace": 1, "kind": "fact", "edge_type": "derived_from"}
    connection = apsw.Connection(str(path))
    plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {journal._TOUCHED}", values)]
    connection.close()

    assert [step for step in plan if step.startswith("SEARCH n ")]
    assert all("INTEGER PRIMARY KEY" in step for step in plan if step.startswith("SEARCH n "))
    assert not [step for step in plan if step.startswith("SCAN n")]
