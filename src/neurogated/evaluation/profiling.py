"""Where recalls and indexing spend their time: stages, and functions."""

from __future__ import annotations

import cProfile
import functools
import inspect
import pstats
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.embedding.cache import CachedEmbedder
from neurogated.errors import InputError
from neurogated.ingestion import linking
from neurogated.ingestion.analysers import Analysis
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.document import Document, Passage
from neurogated.memory import NeuroGraphMemory
from neurogated.storage.registry import restore_store

__all__ = [
    "OTHER",
    "FunctionTime",
    "IndexingTimes",
    "Stage",
    "StageTimer",
    "indexed",
    "scratch_memory",
    "stored_documents",
    "stored_questions",
    "top_functions",
]

OTHER = "other"
"""The stage of all time outside the other stages."""

_SNAPSHOT = "copy.snapshot"
_FIRST_TEXT = "The model is loaded with this."


class Stage(NamedTuple):
    """A function whose time counts for a stage of indexing."""

    name: str
    owner: Any
    function: str


def _indexing_stages(store: GraphStorePort) -> list[Stage]:
    """Return the functions of each stage of indexing, in the order of the work."""
    return [
        Stage("chunk", Chunker, "split"),
        Stage("embed", CachedEmbedder, "embed_documents"),
        Stage("entities", Analysis, "find_entities"),
        Stage("causes", Analysis, "find_causes"),
        Stage("similarity", linking, "similarity_edges"),
        Stage("mentions", linking, "text_edges"),
        Stage("store", type(store), "apply"),
    ]


class StageTimer:
    """Sums the seconds that functions take; the time of a nested function counts for that function only."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = defaultdict(float)
        self._lock = threading.Lock()
        self._local = threading.local()

    @contextmanager
    def watching(self, stages: Iterable[Stage]) -> Iterator[None]:
        """Time these functions while the block runs, in all threads."""
        with ExitStack() as undo:
            for stage in stages:
                self.seconds[stage.name] += 0.0
                original = getattr(stage.owner, stage.function)
                inherited = stage.function not in vars(stage.owner)
                setattr(stage.owner, stage.function, self._timed(stage.name, original))
                if inherited:
                    undo.callback(delattr, stage.owner, stage.function)
                else:
                    undo.callback(setattr, stage.owner, stage.function, original)
            yield

    def _timed(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        # A generator runs to its end here; otherwise its time would count for the function that reads its values.
        whole = inspect.isgeneratorfunction(function)

        @functools.wraps(function)
        def timed(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the arguments and result of any function
            begin, outer = time.perf_counter(), getattr(self._local, "within", 0.0)
            self._local.within = 0.0
            try:
                returned = function(*args, **kwargs)
                return iter(list(returned)) if whole else returned
            finally:
                took = time.perf_counter() - begin
                with self._lock:
                    self.seconds[name] += took - self._local.within
                self._local.within = outer + took

        return timed


@dataclass(frozen=True, slots=True)
class IndexingTimes:
    """The times of an indexing."""

    documents: int
    nodes: int
    """How many nodes they became."""
    seconds: float
    """From the first document to the last write."""
    stages: Mapping[str, float]
    """Seconds by stage, and `other` for the rest. Stages that run in parallel sum up to more than `seconds`."""


class FunctionTime(NamedTuple):
    """A row of a profile."""

    function: str
    """Name, file and line."""
    calls: int
    own: float
    """Seconds in the function itself."""
    total: float
    """Seconds in the function and in all functions that it called."""


def stored_questions(store: GraphStorePort, count: int, length: int) -> list[str]:
    """Return the beginnings, at most `length` characters, of `count` stored texts, spread over the memory.

    Raises:
        InputError: the memory is empty.
    """
    return [node.content[:length] for node in _spread_out(store, count)]


def stored_documents(store: GraphStorePort, count: int) -> list[Document]:
    """Return `count` stored texts, spread over the memory; texts of one document become one document, in order.

    Raises:
        InputError: the memory is empty.
    """
    nodes = sorted(_spread_out(store, count), key=_origin)
    return [_document(list(group)) for _, group in groupby(nodes, key=_origin)]


def _spread_out(store: GraphStorePort, count: int) -> list[MemoryNode]:
    view = store.view()
    rows = view.live_nodes()
    if not rows.size:
        raise InputError("the memory is empty; add texts with 'index' or 'add' before you profile it")
    chosen = np.unique(np.linspace(0, rows.size - 1, min(count, rows.size)).astype(np.int64))
    return store.get_nodes([view.ids[row] for row in rows[chosen].tolist()])


def _origin(node: MemoryNode) -> str:
    return node.found.document_id or node.id


def _document(nodes: Sequence[MemoryNode]) -> Document:
    passages = tuple(Passage(node.content) for node in nodes if node.content.strip())
    return Document(passages, nodes[0].title)


@contextmanager
def scratch_memory(memory: NeuroGraphMemory, *, copy: bool) -> Iterator[NeuroGraphMemory]:
    """Open a memory in a temporary folder with the settings of `memory`, which does not change.

    Its model is loaded. Its first write, which reads the existing texts, is done.

    Args:
        memory: a memory on disk.
        copy: begin with a copy of `memory`; otherwise begin empty.

    Raises:
        StorageError: there is no room for it.
    """
    with tempfile.TemporaryDirectory() as folder:
        config = memory.config.replace(save_dir=folder, read_only=False, force_index_from_scratch=False)
        if copy:
            memory.snapshot(Path(folder) / _SNAPSHOT)
            restore_store(config, Path(folder) / _SNAPSHOT)
        with NeuroGraphMemory(config) as scratch:
            scratch.add_document(_FIRST_TEXT)
            yield scratch


def indexed(memory: NeuroGraphMemory, documents: Sequence[Document]) -> IndexingTimes:
    """Add documents to a memory on disk, and time the stages."""
    before, timer, begin = memory.store.view().live_nodes().size, StageTimer(), time.perf_counter()
    with timer.watching(_indexing_stages(memory.store)):
        memory.add_documents(documents, progress=False)
    seconds = time.perf_counter() - begin
    stages = {**timer.seconds, OTHER: max(0.0, seconds - sum(timer.seconds.values()))}
    return IndexingTimes(len(documents), memory.store.view().live_nodes().size - before, seconds, stages)


def top_functions(profile: cProfile.Profile, count: int) -> list[FunctionTime]:
    """Return the functions of a profile with the most time of their own, longest first."""
    lines = [
        FunctionTime(f"{name} ({Path(file).name}:{line})", calls, own, total)
        for (file, line, name), (_, calls, own, total, _) in pstats.Stats(profile).stats.items()  # type: ignore[attr-defined]
    ]
    return sorted(lines, key=lambda line: (-line.own, line.function))[:count]
