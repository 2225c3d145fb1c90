"""An open memory belongs to its process: a copy or a pickle is refused in words, and nothing is printed."""

import copy
import gc
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory

WAYS: list[Callable[[object], object]] = [copy.deepcopy, pickle.dumps]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_a_copy_of_an_open_memory_is_refused_in_words(
    tmp_path: Path, storage: str, way: Callable[[object], object]
) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), storage=storage, embedding_name="hash")) as memory:
        for thing in (memory, memory.aio, memory.store, {"tools": [memory]}):
            with pytest.raises(TypeError, match=r"neither copied nor pickled.*NeuroGraphMemory\(config\)"):
                way(thing)
        # Warnings are errors, also those of objects that are collected.
        gc.collect()
        assert memory.add("The memory goes on.")
