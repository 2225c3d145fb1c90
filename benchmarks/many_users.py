"""The time of one user's recall in a memory of many users, and whether a recall returns another user's memory.

python -m benchmarks.many_users --users 10000 --memories 100
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from itertools import pairwise

import numpy as np

from neurogated import (
    ANY_USER,
    EdgeType,
    GraphDelta,
    MemoryConfig,
    MemoryEdge,
    MemoryNode,
    NeuroGraphMemory,
    Recall,
    Scope,
)
from neurogated.core.clock import utc_now

__all__ = ["fill", "sample_text"]

_WORDS = 20_000
_LENGTH = 40
_ASKED = 10
_AT_ONCE = 5_000


def main() -> None:
    """Build the memory, ask as some users, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=10_000)
    parser.add_argument("--memories", type=int, default=100, help="memories of each user")
    parser.add_argument("--questions", type=int, default=200)
    arguments = parser.parse_args()
    random = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        config = MemoryConfig(save_dir=folder, embedding_name="hash")
        with NeuroGraphMemory(config) as memory:
            begin = time.perf_counter()
            fill(memory, arguments.users, arguments.memories, random)
            print(f"built in {time.perf_counter() - begin:.0f} s: {len(memory.store):,} memories")
        # Opened again, so that no background work runs beside the questions.
        with NeuroGraphMemory(config) as memory:
            _ask(memory, arguments.users, arguments.questions, random)


def fill(memory: NeuroGraphMemory, users: int, memories: int, random: np.random.Generator) -> None:
    """Give every user a chain of memories, each similar to three others of the same user."""
    now = utc_now()
    # The first text records the embedder in the memory.
    memory.add_document("A first text.", user_id="nobody in particular")
    assert memory.store.embedder is not None
    dimension = memory.store.embedder[1]
    for first in range(0, users, max(1, _AT_ONCE // memories)):
        nodes, edges = [], []
        for user in range(first, min(users, first + max(1, _AT_ONCE // memories))):
            vectors = random.normal(size=(memories, dimension)).astype(np.float32)
            vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
            names = [f"{user}-{number}" for number in range(memories)]
            scope = Scope(user_id=f"user {user}")
            nodes += [
                MemoryNode(name, sample_text(random), vector, scope=scope, last_accessed=now, created_at=now)
                for name, vector in zip(names, vectors, strict=True)
            ]
            edges += [MemoryEdge(one, other, EdgeType.SEQ, created_at=now) for one, other in pairwise(names)]
            for number in range(1, memories):
                others = random.choice(number, min(3, number), replace=False)
                edges += [
                    MemoryEdge(names[number], names[other], EdgeType.SIM, 0.5, created_at=now) for other in others
                ]
        memory.store.apply(GraphDelta(nodes=tuple(nodes), edges=tuple(edges), at=now))


def sample_text(random: np.random.Generator) -> str:
    """Return a text of words drawn by Zipf's law."""
    ranks = np.minimum(random.zipf(1.3, _LENGTH), _WORDS)
    return " ".join(f"word{rank}" for rank in ranks.tolist())


def _ask(memory: NeuroGraphMemory, users: int, questions: int, random: np.random.Generator) -> None:
    """Ask for one user and for all in turn, so that both are measured under the same load."""
    one, everybody, foreign, stages = [], [], 0, []
    for number in range(questions + _ASKED):
        question, user = " ".join(sample_text(random).split()[:_ASKED]), f"user {random.integers(users)}"
        recall, whole = memory.recall(question, user_id=user), memory.recall(question, user_id=ANY_USER)
        foreign += sum(remembered.node.scope.user_id != user for remembered in recall)
        if number >= _ASKED:
            stages.append(recall.seconds)
            one.append(_seconds(recall))
            everybody.append(_seconds(whole))
    print(
        f"recall of one user besides embedding: {1000 * statistics.median(one):.2f} ms, at best {1000 * min(one):.2f}"
    )
    for stage in stages[0]:
        print(f"  {stage}: {1000 * statistics.median(told[stage] for told in stages):.2f} ms")
    print(f"recall of all users: {1000 * statistics.median(everybody):.2f} ms, at best {1000 * min(everybody):.2f}")
    print(f"memories of other users that were recalled: {foreign}")


def _seconds(recall: Recall) -> float:
    return sum(recall.seconds.values()) - recall.seconds["embed"]


if __name__ == "__main__":
    main()
