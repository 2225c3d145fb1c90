"""Forked children of a process with an open memory never hang and never harm their parent."""

import asyncio
import contextlib
import faulthandler
import gc
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import ForkedMemoryError, MemoryLockedError
from tests.durability.contents import environment
from tests.durability.kill_rounds import run_child

_QUESTION = "Why did the dam break?"
_HANGS_AFTER = 120
_DROP = (
    "import sys; from neurogated.storage.sqlite_store import *; "
    "SqliteStore.open(sys.argv[1], from_scratch=True).close()"
)


def _in_child(work: Callable[[], object]) -> None:
    """Run `work` in a forked child, which must succeed. If it hangs, it prints its stack."""

    def run(_: int) -> None:
        faulthandler.dump_traceback_later(_HANGS_AFTER, exit=True)
        work()

    child, pipe = run_child(run)
    _, status = os.waitpid(child, 0)
    os.close(pipe)
    assert status == 0


def _refused(call: Callable[[], object]) -> None:
    with pytest.raises(ForkedMemoryError, match="open it in the child"):
        call()


def _recall(memory: NeuroGraphMemory) -> None:
    _refused(lambda: memory.recall(_QUESTION))
    _refused(lambda: asyncio.run(memory.aio.recall(_QUESTION)))
    _refused(memory.store.view)


def _add(memory: NeuroGraphMemory) -> None:
    _refused(lambda: memory.add_document("The child fell."))
    _refused(memory.history.list)


def _close(memory: NeuroGraphMemory) -> None:
    memory.close()
    memory.close()
    _recall(memory)


def _collect(memory: NeuroGraphMemory) -> None:
    memory.__dict__.clear()
    gc.collect()


def _exit(memory: NeuroGraphMemory) -> None:  # noqa: ARG001 - only there while the interpreter is torn down
    # The teardown of the interpreter would hide the output.
    with contextlib.suppress(SystemExit):
        sys.exit(0)


def _is_locked(config: MemoryConfig) -> bool:
    command = [sys.executable, "-c", _DROP, str(Path(config.save_dir, "memory", "memory.db"))]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0 or MemoryLockedError.__name__ in done.stderr, done.stderr
    return done.returncode != 0


@pytest.fixture(params=["hash", "all-MiniLM-L6-v2"])
def forked(config: MemoryConfig, request: pytest.FixtureRequest) -> MemoryConfig:
    return config.replace(embedding_name=request.param)


def test_a_child_is_told_at_once_and_its_parent_goes_on(forked: MemoryConfig) -> None:
    with NeuroGraphMemory(forked) as memory:
        memory.add_documents([f"Rain {number} fell. The dam broke." for number in range(30)], progress=False)
        found = memory.retrieve(_QUESTION)
        for work in (_recall, _add, _close, _collect, _exit):
            _in_child(lambda work=work: work(memory))  # type: ignore[misc]
            memory.add_document(f"The parent wrote after the child did {work.__name__}.")
            assert _is_locked(forked), work.__name__
        assert set(memory.retrieve(_QUESTION)) >= set(found[:1])
        assert memory.admin.check() == []
    assert not _is_locked(forked)


def test_a_memory_that_was_closed_before_hides_no_open_one_from_the_child(config: MemoryConfig, tmp_path: Path) -> None:
    with NeuroGraphMemory(config.replace(save_dir=str(tmp_path / "first"))) as closed:
        closed.add_document("Snow fell.")
    with NeuroGraphMemory(config) as memory:
        memory.add_document("Rain fell.")
        _in_child(lambda: _add(memory))
        assert closed.store.closed


def test_a_child_opens_memories_of_its_own(config: MemoryConfig, tmp_path: Path) -> None:
    def work() -> None:
        with NeuroGraphMemory(config.replace(read_only=True)) as reader:
            assert reader.retrieve(_QUESTION) == ["Rain fell. The dam broke."]
        with pytest.raises(MemoryLockedError):
            NeuroGraphMemory(config.replace(force_index_from_scratch=True))
        with NeuroGraphMemory(config) as writer:
            writer.add_document("The child wrote beside its parent.")
            assert writer.admin.check() == []
        with NeuroGraphMemory(config.replace(save_dir=str(tmp_path / "own"))) as own:
            own.add_documents(["A child wrote."] * 5, progress=False)
            assert asyncio.run(own.aio.retrieve("Who wrote?")) == ["A child wrote."]

    with NeuroGraphMemory(config) as memory:
        memory.add_document("Rain fell. The dam broke.")
        memory.recall(_QUESTION)
        asyncio.run(memory.aio.recall(_QUESTION))
        _in_child(work)
        assert memory.retrieve("Who wrote beside its parent?")[0] == "The child wrote beside its parent."
        memory.add_document("The parent went on.")
        assert memory.admin.check() == []


def test_a_child_that_embeds_after_its_parent_did_is_told_at_once(config: MemoryConfig, tmp_path: Path) -> None:
    config = config.replace(embedding_name="all-MiniLM-L6-v2", embedding={"backend": "openvino"})

    def work() -> None:
        with NeuroGraphMemory(config.replace(save_dir=str(tmp_path / "own"))) as own, pytest.raises(ForkedMemoryError):
            own.add_documents([f"Rain {number} fell." for number in range(40)], progress=False)

    with NeuroGraphMemory(config) as memory:
        memory.add_documents([f"Rain {number} fell." for number in range(40)], progress=False)
        _in_child(work)


def test_forks_while_other_threads_write(config: MemoryConfig) -> None:
    """No child inherits a lock of SQLite that a thread of its parent held."""
    stop = threading.Event()

    def write() -> None:
        number = 0
        while not stop.is_set():
            memory.add_document(f"Rain {number} fell.")
            number += 1

    def read() -> None:
        with NeuroGraphMemory(config.replace(read_only=True)) as reader:
            assert reader.recall("What fell?").memories

    with NeuroGraphMemory(config) as memory:
        memory.add_document("Rain fell.")
        thread = threading.Thread(target=write)
        thread.start()
        try:
            for _ in range(5):
                _in_child(read)
        finally:
            stop.set()
            thread.join()
        assert memory.admin.check() == []
