"""Memories of synthetic data, and an embedder with given vectors, so that embedding takes no time."""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.synthetic import Synthetic
from neurogated import EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.core.clock import utc_now
from neurogated.core.ports import GraphStorePort
from neurogated.retrieval.kernel_generator import KernelGenerator, OfflineQuestionJudge
from neurogated.session.runtime import Parts
from neurogated.storage.log.sqlite.schema import FORMAT_VERSION
from neurogated.storage.registry import open_store
from neurogated.text.keywords import count_words

__all__ = ["EDGE_TYPES", "GivenVectors", "built", "bytes_in", "copied", "open_memory"]

EDGE_TYPES = (EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE, EdgeType.ASSOC)
DELTA_NODES = 2000
DIMENSION = 384


class GivenVectors:
    """Returns the given vector of each text, and a vector derived from the text for all others."""

    name = f"given-{DIMENSION}"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._vectors: dict[str, NDArray[np.float32]] = {}

    def give(self, text: str, vector: NDArray[np.float32]) -> None:
        """Set the vector of a text."""
        self._vectors[text] = vector

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 384) unit vectors."""
        return np.stack([vector if (vector := self._vectors.get(text)) is not None else _own(text) for text in texts])

    embed_queries = embed_documents

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words of each text."""
        return count_words(texts)

    def close(self) -> None:
        """Do nothing: no resource is open."""


def _own(text: str) -> NDArray[np.float32]:
    seed = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")
    vector = np.random.default_rng(seed).standard_normal(DIMENSION, np.float32)
    return vector / np.linalg.norm(vector)


def open_memory(folder: Path, embedder: GivenVectors, **settings: object) -> NeuroGraphMemory:
    """Open or create the memory in `folder` with the default parts except the embedder."""
    config = MemoryConfig(save_dir=str(folder)).replace(**settings)
    kernels = KernelGenerator(config, judge=OfflineQuestionJudge(embedder))
    return NeuroGraphMemory(config, parts=Parts(open_store(config, utc_now), embedder, kernels))


def built(cache: Path, synthetic: Synthetic, **settings: object) -> Path:
    """Return the folder of a memory of the data, built if it does not exist; `build.json` has the `seconds`.

    After it is built, it is opened and closed once, so that its derived files are on disk.
    """
    variant = "".join(f"-{value}" for value in settings.values())
    folder = cache / "memories" / f"{synthetic.nodes}-format{FORMAT_VERSION}{variant}"
    note = folder / "build.json"
    if not note.exists():
        shutil.rmtree(folder, ignore_errors=True)
        begin = time.perf_counter()
        with open_memory(folder, GivenVectors(), **settings) as memory:
            _fill(memory.store, synthetic)
        note.write_text(json.dumps({"seconds": time.perf_counter() - begin}), encoding="utf-8")
    with open_memory(folder, GivenVectors(), **settings) as memory:
        memory.learning.freeze(lasting=False)
        memory.recall("What is w1?")
    return folder


def _fill(store: GraphStorePort, synthetic: Synthetic) -> None:
    store.bind_embedder(GivenVectors.name, DIMENSION)
    edges = np.asarray(synthetic.edges)
    newer, older = edges.max(axis=1), edges.min(axis=1)
    # An edge is written with the later of its nodes.
    order = np.argsort(newer, kind="stable")
    for begin in range(0, synthetic.nodes, DELTA_NODES):
        end = min(begin + DELTA_NODES, synthetic.nodes)
        now = utc_now()
        nodes = tuple(
            MemoryNode(f"n{node}", synthetic.text(node), synthetic.vectors[node], created_at=now, last_accessed=now)
            for node in range(begin, end)
        )
        rows = order[slice(*np.searchsorted(newer, (begin, end), sorter=order))].tolist()
        new_edges = tuple(
            MemoryEdge(
                f"n{newer[row]}",
                f"n{older[row]}",
                EDGE_TYPES[synthetic.types[row]],
                float(synthetic.weights[row]),
                created_at=now,
            )
            for row in rows
        )
        store.apply(GraphDelta(nodes=nodes, edges=new_edges, reason="build", at=now))


@contextmanager
def copied(folder: Path, to: Path) -> Iterator[Path]:
    """Copy a memory that may change, and delete the copy afterwards."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(folder, to)
    yield to
    shutil.rmtree(to)


def bytes_in(folder: Path) -> int:
    """Return the bytes of the files of a memory."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != "build.json")
