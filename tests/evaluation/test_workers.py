"""Indexing in several processes: the same memory as in one, also after a process was killed."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import StorageError
from neurogated.evaluation.gold import Collection, Dataset
from neurogated.evaluation.runner import index, index_in_processes
from neurogated.ingestion.document import Document, Passage

CITIES = ("Lyon", "Ghent", "Turin")
SIZES = dict(zip(CITIES, (60, 40, 20), strict=True))


def _collection(city: str, size: int) -> Collection:
    texts = (f"House {n} of {city} has {n + 3} windows." for n in range(size))
    documents = (Document((Passage(text),), id=f"{city} {n}") for n, text in enumerate(texts))
    return Collection(city.replace(" ", "-"), tuple(documents), ())


@pytest.fixture
def cities() -> Dataset:
    return Dataset("cities", tuple(_collection(city, size) for city, size in SIZES.items()))


def _told(memories: list[NeuroGraphMemory]) -> list[tuple[str, set[str], set[tuple[object, ...]]]]:
    return [
        (
            memory.config.namespace,
            {node.id for node in memory.store.all_nodes()},
            {tuple(edge.key) for edge in memory.store.all_edges()},
        )
        for memory in memories
    ]


def test_processes_make_the_same_memory_as_one(cities: Dataset, config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as alone, NeuroGraphMemory(config.replace(save_dir=f"{config.save_dir}2")) as shared:
        assert _told(index_in_processes(cities, shared, 2)) == _told(index(cities, alone))


def test_a_killed_process_is_named_and_indexing_again_adds_the_rest(cities: Dataset, config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory, ThreadPoolExecutor(1) as thread:
        call = thread.submit(index_in_processes, cities, memory, 2)
        while not (children := multiprocessing.active_children()):
            time.sleep(0.01)
        children[0].kill()
        with pytest.raises(StorageError):
            call.result()
        found = _told(index_in_processes(cities, memory, 2))
    assert [(name, len(nodes)) for name, nodes, _ in found] == list(SIZES.items())


_LONG = """
import sys
from tests.evaluation.test_workers import _collection
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.gold import Dataset
from neurogated.evaluation.runner import index_in_processes
if __name__ == "__main__":
    data = Dataset("cities", tuple(_collection(f"City {n}", 1500) for n in range(2)))
    with NeuroGraphMemory(MemoryConfig(save_dir=sys.argv[1], embedding_name="hash")) as memory:
        index_in_processes(data, memory, 2, progress=False)
"""


def _spawned(*of_parent: str) -> set[int]:
    """Return the living processes that `multiprocessing` has spawned, perhaps those of one parent."""
    found = subprocess.run(["pgrep", *of_parent, "-f", "multiprocessing-fork"], capture_output=True, check=False)
    return set(map(int, found.stdout.split()))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_process_outlives_its_parent(tmp_path: Path, how: signal.Signals) -> None:
    script, root, folder = tmp_path / "long.py", Path(__file__).parents[2], str(tmp_path / "memory")
    script.write_text(_LONG)
    environment = {**os.environ, "PYTHONPATH": f"{root / 'src'}:{root}"}
    parent = subprocess.Popen([sys.executable, str(script), folder], env=environment, stderr=subprocess.DEVNULL)
    while len(workers := _spawned("-P", str(parent.pid))) < 2:
        assert parent.poll() is None
        time.sleep(0.05)
    parent.send_signal(how)
    parent.wait(timeout=60)
    while workers & _spawned():
        time.sleep(0.05)
    with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory:
        assert not memory.admin.check()
