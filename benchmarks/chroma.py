"""Chroma, an embedded vector database, measured alone: `python benchmarks/chroma.py VECTORS.npy FOLDER`.

Run it with a Python that has `chromadb`. It prints JSON: the seconds to build the index, and the median seconds of a
search for ten, and of an add with the search that finds it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import chromadb
import numpy as np

BATCH, QUESTIONS, PAIRS, WANTED = 2000, 200, 100, 10


def main() -> None:
    """Measure and print."""
    vectors = np.load(sys.argv[1], mmap_mode="r")
    settings = chromadb.Settings(anonymized_telemetry=False)
    collection = chromadb.PersistentClient(sys.argv[2], settings=settings).create_collection(
        "memory", metadata={"hnsw:space": "cosine"}, embedding_function=None
    )
    begin = time.perf_counter()
    for start in range(0, len(vectors), BATCH):
        part = np.array(vectors[start : start + BATCH])
        ids = [f"n{start + number}" for number in range(len(part))]
        collection.add(ids=ids, embeddings=part, documents=[f"text {name}" for name in ids])
    build = time.perf_counter() - begin
    rng = np.random.default_rng(0)
    searches, pairs = [], []
    for number in range(QUESTIONS + PAIRS):
        vector = np.array(vectors[rng.integers(len(vectors))]) + 0.02 * rng.standard_normal(
            vectors.shape[1], np.float32
        )
        begin = time.perf_counter()
        if number >= QUESTIONS:
            collection.add(ids=[f"new{number}"], embeddings=[vector], documents=["new"])
        found = collection.query(query_embeddings=[vector], n_results=min(WANTED, len(vectors)))["ids"][0]
        (pairs if number >= QUESTIONS else searches).append(time.perf_counter() - begin)
        assert number < QUESTIONS or f"new{number}" in found
    print(json.dumps({"build": build, "search": statistics.median(searches), "pair": statistics.median(pairs)}))


if __name__ == "__main__":
    main()
