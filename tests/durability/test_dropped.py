"""Memories that are dropped without `close` release the lock with the last reference, not at garbage collection."""

import gc
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import MemoryLockedError, UnknownIdError
from neurogated.storage.files import opened_alone

_TEXT = "Rain fell. The dam broke because of it."


def _nothing(memory: NeuroGraphMemory) -> None:
    """Only open the memory."""


def _learn(memory: NeuroGraphMemory) -> None:
    memory.recall("Why did the dam break?")
    memory.feedback(memory.add_document("The dam was old."))
    memory.undo()


def _look_back(memory: NeuroGraphMemory) -> None:
    memory.recall("Why did the dam break?", as_of=1)
    assert memory.admin.check() == []


def _use_namespaces(memory: NeuroGraphMemory) -> None:
    memory.in_namespace("other").add_document(_TEXT)
    memory.in_namespace("other").in_namespace("third").add_document(_TEXT)
    memory.admin.drop_namespace("third")


def _fail(memory: NeuroGraphMemory) -> None:
    with pytest.raises(UnknownIdError):
        memory.delete(["nowhere"])


def _change_much(memory: NeuroGraphMemory) -> None:
    """Change so much that a background thread writes a checkpoint."""
    memory.add_documents([f"Rain {number} fell. Dam {number} broke." for number in range(60)], progress=False)


def _require_closed(path: Path) -> None:
    """Raise MemoryLockedError if the memory is still open after the background thread has ended."""
    deadline = time.monotonic() + 20
    while True:
        try:
            with opened_alone(path):
                return
        except MemoryLockedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)


@pytest.fixture(autouse=True)
def _no_collector() -> Iterator[None]:
    # From Python 3.13 on, the caches of the dropped memory warn that they were not closed.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("use", [_nothing, _learn, _look_back, _use_namespaces, _fail, _change_much])
def test_a_memory_that_was_dropped_is_opened_again_at_once(
    config: MemoryConfig, use: Callable[[NeuroGraphMemory], None]
) -> None:
    config = config.replace(runtime={"checkpoint_changes": 5})
    memory = NeuroGraphMemory(config)
    memory.add_document(_TEXT)
    use(memory)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del memory
        _require_closed(Path(config.save_dir, "memory", "memory.db"))
    with NeuroGraphMemory(config) as memory:
        assert _TEXT in memory.retrieve("Why did the dam break?")
        assert memory.admin.check() == []


def test_dropping_a_memory_warns_of_the_missing_close(config: MemoryConfig) -> None:
    memory = NeuroGraphMemory(config)
    with pytest.warns(ResourceWarning, match=r"memory\.db was not closed; call close\(\)"):
        del memory


def test_another_namespace_keeps_the_file_open(config: MemoryConfig) -> None:
    memory = NeuroGraphMemory(config)
    other = memory.in_namespace("other")
    del memory
    other.add_document(_TEXT)
    assert other.retrieve("What fell?") == [_TEXT]
    other.store.close()


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_dropped_memories_leave_no_threads(config: MemoryConfig, storage: str) -> None:
    before = set(threading.enumerate())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        for number in range(3):
            memory = NeuroGraphMemory(config.replace(save_dir=f"{config.save_dir}-{number}", storage=storage))
            memory.add(_TEXT)
            memory.recall("Why did the dam break?")
        del memory
        gc.collect()
    for thread in set(threading.enumerate()) - before:
        thread.join(10)
        assert not thread.is_alive()
