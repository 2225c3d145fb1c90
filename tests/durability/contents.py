"""A memory file with every kind of content, and the whole content of a file for comparisons."""

import contextlib
import os
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated import Access, Decay, EdgeKey, EdgeType, GraphDelta, MemoryEdge, MemoryNode, WeightChange
from neurogated.core.delta import PendingTask
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock

__all__ = ["environment", "everything", "fill", "fill_disk", "graph_of", "killed_copy"]

_WORDS = ["apple", "river", "stone", "cloud", "lamp", "horse", "wheel", "paper"]


def _vector(chance: np.random.Generator) -> NDArray[np.float32]:
    return chance.standard_normal(1100, dtype=np.float32)


def fill(store: GraphStore, clock: ManualClock, *, nodes: int = 24) -> None:
    """Write a history with every kind of change, in two namespaces, with texts and vectors of several pages."""
    store.bind_embedder("model", 1100)
    chance = np.random.default_rng(5)
    names = [f"n{place}" for place in range(nodes)]
    for place, name in enumerate(names):
        text = " ".join(_WORDS[(place * step) % len(_WORDS)] for step in range(1, 900 if place % 5 == 0 else 30))
        node = MemoryNode(id=name, content=f"{name} {text}", embedding=_vector(chance), created_at=clock())
        edges = [MemoryEdge(name, names[place - 1], EdgeType.SEQ, 0.5 + place / 64)] if place else []
        task = PendingTask("cause", (name,))
        store.apply(GraphDelta(nodes=(node,), edges=tuple(edges), queued=(task,), at=clock()))
        clock.advance(timedelta(hours=1))
    key = EdgeKey("n2", "n1", EdgeType.SEQ)
    store.apply(GraphDelta(weights=(WeightChange(key, 0.9),), at=clock()))
    store.apply(GraphDelta(operators=(Decay(0.7, clock(), 0.4),), at=clock()))
    store.apply(GraphDelta(touch=Access.of(frozenset({"n3"}), frozenset({key})), at=clock()))
    store.remove_node("n4")
    expiring = MemoryNode(id="n6", content="n6 said afresh", embedding=_vector(chance),
                          metadata={"timestamp": "2024-05-01"}, valid_from=clock(),
                          expires_at=clock() + timedelta(days=900))  # fmt: skip
    store.add_node(expiring)
    store.in_namespace("other").add_node(MemoryNode(id="o", content="elsewhere", embedding=_vector(chance)))


def graph_of(store: GraphStore) -> tuple[Any, ...]:
    """Return all readable state of one graph: nodes with vectors, edges, and search results."""
    seen = store.snapshot()
    found = [seen.keyword_search("apple elsewhere afresh stone", 8)]
    found += seen.nearest([np.ones(1100, dtype=np.float32)], 5) if store.graph.index.vectors.size else []
    named = [(seen.view.names(rows), scores.tolist()) for rows, scores in found]
    return seen.view.sequence, list(store.all_nodes()), list(store.all_edges()), named


def everything(store: SqliteStore) -> list[Any]:
    """Return all present and past state of a memory, namespace by namespace."""
    said: list[Any] = [store.embedder]
    for name in store.namespaces():
        graph = store.in_namespace(name)
        said += [name, graph.pending(), graph.history(), [repr(entry) for entry in graph.journal()], graph_of(graph)]
        last = graph.view().sequence
        said += [graph_of(graph.as_of(sequence)) for sequence in (0, last // 3, last // 2, last)]
    return said


def killed_copy(path: Path, target: Path) -> Path:
    """Copy the files of an open memory, as a kill would leave them, and return the path of the copy."""
    target.mkdir(parents=True)
    for file in path.parent.glob("memory.*"):
        # Another thread may be writing or removing the checkpoint.
        with contextlib.suppress(FileNotFoundError, shutil.Error):
            if file.is_dir():
                shutil.copytree(file, target / file.name)
            else:
                shutil.copyfile(file, target / file.name)
    return target / path.name


def environment() -> dict[str, str]:
    """Return the environment of a process that imports these modules."""
    root = Path(__file__).parents[2]
    return {**os.environ, "PYTHONPATH": os.pathsep.join((str(root / "src"), str(root)))}


def fill_disk(folder: Path) -> Path:
    """Fill the disk of a folder, and return the file to delete for room."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file, contextlib.suppress(OSError):
        while file.write(bytes(4096)):
            pass
    return filler
