"""A store after interrupts, failed background jobs and full disks."""

import logging
from pathlib import Path
from typing import Any

import pytest

from neurogated import EdgeType, MemoryConfig, MemoryNode
from neurogated.config.groups import RuntimeSettings
from neurogated.storage.checkpoint import IndexSnapshot
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.memory_log import MemoryLog
from neurogated.storage.log.sqlite.sqlite_log import SqliteLog
from neurogated.storage.sqlite_store import SqliteStore

# A store after interrupts, with leftover files, and in the past


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


# After a failed background job, later jobs run, no thread waits for ever, and the log has a line


def test_indexes_are_kept_again_after_memory_ran_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    with SqliteStore.open(
        tmp_path / "memory.db", config=MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
    ) as store:
        with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
            patch.setattr(IndexSnapshot, "write", full)
            store.add_node(MemoryNode(id="a", content="heron"))
            store.follower.checkpointer.wait()
        assert "could not be written (MemoryError())" in caplog.text
        store.add_node(MemoryNode(id="b", content="egret"))
        store.follower.checkpointer.wait()
        assert [folder.name for folder in (tmp_path / "memory.index").iterdir()] == ["1-2"]
