"""The cost of energy in a recall, and the time to read all energies: `python -m benchmarks.energy --nodes 1000000`.

Each question is asked with every setting in turn, in another order each time. The vectors are short, so a recall is
quicker than with a real model, and the share of energy is larger.
"""

from __future__ import annotations

import argparse
import statistics
import time
from datetime import timedelta
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchmarks.many_users import sample_text
from neurogated import EdgeType, GraphDelta, GraphStore, MemoryConfig, MemoryEdge, MemoryNode, NeuroRetriever
from neurogated.core.clock import to_micros, utc_now
from neurogated.core.energy import EnergyLaw
from neurogated.progress import show_progress
from neurogated.retrieval.kernel_generator import UniformKernelSource

DIMENSION = 32
AT_ONCE = 5_000
DORMANT_SHARE = 0.5
WARM_UP = 20


class Directions:
    """An embedder whose vectors are drawn from the text's hash."""

    name, dimension = "directions", DIMENSION

    def embed_queries(self, texts: list[str]) -> NDArray[np.float32]:
        """Return (n, 32) unit vectors."""
        drawn = [np.random.default_rng(abs(hash(text))).standard_normal(DIMENSION, np.float32) for text in texts]
        return np.stack([vector / np.linalg.norm(vector) for vector in drawn])

    embed_documents = embed_queries

    def count_tokens(self, texts: list[str]) -> list[int]:
        """Return the number of words of each text."""
        return [len(text.split()) for text in texts]

    def close(self) -> None:
        """Do nothing: no resource is open."""


def filled(nodes: int, random: np.random.Generator) -> GraphStore:
    """Return a chain of memories that are 60 days old. Half of them have so little energy that they may be dormant."""
    store, then, embedder = GraphStore(), utc_now() - timedelta(days=60), Directions()
    store.bind_embedder(embedder.name, DIMENSION)
    for begin in show_progress(range(0, nodes, AT_ONCE), "building", "delta", progress=None):
        names = [f"n{number}" for number in range(begin, min(nodes, begin + AT_ONCE))]
        vectors = random.standard_normal((len(names), DIMENSION), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        energies = np.where(random.random(len(names)) < DORMANT_SHARE, 0.05, random.uniform(0.2, 1.0, len(names)))
        put = tuple(
            MemoryNode(name, sample_text(random), vector, energy, then, created_at=then, importance=0.4)
            for name, vector, energy in zip(names, vectors, energies.tolist(), strict=True)
        )
        edges = tuple(MemoryEdge(one, other, EdgeType.SEQ, created_at=then) for one, other in pairwise(names))
        store.apply(GraphDelta(nodes=put, edges=edges, at=then))
    return store


def main() -> None:
    """Build the memory, ask, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    store = filled(arguments.nodes, random)
    never = {"metabolism.dormant_importance": 0.0}
    settings: dict[str, dict[str, object]] = {
        "energy_weight 0, no dormancy": {**never, "retrieval.energy_weight": 0.0},
        "energy_weight 0.2, no dormancy": {**never, "retrieval.energy_weight": 0.2},
        "energy_weight 0.2, half of the memories dormant": {"retrieval.energy_weight": 0.2},
    }
    retrievers = {
        name: NeuroRetriever(
            store, MemoryConfig().replace(**changes), embedder=Directions(), kernel_source=UniformKernelSource()
        )
        for name, changes in settings.items()
    }
    seconds: dict[str, list[float]] = {name: [] for name in settings}
    for number in range(arguments.questions + WARM_UP):
        question = " ".join(sample_text(random).split()[:10])
        for name in random.permutation(list(settings)).tolist():
            begin = time.perf_counter()
            retrievers[name].recall(question)
            if number >= WARM_UP:
                seconds[name].append(time.perf_counter() - begin)
    plain = seconds["energy_weight 0, no dormancy"]
    for name, found in seconds.items():
        ratio = statistics.median(one / other for one, other in zip(found, plain, strict=True))
        print(f"{name}: median {1000 * statistics.median(found):.2f} ms, least {1000 * min(found):.2f}, ×{ratio:.3f}")
    view, law = store.view(), EnergyLaw(MemoryConfig().metabolism)
    rows = view.live_nodes()
    begin = time.perf_counter()
    energies = law.energy(view, rows, to_micros(utc_now()))
    print(f"{energies.size:,} energies: {1000 * (time.perf_counter() - begin):.0f} ms")


if __name__ == "__main__":
    main()
