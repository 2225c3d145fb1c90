"""mem0 on PostgreSQL, measured alone: `python benchmarks/mem0_alone.py URL TASK.json VECTORS.npy`.

Run it with a Python that has `mem0ai` and `psycopg[binary,pool]`. It embeds nothing, because each text has a vector in
the file, and asks no language model. It prints JSON: the median milliseconds of an add and of a search, and recall@10.
"""

from __future__ import annotations

import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

WANTED = 10


class Table:
    """An embedder that looks texts up."""

    def __init__(self, texts: list[str], vectors: np.ndarray) -> None:
        """Take the vector of each text."""
        # mem0 strips texts.
        self._vectors = dict(zip(map(str.strip, texts), vectors.tolist(), strict=True))

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:  # noqa: ARG002 - mem0's interface
        """Return the vector of a text."""
        return self._vectors[text.strip()]


def opened(url: str, dimension: int, folder: str) -> Any:  # noqa: ANN401 - its package is not installed here
    """Return a memory of mem0 in a database."""
    os.environ |= {"MEM0_DIR": folder, "MEM0_TELEMETRY": "False", "OPENAI_API_KEY": "none"}
    from mem0 import Memory  # noqa: PLC0415 - it reads the environment when it is imported

    store = {"connection_string": url, "embedding_model_dims": dimension}
    history = str(Path(folder) / "history.db")
    return Memory.from_config({"vector_store": {"provider": "pgvector", "config": store}, "history_db_path": history})


def main() -> None:
    """Measure and print."""
    url, task, vectors = sys.argv[1], json.loads(Path(sys.argv[2]).read_text()), np.load(sys.argv[3])
    adds, searches, found = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        memory = opened(url, vectors.shape[1], folder)
        memory.embedding_model = Table(task["texts"], vectors)
        for name, turns, _ in task["conversations"]:
            for turn, text in turns:
                begin = time.perf_counter()
                memory.add([{"role": "user", "content": text}], user_id=name, metadata={"turn": turn}, infer=False)
                adds.append(time.perf_counter() - begin)
        for name, _, questions in task["conversations"]:
            for question, gold in questions:
                begin = time.perf_counter()
                answer = memory.search(question, top_k=WANTED, filters={"user_id": name}, threshold=0.0)
                searches.append(time.perf_counter() - begin)
                ranked = {one["metadata"]["turn"] for one in answer["results"]}
                found.append(len(ranked & set(gold)) / len(gold))
    medians = {"add": 1000 * statistics.median(adds), "search": 1000 * statistics.median(searches)}
    print(json.dumps(medians | {"recall": statistics.fmean(found)}))


if __name__ == "__main__":
    main()
