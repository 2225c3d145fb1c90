"""Search in PostgreSQL, in graphs of several sizes with generated vectors and a word that all memories have.

python -m benchmarks.postgres_search --nodes 100000
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from neurogated import ANY_USER, EdgeType, GraphDelta, MemoryEdge, MemoryNode
from neurogated.core.clock import utc_now
from neurogated.core.filters import Filter
from neurogated.core.scope import ScopeFilter
from neurogated.storage.log.postgres.search import Question, by_words, nearest
from neurogated.storage.log.postgres.search_tables import key_of
from neurogated.storage.postgres_store import PostgresStore
from tests.postgres_server import Postgres

__all__: list[str] = []

_SHARES = (0.001, 0.01, 0.1, 1.0)
_DIMENSION, _CLUSTERS, _ASKED, _WANTED, _WORDS, _AT_ONCE = 384, 200, 50, 10, 20_000, 1000
_ANYONE = Filter(scope=ScopeFilter(ANY_USER))

Vectors = NDArray[np.float32]


def main() -> None:
    """Fill one graph of each size, and search them in turn."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    nodes = parser.parse_args().nodes
    random = np.random.default_rng(0)
    centres = random.normal(size=(_CLUSTERS, _DIMENSION))
    with tempfile.TemporaryDirectory(prefix="postgres") as data:
        server = Postgres(Path(data))
        url = server.database()
        url += ("&" if "?" in url else "?") + "search=database"
        with PostgresStore.open(url) as store:
            filled = {}
            for share in _SHARES:
                vectors = _vectors(random, centres, round(share * nodes))
                begin = time.perf_counter()
                _fill(store.in_namespace(f"{share:%}"), random, vectors)
                filled[f"{share:%}"] = vectors
                print(f"{share:.1%}: {len(vectors)} memories written in {time.perf_counter() - begin:.0f} s")
            store.engine.change("VACUUM ANALYZE")
        for name, vectors in filled.items():
            with PostgresStore.open(url, name, read_only=True) as store:
                _search(store, vectors, _vectors(random, centres, _ASKED))
        server.close()


def _vectors(random: np.random.Generator, centres: NDArray[np.float64], count: int) -> Vectors:
    found = centres[random.integers(0, len(centres), count)] + random.normal(size=(count, _DIMENSION))
    vectors: Vectors = (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float32)
    return vectors


def _fill(store: PostgresStore, random: np.random.Generator, vectors: Vectors) -> None:
    if isinstance(store, PostgresStore):
        store.make_searchable()
    now = utc_now()
    for begin in range(0, len(vectors), _AT_ONCE):
        end = min(begin + _AT_ONCE, len(vectors))
        words = (_WORDS * random.random((end - begin, 30)) ** 3).astype(int)
        texts = [" ".join(("common", *(f"w{word}" for word in row))) for row in words.tolist()]
        nodes = [MemoryNode(f"n{begin + place}", text, vectors[begin + place]) for place, text in enumerate(texts)]
        ends = zip(range(begin, end), random.integers(0, end, end - begin).tolist(), strict=True)
        edges = [MemoryEdge(f"n{one}", f"n{other}", EdgeType.SIM, 0.7, now) for one, other in ends if one != other]
        store.apply(GraphDelta(nodes=nodes, edges=edges))


def _search(store: PostgresStore, vectors: Vectors, asked: Vectors) -> None:
    """Print what searches find, and how long they take."""
    question = Question(store.graph.log.namespace, None, _WANTED, 0)  # type: ignore[attr-defined]
    found, times = [], {"vectors": [], "words": [], "neighbourhood": []}
    for vector in asked:
        calls = {
            "vectors": lambda vector=vector: store.engine.server.read(lambda ask: nearest(ask, question, vector)),
            "words": lambda: store.engine.server.read(lambda ask: by_words(ask, question, "common w19 w1234 w15000")),
            "neighbourhood": lambda vector=vector: store.neighbourhood(["common w1234"], [vector], _ANYONE, _WANTED),
        }
        for name, call in calls.items():
            begin, used = time.perf_counter(), time.process_time()
            answer = call()
            times[name].append((1000 * (time.perf_counter() - begin), 1000 * (time.process_time() - used)))
            if name == "vectors":
                found.append(answer)
    shares, counts = [], []
    for vector, keys in zip(asked, found, strict=True):
        best = np.argsort(-(vectors @ vector))[:_WANTED]
        shares.append(len({key_of(f"n{place}") for place in best.tolist()} & set(keys)) / _WANTED)
        counts.append(len(keys))
    shown = ", ".join(
        f"{name} {statistics.median(wall for wall, _ in each):.1f} ms ({statistics.median(cpu for _, cpu in each):.1f} "
        "of this process)"
        for name, each in times.items()
    )
    print(f"{store.graph.name}: {min(counts)} rows, recall@{_WANTED} {np.mean(shares):.3f}; {shown}")


if __name__ == "__main__":
    main()
