"""Compares vector indexes: `python benchmarks/vector_search.py --nodes 100000`.

Compares approximate indexes with exact search on one set of vectors: time to build, milliseconds per single query,
recall of the exact answer, memory, and size on disk. `--vectors FILE.npy` reads vectors from a file, such as those of
real texts. Otherwise they are random, with one centre for every fifty.

`pip install usearch hnswlib` installs the other candidates.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import hnswlib
import numpy as np
from numpy.typing import NDArray
from usearch.index import Index

from neurogated.storage.index.vectors.embedding_store import EmbeddingStore

DIMENSION = 384
QUESTIONS = 200
WANTED = (10, 100)
LINKS = 16
BUILD_BREADTH = 100
BREADTH = 200
THREADS = 2

Matrix = NDArray[np.float32]
Search = Callable[[Matrix, int], NDArray[Any]]


class Candidate(NamedTuple):
    """A search that is ready."""

    search: Search
    write: Callable[[Path], object]


def drawn(nodes: int, rng: np.random.Generator) -> Matrix:
    """Return unit vectors in clusters; two vectors of a cluster have a cosine of 0.5 to 0.8."""
    centres = rng.standard_normal((max(1, nodes // 50), DIMENSION), np.float32)
    vectors = centres[rng.integers(len(centres), size=nodes)]
    vectors += 0.75 * rng.standard_normal(vectors.shape, np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def questions(vectors: Matrix, rng: np.random.Generator) -> Matrix:
    """Return vectors near some of the given ones, as questions are near passages."""
    near = vectors[rng.integers(len(vectors), size=QUESTIONS)]
    near = near + 0.5 / np.sqrt(vectors.shape[1]) * rng.standard_normal(near.shape, np.float32)
    unit: Matrix = near / np.linalg.norm(near, axis=1, keepdims=True)
    return unit


def own_index(vectors: Matrix) -> Candidate:
    """Build this library's own index."""
    store = EmbeddingStore()
    store.put(np.arange(len(vectors)), vectors)
    store.wait()

    def write(path: Path) -> None:
        path.mkdir()
        store.freeze().write(path, None)

    return Candidate(lambda query, k: store.search(query, k)[0][:k], write)


def faiss_hnsw(vectors: Matrix) -> Candidate:
    """Build FAISS's HNSW graph over 8-bit vectors."""
    index = faiss.IndexHNSWSQ(vectors.shape[1], faiss.ScalarQuantizer.QT_8bit, LINKS, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = BUILD_BREADTH
    index.train(vectors)
    index.add(vectors)
    index.hnsw.efSearch = BREADTH
    return Candidate(
        lambda query, k: index.search(query[None], k)[1][0], lambda path: faiss.write_index(index, str(path))
    )


def usearch_index(dtype: str) -> Callable[[Matrix], Candidate]:
    """Return the builder of usearch's HNSW graph."""

    def build(vectors: Matrix) -> Candidate:
        index = Index(
            ndim=vectors.shape[1],
            metric="cos",
            dtype=dtype,
            connectivity=LINKS,
            expansion_add=BUILD_BREADTH,
            expansion_search=BREADTH,
        )
        index.add(np.arange(len(vectors)), vectors, threads=THREADS)
        return Candidate(lambda query, k: index.search(query, k, threads=1).keys, lambda path: index.save(str(path)))

    return build


def hnswlib_index(vectors: Matrix) -> Candidate:
    """Build hnswlib's graph, which holds full-precision vectors."""
    index = hnswlib.Index("ip", vectors.shape[1])
    index.init_index(len(vectors), M=LINKS, ef_construction=BUILD_BREADTH)
    index.add_items(vectors, num_threads=THREADS)
    index.set_ef(BREADTH)
    return Candidate(
        lambda query, k: index.knn_query(query, k, num_threads=1)[0][0], lambda path: index.save_index(str(path))
    )


CANDIDATES: dict[str, Callable[[Matrix], Candidate]] = {
    "own": own_index,
    "FAISS HNSW, 8 bits": faiss_hnsw,
    "usearch, f16": usearch_index("f16"),
    "usearch, i8": usearch_index("i8"),
    "hnswlib": hnswlib_index,
}


def exact(vectors: Matrix, asked: Matrix) -> Iterator[NDArray[np.int64]]:
    """Yield the true answer to each question."""
    for query in asked:
        scores = vectors @ query
        best = np.argpartition(-scores, max(WANTED))[: max(WANTED)]
        yield best[np.argsort(-scores[best])]


def measure(search: Search, asked: Matrix, truth: list[NDArray[np.int64]], k: int) -> tuple[float, float]:
    """Return the median milliseconds of a search and the share of the exact answer that it finds."""
    times, shares = [], []
    for query, true in zip(asked, truth, strict=True):
        begin = time.perf_counter()
        found = search(query, k)
        times.append(time.perf_counter() - begin)
        shares.append(len(set(found.tolist()) & set(true[:k].tolist())) / min(k, len(true)))
    return 1000 * statistics.median(times), statistics.mean(shares)


def resident() -> float:
    """Return the resident memory in MiB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096 / 2**20


def disk_size(path: Path) -> float:
    """Return the MiB of a file or folder."""
    files = path.rglob("*") if path.is_dir() else [path]
    return sum(file.stat().st_size for file in files) / 2**20


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000, help="number of vectors (default: 100000)")
    parser.add_argument("--vectors", type=Path, help="file of vectors (.npy), or one with an array `vectors` (.npz)")
    parser.add_argument("--seed", type=int, default=0, help="of the random vectors (default: 0)")
    parser.add_argument("--only", nargs="*", choices=CANDIDATES, default=list(CANDIDATES), help="candidates to measure")
    arguments = parser.parse_args()
    faiss.omp_set_num_threads(THREADS)
    rng = np.random.default_rng(arguments.seed)
    loaded = np.load(arguments.vectors) if arguments.vectors else drawn(arguments.nodes, rng)
    vectors: Matrix = loaded if isinstance(loaded, np.ndarray) else loaded["vectors"]
    asked = questions(vectors, rng)
    truth = list(exact(vectors, asked))
    print(f"{len(vectors)} vectors of {vectors.shape[1]} numbers")
    print("| index | build, s | k=10, ms | found | k=100, ms | found | memory, MiB | disk, MiB |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.only:
        before, begin = resident(), time.perf_counter()
        candidate = CANDIDATES[name](vectors)
        seconds, memory = time.perf_counter() - begin, resident() - before
        (few, few_found), (many, many_found) = (measure(candidate.search, asked, truth, k) for k in WANTED)
        with tempfile.TemporaryDirectory() as folder:
            candidate.write(Path(folder) / "index")
            size = disk_size(Path(folder) / "index")
        print(
            f"| {name} | {seconds:.1f} | {few:.3f} | {few_found:.3f} | {many:.3f} | {many_found:.3f} "
            f"| {memory:.0f} | {size:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
