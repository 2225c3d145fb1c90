"""A memory in a database that speaks Bolt beside one in a file: one memory added, and a recall, in one run.

Usage: `python -m benchmarks.neo4j bolt://USER:PASSWORD@HOST:7687/DATABASE?memory=NAME --memories 1000`
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from statistics import median

from neurogated import MemoryConfig, NeuroGraphMemory

_PEOPLE = ("Ana", "Ben", "Chiara", "Dmitri", "Eun", "Farid", "Grace")
_PLACES = ("Lyon", "Oslo", "Quito", "Nairobi", "Kyoto", "Perth")
_RECALLS = 200


def _text(number: int) -> str:
    person, place = _PEOPLE[number % len(_PEOPLE)], _PLACES[number % len(_PLACES)]
    return f"{person} met {number} travellers in {place} on their way to the harbour."


def _millis(calls: Callable[[int], object], count: int) -> list[float]:
    times = []
    for number in range(count):
        begin = time.perf_counter()
        calls(number)
        times.append(1000 * (time.perf_counter() - begin))
    return times


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("--memories", type=int, default=1000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        memories = {
            name: NeuroGraphMemory(MemoryConfig(storage=url, save_dir=f"{folder}/{name}", embedding_name="hash"))
            for name, url in (("file", "sqlite"), ("database", given.url))
        }
        for name, memory in memories.items():
            added = _millis(lambda number, memory=memory: memory.add(_text(number)), given.memories)  # type: ignore[misc]
            print(f"{name}: {median(added):.1f} ms a memory added (median), {sum(added) / len(added):.1f} (mean)")
        asked = [_text(number * 7) for number in range(_RECALLS)]
        times: dict[str, list[float]] = {name: [] for name in memories}
        for number in range(_RECALLS):
            for name, memory in memories.items():
                times[name] += _millis(lambda _, memory=memory, number=number: memory.recall(asked[number]), 1)  # type: ignore[misc]
        for name, memory in memories.items():
            print(f"{name}: {median(times[name]):.2f} ms a recall (median)")
            memory.close()


if __name__ == "__main__":
    main()
