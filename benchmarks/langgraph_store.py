"""Our LangGraph store beside LangGraph's three, in one run: `python -m benchmarks.langgraph_store --items 10000`.

The stores take turns after every call, so other work on the machine slows all of them. The vectors are looked up in a
table, so the times exclude embedding. Each cell has the median and the minimum of the wall clock, and the median of
the processor time of this process, which leaves out that of PostgreSQL's server. SQLite's store has vectors only if
Python's `sqlite3` loads extensions.
"""

from __future__ import annotations

import argparse
import os
import random
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import numpy as np
from langgraph.store.base import BaseStore, IndexConfig, PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from neurogated.integrations.langgraph import NeuroStore
from tests.postgres_server import Postgres

DIMENSION, WORDS, NAMESPACES, BATCH = 384, 5000, 50, 500
Call = Callable[[BaseStore, int], object]
Seconds = tuple[float, float]
"""Of the wall clock and of the processor."""


class Texts:
    """Random texts of twenty words; the vector of a text is the mean of the vectors of its words."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)  # noqa: S311 - the same texts again
        self._vectors = np.random.default_rng(seed).standard_normal((WORDS, DIMENSION), dtype=np.float32)
        self._known: dict[str, list[float]] = {}

    def new(self) -> str:
        """Return a text with a known vector."""
        chosen = [int(WORDS * self._random.random() ** 2) for _ in range(20)]
        text = " ".join(f"w{word}" for word in chosen)
        self._known[text] = self._vectors[chosen].mean(axis=0).tolist()
        return text

    def embed(self, texts: list[str]) -> list[list[float]]:
        """Return the vectors of texts."""
        return [self._known[text] for text in texts]


@contextmanager
def stores(folder: Path, index: IndexConfig) -> Iterator[dict[str, BaseStore]]:
    """Open all stores with an index."""
    server = Postgres(folder / "server")
    with_vectors = hasattr(sqlite3.Connection, "enable_load_extension")
    with ExitStack() as stack:
        stack.callback(server.close)
        ours = NeuroStore.from_conn_string(str(folder / "ours"), index=index)
        lite = SqliteStore.from_conn_string(str(folder / "store.db"), index=index if with_vectors else None)
        postgres = PostgresStore.from_conn_string(server.database(), index=index)
        opened: dict[str, BaseStore] = {
            "NeuroStore": stack.enter_context(ours),
            "InMemoryStore": InMemoryStore(index=index),
        }
        opened["SqliteStore" if with_vectors else "SqliteStore (no vectors)"] = stack.enter_context(lite)
        opened["PostgresStore"] = stack.enter_context(postgres)
        for store in opened.values():
            if isinstance(store, SqliteStore | PostgresStore):
                store.setup()
        yield opened


def calls(texts: Texts, items: int) -> dict[str, Call]:
    """Return the calls to measure, by name; each takes the number of its round, so that no two are equal."""
    new = dict[int, str]()

    def text(number: int) -> str:
        if number not in new:
            new[number] = texts.new()
        return new[number]

    return {
        "get": lambda store, number: store.get(("u", str(number % NAMESPACES)), f"k{number}"),
        "put": lambda store, number: store.put(("u", "new"), f"n{number}", {"text": text(number), "n": number}),
        "search by a query": lambda store, number: store.search(("u",), query=text(-number)),
        "the same in one of 50 namespaces": lambda store, number: store.search(("u", "7"), query=text(-number)),
        "search by a query and a filter": lambda store, number: store.search(
            ("u",), query=text(-number), filter={"color": "red"}
        ),
        "search by a filter that few pass": lambda store, number: store.search(
            ("u",), filter={"n": {"$gt": items - 5 - number}, "color": "red"}
        ),
        "search without either": lambda store, number: store.search(("u",), offset=number),
        "list namespaces": lambda store, number: store.list_namespaces(prefix=("u",), offset=number % 10),
    }


def measured(call: Call, opened: dict[str, BaseStore], rounds: int) -> list[str]:
    """Return the cell of each store."""
    seconds: dict[str, list[Seconds]] = {name: [] for name in opened}
    for number in range(rounds + 1):
        for name, store in opened.items():
            wall, processor = time.perf_counter(), time.process_time()
            call(store, number)
            seconds[name].append((time.perf_counter() - wall, time.process_time() - processor))
    cells = []
    for taken in seconds.values():
        wall, processor = zip(*taken[1:], strict=True)
        cells.append(" / ".join(f"{1e3 * one:.2f}" for one in (median(wall), min(wall), median(processor))))
    return cells


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=10_000, help="number of items (default: 10000)")
    parser.add_argument("--rounds", type=int, default=30, help="calls of each kind (default: 30)")
    given = parser.parse_args()
    texts = Texts(seed=1)
    index: IndexConfig = {"dims": DIMENSION, "embed": texts.embed, "fields": ["text"]}
    colors = ("blue", "red", "red")
    values = [{"text": texts.new(), "n": number, "color": colors[number % 3]} for number in range(given.items)]
    ops = [PutOp(("u", str(number % NAMESPACES)), f"k{number}", value) for number, value in enumerate(values)]
    with tempfile.TemporaryDirectory() as folder, stores(Path(folder), index) as opened:
        for store in opened.values():
            for begin in range(0, len(ops), BATCH):
                store.batch(ops[begin : begin + BATCH])
        load = f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
        print(f"{time.strftime('%Y-%m-%d')}; {given.items} items; {load}\n")
        print(f"| ms: median, minimum, processor | {' | '.join(opened)} |\n| --- |{' ---: |' * len(opened)}")
        for name, call in calls(texts, given.items).items():
            print(f"| {name} | {' | '.join(measured(call, opened, given.rounds))} |", flush=True)


if __name__ == "__main__":
    main()
