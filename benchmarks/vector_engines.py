"""Vector search by our index and by usearch; see `benchmarks.engines`."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from usearch.index import Index

from benchmarks.engine_table import (
    OURS,
    QUESTIONS,
    WANTED,
    Call,
    Found,
    Keys,
    Rounds,
    best,
    compared,
    disk_size,
    made,
    openings,
    row,
    said,
    seconds,
)
from benchmarks.synthetic import Synthetic
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore

__all__ = ["compare_vectors"]

BATCH = 2000
FEW = 10
LOOKED_UP = 500
ALLOWED = (100, 10_000)
WIDTHS = tuple(round(64 * 2 ** (step / 2)) for step in range(17))
SLACK = 0.005
"""Recall that is lower by this much counts as equal."""
PROBES = (1, 2, 4, 8, 16, 32, 64, 128, 256)
_BLOCK = 50_000

Matrix = NDArray[np.float32]


class Ours:
    """Our vector index; it maps its files after it is saved."""

    def __init__(self, store: EmbeddingStore | None = None) -> None:
        self.store = EmbeddingStore() if store is None else store

    def put(self, keys: Keys, vectors: Matrix) -> None:
        """Add or replace vectors."""
        self.store.put(keys, vectors)

    def remove(self, keys: Keys) -> None:
        """Remove vectors."""
        self.store.remove(keys)

    def wait(self) -> None:
        """Wait until the index is complete."""
        self.store.wait()

    def search(self, question: Matrix) -> Found:
        """Return the best keys with their cosines."""
        keys, scores = self.store.search(question, WANTED)
        return keys[:WANTED], scores[:WANTED]

    def scores(self, asked: tuple[Matrix, Keys]) -> Found:
        """Return the cosines of given keys."""
        return asked[1], self.store.similarities(*asked)


class Usearch:
    """An HNSW graph of usearch, in memory."""

    def __init__(self, size: int, dtype: str) -> None:
        self.index: Any = Index(ndim=size, metric="ip", dtype=dtype)

    def put(self, keys: Keys, vectors: Matrix) -> None:
        """Add or replace vectors."""
        known = keys[self.index.contains(keys)]
        if known.size:
            self.index.remove(known)
        self.index.add(keys, vectors, threads=0 if keys.size > 1 else 1)

    def remove(self, keys: Keys) -> None:
        """Remove vectors."""
        self.index.remove(keys)

    def wait(self) -> None:
        """Do nothing: usearch has no background work."""

    def search(self, question: Matrix) -> Found:
        """Return the best keys with their cosines."""
        found = self.index.search(question, WANTED, threads=1)
        return found.keys.astype(np.int64), 1 - found.distances

    def scores(self, asked: tuple[Matrix, Keys]) -> Found:
        """Return the cosines of given keys, from the stored vectors."""
        vectors = self.index.get(asked[1], dtype="f32")
        return asked[1], vectors @ asked[0]


def restricted(engine: Ours | Usearch, asked: tuple[Matrix, Keys]) -> Found:
    """Return the best among the allowed keys; usearch has no filter in Python."""
    return best(*engine.scores(asked))


def open_ours(path: Path) -> Call:
    """Return search in files of our index."""
    return Ours(EmbeddingStore.load(path)).search


def open_usearch(path: Path, *, dtype: str, size: int, width: int, maps: bool) -> Call:
    """Return search in a file of usearch; a mapped file is read-only."""
    engine = Usearch(size, dtype)
    (engine.index.view if maps else engine.index.load)(str(path))
    engine.index.expansion_search = width
    return engine.search


def exact(vectors: Matrix, living: NDArray[np.bool_], questions: Matrix) -> list[Keys]:
    """Return the true best of each question, best first."""
    scores, keys = np.empty((len(questions), 0), np.float32), np.empty((len(questions), 0), np.int64)
    for begin in range(0, len(vectors), _BLOCK):
        block = questions @ np.asarray(vectors[begin : begin + _BLOCK]).T
        block[:, ~living[begin : begin + _BLOCK]] = -2
        scores = np.concatenate((scores, block), axis=1)
        keys = np.concatenate((keys, np.broadcast_to(np.arange(begin, begin + block.shape[1]), block.shape)), axis=1)
        order = np.argsort(-scores, axis=1)[:, :WANTED]
        scores, keys = np.take_along_axis(scores, order, 1), np.take_along_axis(keys, order, 1)
    return list(keys)


def recall(search: Call, questions: Matrix, truth: Sequence[Keys], count: int = WANTED) -> float:
    """Return the share of the true best that is found."""
    shares = [
        np.isin(true[:count], search(question)[0]).mean() for question, true in zip(questions, truth, strict=True)
    ]
    return float(np.mean(shares))


def least(
    values: Sequence[int], set_to: Callable[[int], Call], goal: float, questions: Matrix, truth: list[Keys]
) -> int:
    """Return the smallest setting that reaches a recall@100, or else the last one."""
    return next((value for value in values if recall(set_to(value), questions, truth) >= goal), values[-1])


def compare_vectors(data: Synthetic, disk: Path, dtypes: Sequence[str], changed: Sequence[float]) -> None:
    """Compare vector search; the folder is on disk and empty."""
    size = data.vectors.shape[1]
    others = {f"usearch, {dtype}": Usearch(size, dtype) for dtype in dtypes}
    engines: dict[str, Any] = {OURS: Ours(), **others}
    said(f"{data.nodes:,} vectors", *engines)
    said("---", *("---" for _ in engines))
    _build(data, engines)
    paths = _save("saving", disk, "first", engines, None)
    engines[OURS].store.remap(paths[OURS])
    said("on disk, a vector", *(f"{disk_size(path) / data.nodes:.2f} KiB" for path in paths.values()))
    questions = np.array([one.vector for one in islice(data.ask(4), QUESTIONS)])
    _search(data, engines, paths[OURS], questions)
    _look_up(data, engines, questions)
    _add(data, engines)
    _save("saving additions", disk, "later", engines, paths[OURS])
    for maps in (False, True):
        kinds: dict[str, Any] = {OURS: (open_ours, paths[OURS])}
        for (name, engine), dtype in zip(others.items(), dtypes, strict=True):
            width = engine.index.expansion_search
            kinds[name] = partial(open_usearch, dtype=dtype, size=size, width=width, maps=maps), paths[name]
        openings("opening, usearch only to read" if maps else "opening", kinds, list(questions))
    _change(data, engines, questions, changed)


def _build(data: Synthetic, engines: Mapping[str, Any]) -> None:
    taken: Rounds = {}
    for name, engine in engines.items():
        begin = time.perf_counter()
        for start in range(0, data.nodes, BATCH):
            keys = np.arange(start, min(start + BATCH, data.nodes))
            engine.put(keys, np.array(data.vectors[start : start + BATCH]))
        engine.wait()
        taken[name] = [[time.perf_counter() - begin]]
    row("building", taken, "s")


def _save(what: str, disk: Path, name: str, engines: Mapping[str, Any], previous: Path | None) -> dict[str, Path]:
    paths, taken = {}, {}
    for engine_name, engine in engines.items():
        path = paths[engine_name] = disk / f"{name} {engine_name}"
        if isinstance(engine, Ours):
            save = partial(engine.store.freeze().write, made(path), previous)
        else:
            save = partial(engine.index.save, str(path))
        taken[engine_name] = [[seconds(save)]]
    row(what, taken, "s")
    return paths


def _search(data: Synthetic, engines: Mapping[str, Any], files: Path, questions: Matrix) -> None:
    truth = exact(data.vectors, np.ones(data.nodes, np.bool_), questions)
    _, *others = engines.values()
    searches: dict[str, Call] = {name: engine.search for name, engine in engines.items()}
    found = [recall(search, questions, truth) for search in searches.values()]
    row(
        f"best 100, usearch at its default width ({others[0].index.expansion_search})",
        compared(searches, list(questions)),
    )
    said("recall@100 of that", *(f"{share:.3f}" for share in found))
    said("recall@10 of that", *(f"{recall(search, questions, truth, FEW):.3f}" for search in searches.values()))
    if data.nodes > 20_000:
        probes = [least(PROBES, lambda few: _probing(files, few), goal - SLACK, questions, truth) for goal in found[1:]]
        narrow = _probing(files, max(probes))
        row(f"the same, ours with {max(probes)} probes", compared({**searches, OURS: narrow}, list(questions)))
        said("recall@100 of that", f"{recall(narrow, questions, truth):.3f}", *(f"{share:.3f}" for share in found[1:]))
    for engine in others:

        def wide(width: int, engine: Usearch = engine) -> Call:
            engine.index.expansion_search = width
            return engine.search

        wide(least(WIDTHS, wide, found[0] - SLACK, questions, truth))
    rounds = compared(searches, list(questions))
    row("best 100, usearch as wide as our recall needs", rounds)
    row("the same, 95th percentile", rounds, share=0.95)
    said("width", "", *(str(engine.index.expansion_search) for engine in others))
    said("recall@100 of that", *(f"{recall(search, questions, truth):.3f}" for search in searches.values()))
    said(
        "recall@10 of that",
        *(f"{recall(s, questions, truth, FEW):.3f}" for s in searches.values()),
    )


def _probing(files: Path, probes: int) -> Call:
    return Ours(EmbeddingStore.load(files, probes=probes)).search


def _look_up(data: Synthetic, engines: Mapping[str, Any], questions: Matrix) -> None:
    rng = np.random.default_rng(3)

    def drawn(count: int) -> list[tuple[Matrix, Keys]]:
        return [(one, np.sort(rng.choice(data.nodes, count, replace=False))) for one in questions]

    row("cosines of 500 keys", compared({name: engine.scores for name, engine in engines.items()}, drawn(LOOKED_UP)))
    among: dict[str, Call] = {name: partial(restricted, engine) for name, engine in engines.items()}
    for allowed in sorted({min(size, data.nodes // 2) for size in ALLOWED}):
        row(f"best 100 among {allowed:,} allowed", compared(among, drawn(allowed)))


def _add(data: Synthetic, engines: Mapping[str, Any]) -> None:
    """Print the time until a new vector is found, and the share that was found."""
    found: dict[str, list[bool]] = {name: [] for name in engines}
    fresh: dict[str, Iterator[int]] = {name: iter(range(data.nodes, 2 * data.nodes)) for name in engines}

    def adding(name: str) -> Call:
        def add(vector: Matrix) -> None:
            key = next(fresh[name])
            engines[name].put(np.array([key]), vector[None])
            found[name].append(key in engines[name].search(vector)[0])

        return add

    new = [vector for _, vector, _ in islice(data.new_texts(5), QUESTIONS)]
    rounds = compared({name: adding(name) for name in engines}, new)
    row("a vector added and found", rounds)
    row("the same, 95th percentile", rounds, share=0.95)
    said("of which found", *(f"{np.mean(hits):.3f}" for hits in found.values()))
    for name, engine in engines.items():
        # The steps below do not use the new vectors.
        engine.remove(np.arange(data.nodes, next(fresh[name])))


def _change(data: Synthetic, engines: Mapping[str, Any], questions: Matrix, shares: Sequence[float]) -> None:
    """Replace half of a share of the vectors, remove the other half, and search."""
    order, begin = np.random.default_rng(6).permutation(data.nodes), 0
    current, living = np.array(data.vectors), np.ones(data.nodes, np.bool_)
    for share in shares:
        end = int(share * data.nodes)
        replaced, removed = np.array_split(order[begin:end], 2)
        current[replaced], living[removed] = data.vectors[(replaced + 1) % data.nodes], False
        taken: Rounds = {}
        for name, engine in engines.items():
            start = time.perf_counter()
            for some in np.array_split(replaced, max(1, replaced.size // BATCH)):
                engine.put(some, current[some])
            engine.remove(removed)
            engine.wait()
            taken[name] = [[1000 * (time.perf_counter() - start) / (end - begin)]]
        begin = end
        row(f"changing up to {share:.0%}, a vector", taken)
        truth = exact(current, living, questions)
        searches: dict[str, Call] = {name: engine.search for name, engine in engines.items()}
        row(f"best 100, {share:.0%} changed", compared(searches, list(questions)))
        said("recall@100 of that", *(f"{recall(search, questions, truth):.3f}" for search in searches.values()))
