"""The time of a recall, the embedding of the question included: `python -m benchmarks.end_to_end --nodes 100000`.

The memories have words and vectors drawn at random, SEQ edges, and different energies; half of them may be dormant. The
questions are embedded by the bundled model. Every recall enters the working canvas and counts accesses.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import defaultdict
from datetime import timedelta
from itertools import pairwise

import numpy as np

from benchmarks.many_users import sample_text
from neurogated import EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory, compose
from neurogated.core.clock import utc_now
from neurogated.core.ports import GraphStorePort
from neurogated.progress import show_progress

AT_ONCE = 5_000
WARM_UP = 30
QUESTION_WORDS = 10


def fill(store: GraphStorePort, nodes: int, dimension: int, random: np.random.Generator) -> None:
    """Add memories that are 60 days old. Half of them have so little energy that they may be dormant."""
    then = utc_now() - timedelta(days=60)
    for begin in show_progress(range(0, nodes, AT_ONCE), "building", "delta", progress=None):
        names = [f"n{number}" for number in range(begin, min(nodes, begin + AT_ONCE))]
        vectors = random.standard_normal((len(names), dimension), np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        energies = np.where(random.random(len(names)) < 0.5, 0.05, random.uniform(0.2, 1.0, len(names)))
        put = tuple(
            MemoryNode(name, sample_text(random), vector, energy, then, created_at=then, importance=0.4)
            for name, vector, energy in zip(names, vectors, energies.tolist(), strict=True)
        )
        edges = tuple(MemoryEdge(one, other, EdgeType.SEQ, created_at=then) for one, other in pairwise(names))
        store.apply(GraphDelta(nodes=put, edges=edges, at=then))


def main() -> None:
    """Build the memory, ask, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--canvas_weight", type=float, default=0.0)
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    config = MemoryConfig(storage="memory").replace(**{"retrieval.canvas_weight": arguments.canvas_weight})
    parts = compose.build(config)
    fill(parts.store, arguments.nodes, parts.embedder.dimension, random)
    seconds, busy, stages = [], [], defaultdict[str, list[float]](list)
    with NeuroGraphMemory(config, parts=parts) as memory:
        for number in range(arguments.questions + WARM_UP):
            question = f"What is {' '.join(sample_text(random).split()[:QUESTION_WORDS])}?"
            begin, began = time.perf_counter(), time.process_time()
            recall = memory.recall(question, session_id=f"session {number % 10}")
            if number >= WARM_UP:
                seconds.append(1000 * (time.perf_counter() - begin))
                busy.append(1000 * (time.process_time() - began))
                for stage, took in recall.seconds.items():
                    stages[stage].append(1000 * took)
        print(f"{arguments.nodes:,} memories, dormant {memory.energy.tiers().counts['dormant']:,}")
    for what, found in (("wall clock", seconds), ("processor", busy), *stages.items()):
        high = statistics.quantiles(found, n=20)[-1]
        print(f"{what:12s} median {statistics.median(found):6.2f} ms, 95 % {high:6.2f} ms, least {min(found):6.2f} ms")


if __name__ == "__main__":
    main()
