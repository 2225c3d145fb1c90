"""A question to a `Recall`: kernel, anchors, activation, ranking."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Embedder, GraphStorePort, KernelSource
from neurogated.core.trace import PathStep, Recall, RecalledMemory
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.retrieval.spreading_activation import Activation, Gate, SpreadingActivation

__all__ = ["NeuroRetriever"]


@dataclass(frozen=True, slots=True)
class _Ranked:
    """A memory before its text is fetched."""

    id: str
    score: float
    similarity: float
    energy: float
    path: tuple[PathStep, ...]


class NeuroRetriever:
    """Retrieves by spreading activation. It only reads: use is counted by whoever takes the recall's `mark`."""

    def __init__(
        self, store: GraphStorePort, config: MemoryConfig, *, embedder: Embedder, kernel_source: KernelSource
    ) -> None:
        self._store = store
        self._config = config
        self._embedder = embedder
        self._kernels = kernel_source
        self._activation = SpreadingActivation(config)
        self._classic = config.ACTIVATION == "classic"

    def recall(self, query: str, *, top_n: int | None = None) -> Recall:
        """Return the memories that `query` brings up.

        Args:
            query: a question or any text.
            top_n: how many memories; `TOP_N_RETRIEVAL` when left out. Fewer come only where there are fewer.

        Raises:
            InputError: the query is blank or `top_n` is less than 1.
        """
        return self.recall_batch([query], top_n=top_n)[0]

    def recall_batch(self, queries: Sequence[str], *, top_n: int | None = None) -> list[Recall]:
        """Return a recall for each query; they are embedded together. See `recall`."""
        if any(not query.strip() for query in queries):
            raise InputError("the query is blank; ask something")
        wanted = self._config.TOP_N_RETRIEVAL if top_n is None else top_n
        if wanted < 1:
            raise InputError(f"top_n is {top_n}, but must be at least 1")
        if not queries:
            return []
        embedding: dict[str, float] = {}
        with _timed(embedding, "embed"):
            vectors = self._embedder.embed_queries(list(queries))
        share = embedding["embed"] / len(queries)
        return [self._recall(query, vector, wanted, share) for query, vector in zip(queries, vectors, strict=True)]

    def _recall(self, query: str, vector: NDArray[np.float32], wanted: int, embedding_seconds: float) -> Recall:
        seconds = {"embed": embedding_seconds}
        with _timed(seconds, "kernel"):
            kernel = self._kernels.generate(query, vector)
        with _timed(seconds, "search"):
            nearest = self._store.nearest(vector, max(wanted, self._config.TOP_K_ANCHORS))
            anchors = nearest[: self._config.TOP_K_ANCHORS]
        with _timed(seconds, "activate"):
            view = self._store.view()
            gate = None if self._classic else self._gate(vector, view)
            activation = self._activation.spread(view, dict(anchors), kernel, gate)
        with _timed(seconds, "rank"):
            rank = self._rank_by_energy if self._classic else self._rank_by_score
            ranked = rank(vector, activation, dict(nearest), wanted)
            memories = self._memories(ranked)
        return Recall(
            query,
            memories,
            kernel,
            tuple(anchors),
            self._config.ACTIVATION,
            seconds=MappingProxyType(seconds),
            notes=(kernel.note,) if kernel.note else (),
        )

    def _gate(self, vector: NDArray[np.float32], view: GraphView) -> Gate:
        """Let energy into a node by its similarity to the question, so that it goes where the question points."""
        return lambda rows: np.maximum(0.0, self._store.similarities(vector, view, rows))

    def _rank_by_energy(
        self, vector: NDArray[np.float32], activation: Activation, nearest: dict[str, float], wanted: int
    ) -> list[_Ranked]:
        """Rank active nodes by energy, ties by id; where they run out, go on by similarity."""
        rows, energies = activation.total
        ids = [activation.view.ids[row] for row in rows.tolist()]
        order = sorted(range(len(ids)), key=lambda i: (-energies[i], ids[i]))[:wanted]
        similarities = self._store.similarities(vector, activation.view, rows[order]).tolist()
        ranked = [
            _Ranked(ids[i], float(energies[i]), similarity, float(energies[i]), activation.path(int(rows[i])))
            for i, similarity in zip(order, similarities, strict=True)
        ]
        active = set(ids)
        fill = [(node_id, cosine) for node_id, cosine in nearest.items() if node_id not in active]
        ranked += [_Ranked(node_id, 0.0, cosine, 0.0, ()) for node_id, cosine in fill]
        return ranked[:wanted]

    def _rank_by_score(
        self, vector: NDArray[np.float32], activation: Activation, nearest: dict[str, float], wanted: int
    ) -> list[_Ranked]:
        """Rank by Score = SIMILARITY_WEIGHT x Similarity + ENERGY_WEIGHT x Energy that spread, ties by id.

        A node that is neither active nor among the nearest cannot be among the best: its score is its similarity.
        """
        view, (rows, energies) = activation.view, activation.spread
        reached = [view.ids[row] for row in rows.tolist()]
        energy = dict(zip(reached, energies.tolist(), strict=True))
        similarity = dict(zip(reached, self._store.similarities(vector, view, rows).tolist(), strict=True)) | nearest
        alpha, beta = self._config.SIMILARITY_WEIGHT, self._config.ENERGY_WEIGHT
        scores = {node_id: alpha * cosine + beta * energy.get(node_id, 0.0) for node_id, cosine in similarity.items()}
        best = sorted(scores, key=lambda node_id: (-scores[node_id], node_id))[:wanted]
        return [
            _Ranked(
                node_id,
                scores[node_id],
                similarity[node_id],
                energy.get(node_id, 0.0),
                activation.path(activation.view.row(node_id)),
            )
            for node_id in best
        ]

    def _memories(self, ranked: list[_Ranked]) -> tuple[RecalledMemory, ...]:
        nodes = self._store.get_nodes([item.id for item in ranked])
        return tuple(
            RecalledMemory(node, item.score, {"similarity": item.similarity, "energy": item.energy}, item.path)
            for node, item in zip(nodes, ranked, strict=True)
        )


@contextmanager
def _timed(seconds: dict[str, float], stage: str) -> Iterator[None]:
    begin = time.perf_counter()
    yield
    seconds[stage] = time.perf_counter() - begin
