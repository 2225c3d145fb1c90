"""A store after interrupts, failed background jobs and full disks."""

import logging
from pathlib import Path
from typing import Any

import hypothesis.extra.numpy as some_numpy
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray

from neurogated import EdgeType, MemoryConfig, MemoryNode
from neurogated.config.groups import RuntimeSettings
from neurogated.storage.checkpoint import IndexSnapshot
from neurogated.storage.files import load_array, load_bytes, save_array
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.log.memory_log import MemoryLog
from neurogated.storage.log.sqlite.sqlite_log import SqliteLog
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.utils.background import BackgroundWorker, Job

# A store after interrupts, with leftover files, and in the past


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


# After a failed background job, later jobs run, no thread waits for ever, and the log has a line


class _Bench:
    """Has jobs and accepts results. Some jobs fail, and some results cannot be accepted."""

    def __init__(self) -> None:
        self.jobs: list[Job] = []
        self.done: list[object] = []
        self.failed: list[BaseException] = []
        self.worker = BackgroundWorker(self)

    def next_job(self) -> Job | None:
        return self.jobs[0] if self.jobs else None

    def finish_job(self, result: object) -> None:
        self.jobs.pop(0)
        self.done.append(result)

    def fail_job(self, error: BaseException) -> None:
        self.jobs.pop(0)
        self.failed.append(error)


def _raising(error: BaseException) -> Job:
    def job(stop: object) -> None:  # noqa: ARG001 - unused
        raise error

    return job


@pytest.mark.parametrize("error", [MemoryError(), OSError("full"), ValueError("odd"), RuntimeError("odd")], ids=repr)
def test_a_job_that_fails_does_not_stop_the_next(error: BaseException) -> None:
    bench = _Bench()
    bench.jobs = [_raising(error), lambda stop: 1]  # noqa: ARG005 - a job that ends at once
    bench.worker.wait()
    assert (bench.failed, bench.done) == ([error], [1])


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


# Arrays in files: a read returns the written array, or a write raises an error


DISK = 2**20
FULL = r"space left|too large"
KINDS = st.sampled_from(["int8", "int32", "int64", "float32", "float64", "bool", "uint16"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some_numpy.arrays(KINDS, some_numpy.array_shapes(max_dims=2, min_side=0)), st.booleans())
def test_a_stored_array_is_unchanged(tmp_path: Path, values: NDArray[np.generic], turned: bool) -> None:  # noqa: FBT001 - drawn
    path, written = tmp_path / "some.npy", values.T if turned else values
    save_array(path, written)
    found = load_array(path)
    assert found.dtype == written.dtype
    assert not found.flags.writeable
    np.testing.assert_array_equal(found, written)
    np.testing.assert_array_equal(np.load(path), written)
    assert load_bytes(path).tobytes() == path.read_bytes()


def test_an_array_that_the_disk_has_no_room_for_is_an_error(small_disk: Path) -> None:
    with pytest.raises(OSError, match=FULL):
        save_array(small_disk / "some.npy", np.zeros(DISK, dtype=np.uint8))
