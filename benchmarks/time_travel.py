"""The time of a question about the past: `python benchmarks/time_travel.py --nodes 100000`.

Builds a memory of synthetic texts, vectors and edges in a temporary folder. Changes it by feedback, updates, removals
and maintenance. Then asks questions as of moments before, between and after these changes.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import numpy as np

from neurogated import Decay, EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, WeightChange
from neurogated.core.clock import utc_now
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.retrieval.neuro_retriever import NeuroRetriever
from neurogated.storage.sqlite_store import SqliteStore

BATCH = 1000
LINKS = 5
WORDS = 20
VOCABULARY = 50_000
TYPES = (EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE, EdgeType.MENTION, EdgeType.TERM)
CHANGES = 100
QUESTIONS = 20


def build(store: SqliteStore, nodes: int, rng: np.random.Generator) -> None:
    """Fill a store with nodes of random words that link to earlier ones."""
    embedder, now = HashEmbedder(), utc_now()
    for begin in range(0, nodes, BATCH):
        numbers = range(begin, min(begin + BATCH, nodes))
        texts = [" ".join(f"w{word}" for word in rng.zipf(1.2, WORDS) % VOCABULARY) for _ in numbers]
        vectors = embedder.embed_documents(texts)
        new = tuple(
            MemoryNode(f"n{n}", text, embedding=vector, created_at=now, last_accessed=now)
            for n, text, vector in zip(numbers, texts, vectors, strict=True)
        )
        edges = {(edge.source_id, edge.target_id, edge.type): edge for n in numbers if n for edge in _links(n, rng)}
        store.apply(GraphDelta(nodes=new, edges=tuple(edges.values()), reason="build"))


def _links(number: int, rng: np.random.Generator) -> Iterator[MemoryEdge]:
    for kind, target in zip(TYPES, rng.integers(number, size=LINKS), strict=True):
        yield MemoryEdge(f"n{number}", f"n{target}", kind, float(rng.uniform(0.1, 1)))


def change(store: SqliteStore, rng: np.random.Generator) -> None:
    """Update, remove, strengthen and decay a few nodes and edges."""
    view = store.view()
    for _ in range(CHANGES):
        names = [view.ids[row] for row in rng.choice(view.live_nodes(), 20, replace=False)]
        texts = {name: f"updated {name} w{number}" for number, name in enumerate(names[:10])}
        vectors = HashEmbedder().embed_documents(list(texts.values()))
        updated = tuple(
            MemoryNode(name, text, embedding=vector)
            for (name, text), vector in zip(texts.items(), vectors, strict=True)
        )
        removed = tuple(names[10:12])
        store.apply(GraphDelta(nodes=updated, removed_nodes=removed, reason="change"))
        view = store.view()
        plastic = [row for row in rng.choice(view.live_edges(), 40, replace=False) if view.edge_key(row).type.plastic]
        store.apply(
            GraphDelta(weights=tuple(WeightChange(view.edge_key(row), 0.9) for row in plastic), reason="feedback")
        )
    store.apply(GraphDelta(operators=(Decay(0.99, utc_now() + timedelta(days=1), 0.1),), reason="maintenance"))


def ask(store: SqliteStore, moment: int, questions: list[str], config: MemoryConfig) -> list[float]:
    """Return the seconds of each question; each opens its own historical view."""
    retriever = NeuroRetriever(store, config, embedder=HashEmbedder(), kernel_source=UniformKernelSource())
    seconds = []
    for question in questions:
        begin = time.perf_counter()
        retriever.recall(question, as_of=moment)
        seconds.append(time.perf_counter() - begin)
    return seconds


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000, help="number of nodes (default: 100000)")
    parser.add_argument("--seed", type=int, default=0, help="of the random graph (default: 0)")
    arguments = parser.parse_args()
    rng = np.random.default_rng(arguments.seed)
    config = MemoryConfig(embedding_name="hash")
    with tempfile.TemporaryDirectory() as folder, SqliteStore.open(Path(folder) / "memory.db") as store:
        build(store, arguments.nodes, rng)
        built = store.view().sequence
        change(store, rng)
        faded = store.view().sequence
        store.add_node(MemoryNode("last", "w1 w2"))
        questions = [" ".join(f"w{word}" for word in rng.integers(1, 300, size=8)) for _ in range(QUESTIONS)]
        begin = time.perf_counter()
        store.keyword_search(questions[0], 1)
        print(f"the keyword index, made on the first question after opening: {time.perf_counter() - begin:.1f} s")
        print(f"{arguments.nodes} nodes, {store.view().live_edges().size} edges, {store.view().sequence} changes")
        for what, moment in (
            ("half of the building", built // 2),
            ("before all later changes and a round of forgetting", built),
            ("amid the changes", (built + faded) // 2),
            ("after forgetting, one change ago", faded),
        ):
            seconds = ask(store, moment, questions, config)
            print(f"{what:<55} median {statistics.median(seconds):.2f} s, worst {max(seconds):.2f} s")


if __name__ == "__main__":
    main()
