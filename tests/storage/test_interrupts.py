"""Interrupts, leftovers and the past: what a store does when something goes wrong in between."""

from datetime import timedelta
from pathlib import Path

import pytest

from neurogated import Decay, EdgeKey, EdgeType, GraphDelta, MemoryEdge, MemoryNode
from neurogated.errors import InputError, MemoryClosedError, StorageError
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.planning import Plan
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


class Interrupted(SqliteStore):
    """Is interrupted by Ctrl-C right after the commit, as may happen while the disk is waited for."""

    def _persist(self, plan: Plan) -> int:
        super()._persist(plan)
        raise KeyboardInterrupt


def test_after_an_interrupt_at_the_commit_the_store_goes_on_with_what_is_stored(path: Path) -> None:
    with Interrupted.open(path) as store:
        for name in "ab":
            with pytest.raises(KeyboardInterrupt):
                store.add_node(MemoryNode(id=name, content=name))
        assert [node.id for node in store.all_nodes()] == ["a", "b"]
        assert store.check() == []
    with SqliteStore.open(path) as again:
        assert [node.id for node in again.all_nodes()] == ["a", "b"]


class InterruptedInMemory(GraphStore):
    """Is interrupted before the change has reached the graph."""

    def _persist(self, plan: Plan) -> int:
        super()._persist(plan)
        raise KeyboardInterrupt


def test_an_interrupted_graph_in_memory_says_so() -> None:
    store = InterruptedInMemory()
    with pytest.raises(KeyboardInterrupt):
        store.add_node(MemoryNode(id="a", content="a"))
    with pytest.raises(MemoryClosedError, match="interrupted"):
        store.add_node(MemoryNode(id="a", content="a"))
    store.close()


def test_a_log_that_lost_its_file_is_not_played_into_a_new_memory(path: Path) -> None:
    first = SqliteStore.open(path)
    first.add_node(MemoryNode(id="old", content="old"))
    log = path.with_name("memory.db-wal").read_bytes()
    first.close()
    path.unlink()
    # As long as its note is there, the loss is an error.
    path.with_name("memory.acknowledged").unlink()
    path.with_name("memory.db-wal").write_bytes(log)
    with SqliteStore.open(path) as fresh:
        assert len(fresh) == 0
        assert fresh.check() == []


def test_a_folder_in_the_place_of_the_file_is_a_clear_error_and_leaves_no_lock(path: Path) -> None:
    path.mkdir()
    for _ in range(2):
        with pytest.raises(StorageError, match="cannot be opened"):
            SqliteStore.open(path)


def test_closing_the_past_leaves_the_present_open(path: Path) -> None:
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="a", content="a"))
        with store.as_of(0) as past:
            assert len(past) == 0
            with pytest.raises(InputError, match="cannot be changed"):
                past.add_node(MemoryNode(id="b", content="b"))
            with pytest.raises(InputError, match="ask the present one"):
                past.in_namespace("other")
        store.add_node(MemoryNode(id="b", content="b"))
        assert len(store) == 2


def test_what_decay_pruned_is_no_damage(path: Path, clock: ManualClock) -> None:
    with SqliteStore.open(path, clock=clock) as store:
        for name in "abc":
            store.add_node(MemoryNode(id=name, content=name))
        store.add_edge("a", "b", EdgeType.ASSOC, 0.11)
        store.add_edge("b", "c", EdgeType.SEQ, 0.11)
        clock.advance(timedelta(days=2))
        store.apply(GraphDelta(operators=(Decay(0.5, clock(), 0.1),), at=clock()))
        store.apply(GraphDelta(edges=(MemoryEdge("a", "b", EdgeType.ASSOC, 0.2, created_at=clock()),), at=clock()))
        store.remove_node("c")
        assert store.check() == []
    with SqliteStore.open(path) as store:
        assert store.check() == []
        assert [edge.key for edge in store.all_edges()] == [EdgeKey("a", "b", EdgeType.ASSOC)]
