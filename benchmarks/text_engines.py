"""Keyword search by our index and by tantivy; see `benchmarks.engines`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

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
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.text.keywords import split_keywords

__all__ = ["compare_texts"]

BATCH = 500
LOOKED_UP = 500
ALLOWED = (100, 10_000)
_HEAP = 2_000_000_000
"""Bytes, so that a million texts become one segment."""


class Ours:
    """Our keyword index; it maps its files after it is saved."""

    def __init__(self) -> None:
        self.store = LexicalStore()

    def wait(self) -> None:
        """Wait until no compaction runs."""
        self.store.wait()

    def put(self, keys: Keys, texts: Sequence[str]) -> None:
        """Add or replace texts."""
        self.store.put(keys, texts)

    replace = put

    def remove(self, keys: Keys) -> None:
        """Remove texts."""
        self.store.remove(keys)

    def search(self, question: str) -> Found:
        """Return keys and scores of the best texts."""
        return self.store.search(question, WANTED)

    def scores(self, asked: tuple[str, Keys]) -> Found:
        """Return the scores of given keys."""
        return asked[1], self.store.scores(*asked)

    def restricted(self, asked: tuple[str, Keys]) -> Found:
        """Return the best texts among the allowed keys."""
        return best(*self.scores(asked))


class Tantivy:
    """An index of tantivy in a folder; a change is visible after a commit."""

    def __init__(self, folder: Path) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_unsigned_field("key", indexed=True, fast=True)
        schema.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        folder.mkdir()
        self.index = tantivy.Index(schema.build(), path=str(folder))
        self.writer = self.index.writer(_HEAP, num_threads=1)
        self.searcher = self.index.searcher()

    def put(self, keys: Keys, texts: Sequence[str], *, commits: bool = True) -> None:
        """Add texts under new keys."""
        for key, text in zip(keys.tolist(), texts, strict=True):
            document = tantivy.Document()
            document.add_unsigned("key", key)
            document.add_text("words", " ".join(split_keywords(text)))
            self.writer.add_document(document)
        if commits:
            self.commit()

    def replace(self, keys: Keys, texts: Sequence[str]) -> None:
        """Replace texts."""
        self.writer.delete_documents_by_query(self._keys(keys))
        self.put(keys, texts)

    def commit(self) -> None:
        """Make all changes durable and visible."""
        self.writer.commit()
        self.index.reload()
        self.searcher = self.index.searcher()

    def remove(self, keys: Keys) -> None:
        """Remove texts."""
        self.writer.delete_documents_by_query(self._keys(keys))
        self.commit()

    def search(self, question: str) -> Found:
        """Return keys and scores of the best texts."""
        return self._found(tantivy.Query.boolean_query(self._words(question)), WANTED)

    def scores(self, asked: tuple[str, Keys]) -> Found:
        """Return the scores of given keys, the best first, by a search that filters for these keys."""
        return self._found(self._among(asked), len(asked[1]))

    def restricted(self, asked: tuple[str, Keys]) -> Found:
        """Return the best texts among the allowed keys."""
        return self._found(self._among(asked), WANTED)

    def wait(self) -> None:
        """Wait until no compaction runs."""
        self.writer.wait_merging_threads()
        self.writer = self.index.writer(_HEAP, num_threads=1)
        self.index.reload()
        self.searcher = self.index.searcher()

    def _among(self, asked: tuple[str, Keys]) -> tantivy.Query:
        allowed = tantivy.Query.const_score_query(self._keys(asked[1]), 0.0)
        return tantivy.Query.boolean_query([(tantivy.Occur.Must, allowed), *self._words(asked[0])])

    def _words(self, question: str) -> list[tuple[tantivy.Occur, tantivy.Query]]:
        make, schema = tantivy.Query.term_query, self.index.schema
        words = sorted(set(split_keywords(question)))
        return [(tantivy.Occur.Should, make(schema, "words", word, index_option="freq")) for word in words]

    def _keys(self, keys: Keys) -> tantivy.Query:
        return tantivy.Query.term_set_query(self.index.schema, "key", keys.tolist())

    def _found(self, query: tantivy.Query, count: int) -> Found:
        hits = self.searcher.search(query, count, count=False).hits
        keys = self.searcher.fast_field_values("key", [address for _, address in hits])
        return np.array(keys, np.int64), np.array([score for score, _ in hits])


def open_ours(path: Path) -> Call:
    """Return search in files of our index."""
    store = LexicalStore.load(path)
    return lambda question: store.search(question, WANTED)


def open_tantivy(path: Path) -> Call:
    """Return search in a read-only index of tantivy."""
    found = Tantivy.__new__(Tantivy)
    found.index = tantivy.Index.open(str(path))
    found.searcher = found.index.searcher()
    return found.search


def compare_texts(data: Synthetic, disk: Path, memory: Path, changed: Sequence[float]) -> None:
    """Compare keyword search; the two folders, on disk and in memory, are empty."""
    ours, merged, in_use = Ours(), Tantivy(memory / "merged"), Tantivy(disk / "used")
    engines: dict[str, Any] = {OURS: ours, "tantivy, one segment": merged, "tantivy, in use": in_use}
    paths = dict(zip(engines, (disk / "ours", memory / "merged", disk / "used"), strict=True))
    said(f"{data.nodes:,} texts", *engines)
    said("---", *("---" for _ in engines))
    _build(data, engines)
    took = seconds(lambda: ours.store.freeze().write(made(paths[OURS]), None))
    said("saving", f"{took:.2f} s", "", "at each commit")
    ours.store.remap(paths[OURS])
    _sizes("after building", engines, paths, data.nodes)
    short = [one.text for one in islice(data.ask(4), QUESTIONS)]
    _search(data, engines, short)
    _add(data, engines)
    took = seconds(lambda: ours.store.freeze().write(made(disk / "later"), paths[OURS]))
    said("saving additions", f"{took:.2f} s", "", "at each commit")
    openings("opening", {name: (open_ours if name == OURS else open_tantivy, paths[name]) for name in engines}, short)
    _change(data, engines, short, changed)
    paths[OURS] = disk / "last"
    took = seconds(lambda: ours.store.freeze().write(made(paths[OURS]), disk / "later"))
    said("saving changes", f"{took:.2f} s", "", "at each commit")
    _sizes("after changes", engines, paths, len(ours.store))


def _build(data: Synthetic, engines: Mapping[str, Any]) -> None:
    taken = dict.fromkeys(engines, 0.0)
    for begin in range(0, data.nodes, BATCH):
        keys = np.arange(begin, min(begin + BATCH, data.nodes))
        some = [data.text(key) for key in keys.tolist()]
        for name, engine in engines.items():
            put = partial(engine.put, keys, some, **({"commits": False} if name.endswith("segment") else {}))
            taken[name] += seconds(put)
    engines["tantivy, one segment"].commit()
    for name, engine in engines.items():
        taken[name] += seconds(engine.settle)
    row("building, a text", {name: [[1000 * value / data.nodes]] for name, value in taken.items()})


def _sizes(when: str, engines: Mapping[str, Any], paths: Mapping[str, Path], count: int) -> None:
    ours, *others = engines.values()
    counts = len(ours.store.freeze().segments), *(engine.searcher.num_segments for engine in others)
    said(f"segments, {when}", *map(str, counts))
    said(f"on disk a text, {when}", *(f"{disk_size(path) / count:.3f} KiB" for path in paths.values()))


def _search(data: Synthetic, engines: Mapping[str, Any], short: Sequence[str]) -> None:
    rng = np.random.default_rng(3)
    searches: dict[str, Call] = {name: engine.search for name, engine in engines.items()}
    rounds = compared(searches, short)
    row("best 100, 10 words", rounds)
    row("the same, 95th percentile", rounds, share=0.95)
    long = [data.text(node) for node in rng.integers(data.nodes, size=QUESTIONS).tolist()]
    row("best 100, 40 words", compared(searches, long))
    _agreement("of our best 100 found", engines, short)
    asked = [(text, np.sort(rng.choice(data.nodes, LOOKED_UP, replace=False))) for text in short]
    row("scores of 500 keys", compared({name: engine.scores for name, engine in engines.items()}, asked))
    among = {name: engine.restricted for name, engine in engines.items()}
    for allowed in sorted({min(size, data.nodes // 2) for size in ALLOWED}):
        asked = [(text, np.sort(rng.choice(data.nodes, allowed, replace=False))) for text in short]
        row(f"best 100 among {allowed:,} allowed", compared(among, asked))


def _agreement(what: str, engines: Mapping[str, Any], questions: Sequence[str]) -> None:
    own, *others = ([engine.search(text) for text in questions] for engine in engines.values())
    said(what, "", *(_fit(own, found) for found in others))


def _fit(ours: Sequence[Found], others: Sequence[Found]) -> str:
    """Return the share of our best that is among the other's best, and the largest difference of their scores."""
    shares, apart = [], 0.0
    for (keys, scores), (found, given) in zip(ours, others, strict=True):
        _, at, there = np.intersect1d(keys, found, return_indices=True)
        # Ties with the last make our list longer.
        shares.append(at.size / max(1, min(WANTED, keys.size)))
        apart = max(apart, float(np.max(np.abs(given[there] / scores[at] - 1), initial=0)))
    return f"{np.mean(shares):.4f}, scores differ by up to {apart:.1e}"


def _add(data: Synthetic, engines: Mapping[str, Any]) -> None:
    """Print the time until a new text is found, and the share that was found."""
    found: dict[str, list[bool]] = {name: [] for name in engines}
    fresh = {name: iter(range(data.nodes, 2 * data.nodes)) for name in engines}

    def adding(name: str) -> Call:
        def add(given: tuple[str, str]) -> None:
            key = next(fresh[name])
            engines[name].put(np.array([key]), [given[0]])
            found[name].append(key in engines[name].search(given[1])[0])

        return add

    new = [(text, asked.text) for text, _, asked in islice(data.new_texts(5), QUESTIONS)]
    rounds = compared({name: adding(name) for name in engines}, new)
    row("a text added and found", rounds)
    row("the same, 95th percentile", rounds, share=0.95)
    said("of which found", *(f"{np.mean(hits):.3f}" for hits in found.values()))


def _change(data: Synthetic, engines: Mapping[str, Any], questions: Sequence[str], shares: Sequence[float]) -> None:
    """Replace half of a share of the texts, remove the other half, and search."""
    order, begin = np.random.default_rng(6).permutation(data.nodes), 0
    for share in shares:
        end = int(share * data.nodes)
        replaced, removed = np.array_split(order[begin:end], 2)
        taken: Rounds = {}
        for name, engine in engines.items():
            start = time.perf_counter()
            for some in np.array_split(replaced, max(1, replaced.size // BATCH)):
                engine.replace(some, [data.text((key + 1) % data.nodes) for key in some.tolist()])
            engine.remove(removed)
            engine.wait()
            taken[name] = [[1000 * (time.perf_counter() - start) / (end - begin)]]
        begin = end
        row(f"changing up to {share:.0%}, a text", taken)
        row(f"best 100, {share:.0%} changed", compared({name: e.search for name, e in engines.items()}, questions))
        _agreement(f"of our best 100 found, {share:.0%} changed", engines, questions)
