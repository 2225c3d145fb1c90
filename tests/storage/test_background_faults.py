"""After a failed background job, later jobs run, no thread waits for ever, and the log has a line."""

import logging
from pathlib import Path

import pytest

from neurogated import MemoryConfig, MemoryNode
from neurogated.config.groups import RuntimeSettings
from neurogated.storage.checkpoint import IndexSnapshot
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.utils.background import BackgroundWorker, Job


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
