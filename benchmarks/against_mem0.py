"""A memory in PostgreSQL beside mem0 in the same server, with the same embedder and no language model.

python -m benchmarks.against_mem0 --python MEM0_PYTHON --data FOLDER --name locomo_conv0-4

The times exclude embedding: mem0 looks its vectors up, ours are cached, and a recall says how long it embedded.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.datasets import load_locomo
from neurogated.evaluation.gold import Collection, Dataset, recall_at
from neurogated.evaluation.runner import rank
from tests.postgres_server import Postgres

__all__: list[str] = []

_WANTED = 10


def main() -> None:
    """Measure both, and print a line for each and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="the Python that has mem0ai")
    parser.add_argument("--data", type=Path, required=True, help="the folder of the data set")
    parser.add_argument("--name", default="locomo_conv0-4")
    parser.add_argument("--conversations", type=int, default=5)
    arguments = parser.parse_args()
    dataset = load_locomo(arguments.name, arguments.data)
    dataset = replace(dataset, collections=dataset.collections[: arguments.conversations])
    with tempfile.TemporaryDirectory(prefix="postgres") as data, tempfile.TemporaryDirectory() as folder:
        server = Postgres(Path(data))
        config = MemoryConfig(storage=server.database(), save_dir=folder)
        ours = _measured(dataset, config)
        theirs = _mem0(dataset, config, arguments.python, server.database(), Path(folder))
        server.close()
    for name, found in (("neurogated", ours), ("mem0", theirs)):
        print(f"{name}: add {found['add']:.1f} ms, search {found['search']:.1f} ms, recall@10 {found['recall']:.3f}")
    print(", ".join(f"{what} {theirs[what] / ours[what]:.1f} times as fast" for what in ("add", "search")))


def _texts(part: Collection) -> list[tuple[str, str]]:
    """Return the names and texts of the turns of a conversation."""
    return [
        (str(document.id), f"{passage.speaker}: {passage.text}")
        for document in part.documents
        for passage in document.passages
    ]


def _measured(dataset: Dataset, config: MemoryConfig) -> dict[str, float]:
    adds, searches, found = [], [], []
    with NeuroGraphMemory(config) as memory:
        memories = [memory.in_namespace(part.namespace or "") for part in dataset.collections]
        with NeuroGraphMemory(config.replace(storage="memory")) as rehearsal:
            # So the cache has all vectors.
            for part in dataset.collections:
                rehearsal.in_namespace(part.namespace or "").add_documents(part.documents, progress=False)
        for part, one in zip(dataset.collections, memories, strict=True):
            for document in part.documents:
                begin = time.perf_counter()
                one.add_documents([document], progress=False)
                adds.append(time.perf_counter() - begin)
        for part, one in zip(dataset.collections, memories, strict=True):
            for question in part.questions:
                begin = time.perf_counter()
                recall = one.recall(question.text, top_n=_WANTED)
                searches.append(time.perf_counter() - begin - recall.seconds["embed"])
                found.append(recall_at(rank(one, question.text)[0], question.gold, _WANTED))
    medians = {"add": 1000 * statistics.median(adds), "search": 1000 * statistics.median(searches)}
    return medians | {"recall": statistics.fmean(found)}


def _mem0(dataset: Dataset, config: MemoryConfig, python: str, url: str, folder: Path) -> dict[str, float]:
    conversations = [
        (part.namespace, _texts(part), [(one.text, sorted(map(str, one.gold))) for one in part.questions])
        for part in dataset.collections
    ]
    turns = list(dict.fromkeys(text for _, texts, _ in conversations for _, text in texts))
    asked = list(dict.fromkeys(text for *_, questions in conversations for text, _ in questions))
    with NeuroGraphMemory(config.replace(storage="memory")) as memory:
        embedder = memory.session.parts.embedder
        vectors = np.concatenate((embedder.embed_documents(turns), embedder.embed_queries(asked)))
    task, file = folder / "task.json", folder / "vectors.npy"
    task.write_text(json.dumps({"texts": [*turns, *asked], "conversations": conversations}))
    np.save(file, vectors)
    script = Path(__file__).with_name("mem0_alone.py")
    done = subprocess.run(
        [python, str(script), url, str(task), str(file)], stdout=subprocess.PIPE, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
