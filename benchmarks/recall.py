"""How long a recall takes besides the query's embedding: `python benchmarks/recall.py 10000.npz 100000.npz`.

The memory is built in a temporary folder. Questions are some words of a text, and their vectors that text's with noise.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from synthetic import Synthetic, median_ms

from neurogated import MemoryConfig
from neurogated.retrieval.kernel_generator import KernelGenerator
from neurogated.retrieval.neuro_retriever import NeuroRetriever
from neurogated.retrieval.question_kinds import OfflineQuestionJudge
from neurogated.storage.sqlite_store import SqliteStore

QUESTIONS = 160
BATCH = 32
WORDS = 10
NOISE = 0.03
DIMENSION = 384


class GivenVectors:
    """An embedder that knows the vectors of some texts, and makes any up for the others."""

    name = "given"
    dimension = DIMENSION

    def __init__(self) -> None:
        self.known: dict[str, NDArray[np.float32]] = {}
        self._rng = np.random.default_rng(1)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) vectors of unit length."""
        return np.stack([self.known[text] if text in self.known else self._any() for text in texts])

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) vectors of unit length."""
        return self.embed_queries(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words of each text."""
        return [len(text.split()) for text in texts]

    def close(self) -> None:
        """Release nothing."""

    def _any(self) -> NDArray[np.float32]:
        vector = self._rng.standard_normal(DIMENSION, np.float32)
        return vector / np.linalg.norm(vector)


def questions(data: Synthetic, embedder: GivenVectors) -> list[str]:
    """Return questions, their vectors noted in `embedder`."""
    rng = np.random.default_rng(2)
    for number in rng.integers(len(data), size=QUESTIONS).tolist():
        words = rng.choice(data.words[number], WORDS, replace=False).tolist()
        vector = data.vectors[number] + NOISE * rng.standard_normal(DIMENSION, np.float32)
        text = f"what about {' '.join(f'w{word}' for word in words)}?"
        embedder.known[text] = vector / np.linalg.norm(vector)
    return list(embedder.known)


def measure(data: Synthetic, folder: Path) -> None:
    """Print the table of one size."""
    embedder, config = GivenVectors(), MemoryConfig()
    with SqliteStore.open(folder / f"{len(data)}.db") as store:
        data.fill(store)
        kernels = KernelGenerator(OfflineQuestionJudge(embedder), config)
        retriever = NeuroRetriever(store, config, embedder=embedder, kernel_source=kernels)
        asked = questions(data, embedder)
        begin = time.perf_counter()
        retriever.recall(asked[0])
        first = time.perf_counter() - begin
        recalls = [retriever.recall(question) for question in asked]
        view = store.view()
        vector = median_ms([partial(store.nearest, embedder.known[q], config.CANDIDATES, view) for q in asked])
        words = median_ms([partial(store.keyword_search, q, config.CANDIDATES, view) for q in asked])
        whole = median_ms([partial(retriever.recall, question) for question in asked])
        batches = [asked[begin : begin + BATCH] for begin in range(0, QUESTIONS, BATCH)]
        alone = median_ms([partial(list, map(retriever.recall, batch)) for batch in batches])
        together = median_ms([partial(retriever.recall_batch, batch) for batch in batches])
    print(f"{len(data)} nodes; the first recall, with learning of kinds and making of the text index: {first:.1f} s")
    print(f"  recall besides embedding      {whole:8.2f} ms")
    for stage in ("kernel", "search", "activate", "rank"):
        print(f"    {stage:<27} {1000 * statistics.median(recall.seconds[stage] for recall in recalls):8.2f} ms")
    print(f"  of it vector search           {vector:8.2f} ms")
    print(f"  of it keyword search          {words:8.2f} ms")
    print(f"  all else                      {whole - vector - words:8.2f} ms")
    print(f"  {BATCH} recalls one by one       {alone:8.2f} ms")
    print(f"  {BATCH} recalls as a batch       {together:8.2f} ms {alone / together:6.2f}×", flush=True)


def main() -> None:
    """Measure and print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="synthetic memories, as .npz")
    for path in parser.parse_args().files:
        with tempfile.TemporaryDirectory() as folder:
            measure(Synthetic(path), Path(folder))


if __name__ == "__main__":
    main()
