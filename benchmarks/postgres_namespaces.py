"""Many small namespaces in PostgreSQL: what asking one of them costs as their number grows.

python -m benchmarks.postgres_namespaces
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from neurogated import GraphDelta, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.storage.postgres_store import PostgresStore
from tests.postgres_server import Postgres

__all__: list[str] = []

_MEMORIES, _WORDS, _LENGTH, _ASKED, _MADE = 100, 5_000, 10, 40, 10
_ROWS = {"heads": "epoch, sequence, erased_up_to", "deltas": "sequence, at, uses_only, entry, token, body"}


def main() -> None:
    """Make a few namespaces, copy their rows to others, and print the costs at each tenfold number."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--namespaces", type=int, nargs="+", default=[10, 100, 1_000, 5_000, 10_000])
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory(prefix="postgres") as data, tempfile.TemporaryDirectory() as folder:
        server = Postgres(Path(data))
        url = server.database()
        config = MemoryConfig(storage=url, save_dir=folder, embedding_name="hash")
        with NeuroGraphMemory(config) as memory, PostgresStore.open(url) as store:
            embedder = memory.session.parts.embedder
            store.bind_embedder(embedder.name, embedder.dimension)
            for number in range(_MADE):
                _fill(store.in_namespace(f"tenant {number}"), random, embedder.dimension)
            there = _MADE
            for wanted in arguments.namespaces:
                _copy(store, there, wanted)
                there = wanted
                _report(store, config, wanted)
        server.close()


def _fill(store: PostgresStore, random: np.random.Generator, dimension: int) -> None:
    words = (_WORDS * random.random((_MEMORIES, _LENGTH)) ** 3).astype(int).tolist()
    vectors = random.normal(size=(_MEMORIES, dimension)).astype(np.float32)
    texts = (" ".join(f"w{word}" for word in row) for row in words)
    nodes = (MemoryNode(f"n{place}", text, vectors[place]) for place, text in enumerate(texts))
    store.apply(GraphDelta(nodes=tuple(nodes)))


def _copy(store: PostgresStore, there: int, wanted: int) -> None:
    """Copy the rows of the first namespaces to new ones, which is faster than writing them one after the other."""
    pairs = f"""
        SELECT made.namespace AS its_source, copy.namespace AS its_copy
        FROM generate_series({there}, {wanted - 1}) AS n
        JOIN namespaces copy ON copy.name = convert_to('tenant ' || n, 'UTF8')
        JOIN namespaces made ON made.name = convert_to('tenant ' || mod(n, {_MADE}), 'UTF8')
    """
    store.engine.change(
        "INSERT INTO namespaces (name) SELECT convert_to('tenant ' || n, 'UTF8') "
        f"FROM generate_series({there}, {wanted - 1}) AS n"
    )
    for table, columns in _ROWS.items():
        store.engine.change(
            f"INSERT INTO {table} (namespace, {columns}) SELECT its_copy, {columns} "
            f"FROM ({pairs}) AS pair JOIN {table} ON namespace = its_source"
        )


def _report(store: PostgresStore, config: MemoryConfig, count: int) -> None:
    store.engine.change("ANALYZE")
    cold, hot = list[tuple[float, float]](), list[tuple[float, float]]()
    with NeuroGraphMemory(config) as memory:
        memory.recall("w1")
        for number in np.linspace(0, count - 1, min(_ASKED, count)).astype(int).tolist():
            for times in (cold, hot, hot, hot):
                begin, used = time.perf_counter(), time.process_time()
                memory.in_namespace(f"tenant {number}").recall("w1 w20 w300", top_n=5)
                times.append((1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - used)))
    shown = ", ".join(
        f"{name} {statistics.median(wall for wall, _ in times):.1f} ms "
        f"({statistics.median(cpu for _, cpu in times):.1f} of this process)"
        for name, times in (("cold", cold), ("hot", hot))
    )
    print(f"{count} namespaces of {_MEMORIES}: recall {shown}", flush=True)


if __name__ == "__main__":
    main()
