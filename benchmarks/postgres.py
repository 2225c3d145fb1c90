"""Times of a memory in PostgreSQL beside those of a file, in one run; both without an embedding model.

python -m benchmarks.postgres --nodes 10000
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

import numpy as np

from neurogated import EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.core.clock import utc_now
from neurogated.storage.postgres_store import PostgresStore
from tests.postgres_server import Postgres

__all__ = ["append"]

_WORDS, _LENGTH, _ASKED, _SIMILAR = 20_000, 40, 10, 3
_AT_ONCE, _SINGLE = 2_000, 500
_WORKERS, _APPENDS = 4, 500


def main() -> None:
    """Build both memories, alternate between them, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=300)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="postgres") as data, tempfile.TemporaryDirectory() as folder:
        server = Postgres(Path(data))
        url = server.database()
        configs = {
            name: MemoryConfig(save_dir=f"{folder}/{name}", storage=storage, embedding_name="hash")
            for name, storage in (("sqlite", "sqlite"), ("postgres", url))
        }
        for name, config in configs.items():
            print(f"{name}: {_fill(config, arguments.nodes):.2f} ms a delta of one node")
        for name, config in configs.items():
            print(f"{name}: {_opened(config):.0f} ms to open and ask")
        _alternate(configs, arguments.rounds)
        for workers in (1, _WORKERS):
            print(f"{workers} workers on as many namespaces: {_throughput(url, workers):.0f} appends a second")
        server.close()


def _texts(seed: int) -> Iterator[str]:
    random = np.random.default_rng(seed)
    while True:
        yield " ".join(f"w{word}" for word in (_WORDS * random.random(_LENGTH) ** 3).astype(int))


def _fill(config: MemoryConfig, nodes: int) -> float:
    """Put nodes, most of them in large deltas and the last ones in one delta each; return the milliseconds of one."""
    random, now = np.random.default_rng(0), utc_now()
    with NeuroGraphMemory(config) as memory:
        memory.add("A first text.")
        assert memory.store.embedder is not None
        dimension = memory.store.embedder[1]

        def delta(numbers: Sequence[int], texts: Sequence[str]) -> GraphDelta:
            vectors = random.normal(size=(len(numbers), dimension))
            put = [
                MemoryNode(str(one), text, vector) for one, text, vector in zip(numbers, texts, vectors, strict=True)
            ]
            pairs = {(one, int(near)) for one in numbers for near in random.integers(0, max(1, one), _SIMILAR)}
            edges = [MemoryEdge(str(one), str(near), EdgeType.SIM, 0.7, now) for one, near in pairs if one != near]
            return GraphDelta(nodes=put, edges=edges)

        texts, single = list(islice(_texts(1), nodes)), range(max(0, nodes - _SINGLE), nodes)
        for first in range(0, single.start, _AT_ONCE):
            numbers = range(first, min(first + _AT_ONCE, single.start))
            memory.store.apply(delta(numbers, texts[first : numbers.stop]))
        deltas = [delta([number], [texts[number]]) for number in single]
        begin = time.perf_counter()
        for one in deltas:
            memory.store.apply(one)
        return 1000 * (time.perf_counter() - begin) / len(deltas)


def _opened(config: MemoryConfig) -> float:
    begin = time.perf_counter()
    with NeuroGraphMemory(config) as memory:
        memory.recall("w1 w2 w3")
        return 1000 * (time.perf_counter() - begin)


def _alternate(configs: dict[str, MemoryConfig], rounds: int) -> None:
    with ExitStack() as stack:
        memories = {name: stack.enter_context(NeuroGraphMemory(config)) for name, config in configs.items()}
        calls: dict[str, Callable[[NeuroGraphMemory, str], object]] = {
            "recall": lambda memory, text: memory.recall(" ".join(text.split()[:_ASKED])),
            "add": lambda memory, text: memory.add(text),
        }
        for call, use in calls.items():
            times: dict[str, list[float]] = {name: [] for name in memories}
            for text in islice(_texts(2), rounds):
                for name, memory in memories.items():
                    begin = time.perf_counter()
                    use(memory, text)
                    times[name].append(1000 * (time.perf_counter() - begin))
            medians = {name: statistics.median(found) for name, found in times.items()}
            shown = ", ".join(f"{name} {median:.2f} ms" for name, median in medians.items())
            print(f"{call}: {shown}, ratio {medians['postgres'] / medians['sqlite']:.2f}")


def append(url: str, number: int) -> None:
    """Append deltas to a namespace of its own."""
    with PostgresStore.open(url, f"worker {number}") as store:
        for one in range(_APPENDS):
            store.apply(GraphDelta(nodes=[MemoryNode(f"{time.time_ns()}", "text", np.full(384, one + 1.0))]))


def _throughput(url: str, workers: int) -> float:
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        pool.starmap(append, [(url, -number) for number in range(workers)])
        begin = time.perf_counter()
        pool.starmap(append, [(url, number) for number in range(workers)])
        return workers * _APPENDS / (time.perf_counter() - begin)


if __name__ == "__main__":
    main()
