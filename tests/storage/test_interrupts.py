"""A store after interrupts, with leftover files, and in the past."""

from pathlib import Path
from typing import Any

import pytest

from neurogated import EdgeType, MemoryNode
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.memory_log import MemoryLog
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
