"""A store after interrupts, with leftover files, and in the past."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neurogated import EdgeType, MemoryNode
from neurogated.errors import InputError, MemoryClosedError
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.memory_log import MemoryLog
from neurogated.storage.log.sqlite.catch_up import GraphFollower
from neurogated.storage.log.sqlite.sqlite_log import SqliteLog
from neurogated.storage.sqlite_store import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.mark.parametrize("log", [MemoryLog, SqliteLog])
def test_after_an_interrupt_at_the_commit_the_store_continues_with_the_stored_state(
    path: Path, log: type[MemoryLog | SqliteLog], monkeypatch: pytest.MonkeyPatch
) -> None:
    append = log.append

    def interrupted(*arguments: Any) -> int:  # noqa: ANN401
        # Like Ctrl-C right after the commit, while the process waits for the disk.
        append(*arguments)
        raise KeyboardInterrupt

    with GraphStore() if log is MemoryLog else SqliteStore.open(path) as store:
        monkeypatch.setattr(log, "append", interrupted)
        for name in "ab":
            with pytest.raises(KeyboardInterrupt):
                store.add_node(MemoryNode(id=name, content=name))
        monkeypatch.undo()
        assert [node.id for node in store.all_nodes()] == ["a", "b"]
        store.add_edge("a", "b", EdgeType.SEQ)
        if isinstance(store, SqliteStore):
            assert store.check() == []
            with SqliteStore.open(path) as again:
                assert [node.id for node in again.all_nodes()] == ["a", "b"]


def test_a_log_that_lost_its_file_is_not_played_into_a_new_memory(path: Path) -> None:
    first = SqliteStore.open(path)
    first.add_node(MemoryNode(id="old", content="old"))
    log = path.with_name("memory.db-wal").read_bytes()
    first.close()
    path.unlink()
    # While the watermark exists, the loss is an error.
    path.with_name("memory.acknowledged").unlink()
    path.with_name("memory.db-wal").write_bytes(log)
    with SqliteStore.open(path) as fresh:
        assert len(fresh) == 0
        assert fresh.check() == []


@pytest.fixture
def interrupt_reading(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Return a function that interrupts the next reload of a graph from the file."""
    follow = GraphFollower.follow

    def interrupted(*_: object) -> None:
        monkeypatch.setattr(GraphFollower, "follow", follow)
        raise KeyboardInterrupt

    return lambda: monkeypatch.setattr(GraphFollower, "follow", interrupted)


def test_a_node_that_was_taken_back_leaves_its_place_to_the_next(
    path: Path, interrupt_reading: Callable[[], None]
) -> None:
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="a", content="a"))
        with pytest.raises(KeyboardInterrupt), store.transaction():  # noqa: PT012 - the block fails
            store.add_node(MemoryNode(id="phantom", content="phantom"))
            interrupt_reading()
            raise InputError("taken back")
        assert not store.has_node("phantom")
        store.add_node(MemoryNode(id="b", content="b"))
        with pytest.raises(InputError):
            store.add_edge("a", "phantom", EdgeType.SEQ)
        store.add_edge("a", "b", EdgeType.SEQ)
        told = list(store.all_nodes()), list(store.all_edges())
        assert store.check() == []
    with SqliteStore.open(path) as again:
        assert (list(again.all_nodes()), list(again.all_edges())) == told


def test_a_namespace_whose_making_was_taken_back_can_be_made_again(
    path: Path, interrupt_reading: Callable[[], None]
) -> None:
    with SqliteStore.open(path) as store:
        with pytest.raises(KeyboardInterrupt), store.transaction():  # noqa: PT012 - the block fails
            lost = store.in_namespace("lost")
            lost.add_node(MemoryNode(id="phantom", content="phantom"))
            interrupt_reading()
            raise InputError("taken back")
        store.in_namespace("next").add_node(MemoryNode(id="a", content="a"))
        with pytest.raises(MemoryClosedError):
            lost.view()
        assert len(store.in_namespace("lost")) == 0
        assert store.namespaces() == ["default", "next", "lost"]
        assert store.check() == []


def test_an_interrupt_within_a_part_leaves_the_rest_of_its_transaction(path: Path) -> None:
    with SqliteStore.open(path) as store:
        with store.transaction():
            store.add_node(MemoryNode(id="a", content="a"))
            with pytest.raises(KeyboardInterrupt), store.transaction():  # noqa: PT012 - the block fails
                store.add_node(MemoryNode(id="phantom", content="phantom"))
                raise KeyboardInterrupt
            store.add_node(MemoryNode(id="b", content="b"))
        assert [node.id for node in store.all_nodes()] == ["a", "b"]
        assert store.check() == []
