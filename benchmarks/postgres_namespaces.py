"""Many small namespaces in PostgreSQL: what planning a search and asking one of them cost as their number grows.

python -m benchmarks.postgres_namespaces --namespaces 10000 --seconds 300
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from neurogated import GraphDelta, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.storage.log.postgres.search import NEAREST
from neurogated.storage.log.postgres.search_tables import vector_text
from neurogated.storage.postgres_store import PostgresStore
from tests.postgres_server import Postgres

__all__: list[str] = []

_MEMORIES, _WORDS, _LENGTH, _ASKED, _PLANS = 100, 5_000, 30, 40, 30


def main() -> None:
    """Add namespaces until they are enough or the time is over; print the costs at each tenfold number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--namespaces", type=int, default=10_000)
    parser.add_argument("--seconds", type=int, default=300)
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory(prefix="postgres") as data, tempfile.TemporaryDirectory() as folder:
        server = Postgres(Path(data))
        url = server.database()
        config = MemoryConfig(storage=url, save_dir=folder, embedding_name="hash")
        with NeuroGraphMemory(config) as memory, PostgresStore.open(f"{url}&search=database") as store:
            embedder = memory.session.parts.embedder
            store.bind_embedder(embedder.name, embedder.dimension)
            begin, number, due = time.monotonic(), 0, 10
            while number < arguments.namespaces and time.monotonic() < begin + arguments.seconds:
                _fill(store.in_namespace(f"tenant {number}"), random, embedder.dimension)
                number += 1
                if number == due:
                    _report(store, config, number, time.monotonic() - begin)
                    due *= 10
            if number != due / 10:
                _report(store, config, number, time.monotonic() - begin)
        server.close()


def _fill(store: PostgresStore, random: np.random.Generator, dimension: int) -> None:
    store.make_searchable()
    words = (_WORDS * random.random((_MEMORIES, _LENGTH)) ** 3).astype(int).tolist()
    vectors = random.normal(size=(_MEMORIES, dimension)).astype(np.float32)
    texts = (" ".join(f"w{word}" for word in row) for row in words)
    nodes = [MemoryNode(f"n{place}", text, vectors[place]) for place, text in enumerate(texts)]
    store.apply(GraphDelta(nodes=nodes))


def _report(store: PostgresStore, config: MemoryConfig, count: int, seconds: float) -> None:
    assert store.embedder is not None
    store.engine.change("ANALYZE")
    values = count, None, None, count, 0, vector_text(np.ones(store.embedder[1])), 10
    plans = [store.engine.fetch(f"EXPLAIN (SUMMARY, FORMAT JSON) {NEAREST}", values)[0][0] for _ in range(_PLANS)]
    planning = statistics.median(plan[0]["Planning Time"] for plan in plans)
    cold, hot = [], []
    with NeuroGraphMemory(config) as memory:
        memory.recall("w1")
        for number in np.linspace(0, count - 1, min(_ASKED, count)).astype(int).tolist():
            for times in (cold, hot):
                begin, used = time.perf_counter(), time.process_time()
                memory.in_namespace(f"tenant {number}").recall("w1 w20 w300", top_n=5)
                times.append((1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - used)))
    shown = ", ".join(
        f"{name} {statistics.median(wall for wall, _ in times):.1f} ms "
        f"({statistics.median(cpu for _, cpu in times):.1f} of this process)"
        for name, times in (("cold", cold), ("hot", hot))
    )
    print(
        f"{count} namespaces of {_MEMORIES} after {seconds:.0f} s: planning {planning:.2f} ms; recall {shown}",
        flush=True,
    )


if __name__ == "__main__":
    main()
