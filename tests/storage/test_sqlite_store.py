"""The durable store beyond the contract: reopening, and refusals of foreign or broken files."""

import os
import subprocess
import sys
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest

from neurogated import EdgeType, MemoryEdge, MemoryNode
from neurogated.core.delta import Access, GraphDelta, NodeChange
from neurogated.errors import MemoryLockedError
from neurogated.storage.log.sqlite import journal
from neurogated.storage.sqlite_store import SqliteStore


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
    path.with_name(path.name + ".draft").write_bytes(b"half a file")
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="a", content="a"))
    assert not path.with_name(path.name + ".draft").exists()


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


def test_what_another_process_wrote_is_taken_in_at_a_cost_that_does_not_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (_steps_of_following(tmp_path / f"{count}.db", count, monkeypatch) for count in (100, 2_000))

    assert 0 < many <= 1.2 * few


def _steps_of_following(path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the steps of SQLite's machine with which a reader takes in one memory, beside others."""
    steps, day = list[int](), datetime(2026, 1, 1, tzinfo=UTC)

    def watch(connection: apsw.Connection) -> None:
        def note(event: dict[str, Any]) -> None:
            steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)

    with SqliteStore.open(path) as writer:
        ids = [f"n{number}" for number in range(count)]
        nodes = [MemoryNode(id=one, content=one, valid_from=day) for one in ids]
        edges = [MemoryEdge(*ends, EdgeType.CAUSE, valid_from=day, relation="next") for ends in pairwise(ids)]
        writer.apply(GraphDelta(nodes=tuple(nodes), edges=tuple(edges)))
        writer.apply(GraphDelta(node_changes=tuple(NodeChange(one, energy=0.5) for one in ids)))
        writer.apply(GraphDelta(touch=Access.of(ids, [edge.key for edge in edges])))
        monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, watch])
        with SqliteStore.open(path, read_only=True) as reader:
            reader.view()
            writer.add_node(MemoryNode(id="new", content="new", valid_from=day))
            steps.clear()
            assert len(reader) == count + 1
    return sum(steps)
