"""A fresh process that uses a memory; `python -m benchmarks.fresh_process answer|write FOLDER DATA …`.

`answer` opens it, asks one question, then 200 more, and prints JSON: seconds from before opening to the first answer,
without the imports, and resident memory in bytes. `write` adds texts one by one, prints a line, and waits to be killed.
"""

from __future__ import annotations

import json
import sys
import time
from itertools import islice
from pathlib import Path

from benchmarks.memories import GivenVectors, open_memory
from benchmarks.synthetic import Synthetic

QUESTIONS = 200
SEED = 7


def answer(folder: Path, synthetic: Synthetic, settings: dict[str, object]) -> dict[str, float]:
    """Open, ask, and measure."""
    questions, embedder = synthetic.ask(SEED), GivenVectors()
    first = next(questions)
    embedder.give(first.text, first.vector)
    begin = time.perf_counter()
    with open_memory(folder, embedder, **settings) as memory:
        opened = time.perf_counter() - begin
        memory.learning.freeze(lasting=False)
        recall = memory.recall(first.text)
        answered = time.perf_counter() - begin
        found = f"n{first.node}" in recall.ids
        for question in islice(questions, QUESTIONS):
            embedder.give(question.text, question.vector)
            found += f"n{question.node}" in memory.recall(question.text).ids
        return {"open": opened, "answer": answered, "found": found / (1 + QUESTIONS), **recall.seconds, **resident()}


def write(folder: Path, synthetic: Synthetic, settings: dict[str, object], count: int) -> None:
    """Add texts until the process is killed."""
    embedder = GivenVectors()
    with open_memory(folder, embedder, **settings) as memory:
        for text, vector, _ in islice(synthetic.new_texts(SEED), count):
            embedder.give(text, vector)
            memory.add_document(text)
        print("written", flush=True)
        time.sleep(3600)


def resident() -> dict[str, int]:
    """Return the resident memory of this process in bytes: `rss`, and `pss`, which splits shared pages."""
    status, rollup = (Path(f"/proc/self/{name}").read_text(encoding="utf-8") for name in ("status", "smaps_rollup"))
    return {"rss": _kilobytes(status, "VmRSS") * 1024, "pss": _kilobytes(rollup, "Pss") * 1024}


def _kilobytes(text: str, name: str) -> int:
    return next(int(line.split()[1]) for line in text.splitlines() if line.startswith(f"{name}:"))


def main() -> None:
    """Run the task of the command line."""
    what, folder, data, settings, *count = sys.argv[1:]
    synthetic = Synthetic.read(Path(data))
    if what == "write":
        write(Path(folder), synthetic, json.loads(settings), int(count[0]))
    else:
        print(json.dumps(answer(Path(folder), synthetic, json.loads(settings))))


if __name__ == "__main__":
    main()
