"""Questions with their evidence, what a data set is, and plain searches to compare with."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.core.filters import Filter
from neurogated.errors import DatasetError, InputError
from neurogated.ingestion.document import Document, Passage, known_role
from neurogated.memory import NeuroGraphMemory

_BEGINNING = 60
"""Characters of a passage that an error quotes."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a corpus."""

    idx: int
    """Its name in rankings."""
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A gold passage as its question gives it; fields that the question leaves out are empty or None."""

    where: str
    """File, entry and field, and the question, for errors."""
    title: str
    text: str = ""
    idx: int | None = None


class Corpus:
    """The rows of a corpus, found by title and text.

    Matching ignores white space, since files join the sentences of a passage in different ways. Title and text are
    compared as one string, since a title may also stand as the first line of the text.
    """

    def __init__(self, name: str, rows: Sequence[Row]) -> None:
        """Take the rows of the file `name`; their numbers must differ."""
        self._name = name
        self._by_idx = {row.idx: row for row in rows}
        self._by_content: dict[str, list[Row]] = defaultdict(list)
        self._by_text: dict[str, list[Row]] = defaultdict(list)
        self._by_title: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self._by_content[_content(row)].append(row)
            self._by_text[_squeezed(row.text)].append(row)
            self._by_title[_squeezed(row.title)].append(row)

    def copies(self, row: Row) -> list[int]:
        """Return the numbers of all rows with the title and text of `row`, itself included, in the file's order."""
        return [copy.idx for copy in self._by_content[_content(row)]]

    def find(self, passage: GoldPassage) -> int:
        """Return the number of the row that matches `passage`.

        If several copies match, it is the one that the question numbers, or else the first.

        Raises:
            DatasetError: no row matches, or several different rows do.
        """
        found = self._matching(passage)
        if not found:
            raise DatasetError(
                f"{passage.where}: the gold passage {_described(passage)} is not in {self._name}; "
                "add it there, or give it the title and text that it has there"
            )
        numbered = next((row for row in found if row.idx == passage.idx), None)
        if numbered is None and len({_content(row) for row in found}) > 1:
            raise DatasetError(
                f"{passage.where}: the gold passage {_described(passage)} could be any of the rows "
                f"{', '.join(str(row.idx) for row in found)} of {self._name}; give its title and text"
            )
        return (numbered or found[0]).idx

    def _matching(self, passage: GoldPassage) -> list[Row]:
        if passage.text:
            # If one side has no title, the text decides; different titles are different passages.
            return self._by_content.get(_content(passage)) or [
                row for row in self._by_text.get(_squeezed(passage.text), ()) if not (row.title and passage.title)
            ]
        numbered = None if passage.idx is None else self._by_idx.get(passage.idx)
        titles = {_squeezed(passage.title), _squeezed(numbered.title)} - {""} if numbered else set()
        if numbered and len(titles) <= 1:
            return [numbered]
        return self._by_title.get(_squeezed(passage.title), []) if passage.title else []


def _content(passage: Row | GoldPassage) -> str:
    return _squeezed(passage.title) + _squeezed(passage.text)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _described(passage: GoldPassage) -> str:
    beginning = textwrap.shorten(passage.text, _BEGINNING, placeholder=" …")
    parts = (
        *(repr(part) for part in (passage.title, beginning) if part),
        *([] if passage.idx is None else [f"idx {passage.idx}"]),
    )
    return ", ".join(parts)


BASELINES = ("dense", "bm25", "hybrid")
"""The cosine of the vectors; BM25 over the keywords of the memory; half of each, both scaled to 0–1."""
_ROUNDS = 10_000
_LEVEL = 0.95
_DRAWS_AT_ONCE = 1_000_000


def searched(
    memory: NeuroGraphMemory, query: str, baseline: str, filters: Filter | None = None, most: int | None = None
) -> list[str]:
    """Return the ids of the nodes that a filter admits, best first by one of `BASELINES`, at most so many.

    The vectors and keywords are those of the memory, so that only the ranking differs.
    """
    seen = memory.store.reader(filters=filters)
    rows = seen.view.live_nodes()
    rows = rows[seen.view.admitted(rows)]
    score = np.zeros(rows.size)
    if baseline != "bm25" and rows.size:
        score += _scaled(seen.similarities(memory.session.parts.embedder.embed_queries([query])[0], rows))
    if baseline != "dense" and rows.size:
        score += _scaled(seen.keyword_scores(query, rows))
    return [seen.view.ids[row] for row in rows[np.argsort(-score, kind="stable")[:most]].tolist()]


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    span = float(np.ptp(values))
    return (values - values.min()) / span if span else np.zeros(values.size)


class Interval(NamedTuple):
    """A mean difference and its 95 % interval, in the units of the compared figures."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        text = f"{self.mean:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"
        return f"**{text}**" if self.low > 0 or self.high < 0 else text


def paired_bootstrap(a: ArrayLike, b: ArrayLike) -> Interval:
    """Return the mean of `a` - `b`, two lists of one figure per question, and its percentile interval.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    differences = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    generator, count = np.random.default_rng(0), differences.size
    step = max(1, _DRAWS_AT_ONCE // count)
    sizes: Sequence[int] = [min(step, _ROUNDS - begin) for begin in range(0, _ROUNDS, step)]
    means = np.concatenate([differences[generator.integers(count, size=(size, count))].mean(axis=1) for size in sizes])
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(differences.mean()), float(low), float(high))


SOURCES_KEY = "sources"
"""Metadata key under which a node lists the data set's names of its passages."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question and the passages that answer it."""

    id: str | int
    text: str
    gold: frozenset[Hashable]
    """The data set's names of the passages: corpus idx, or dia_id."""
    kind: str
    """The data set's name for this kind of question."""
    answers: tuple[str, ...] = ()
    """All right answers, aliases too; empty if the data set has no answer."""
    asked_at: datetime | None = None
    """When it is asked; None for now."""


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents and the questions about them; questions search only their own collection."""

    namespace: str | None
    """Its namespace in the memory; None for the memory's own namespace."""
    documents: tuple[Document, ...]
    questions: tuple[Question, ...]


@dataclass(frozen=True, slots=True)
class Dataset:
    """A named data set; each collection has its own namespace."""

    name: str
    collections: tuple[Collection, ...]
    notes: tuple[str, ...] = ()
    """Notes about the files for a reader of the figures, a sentence each."""


def passage_of(
    text: str, metadata: Mapping[str, Any], where: str, *, speaker: str | None = None, role: str | None = None
) -> Passage:
    """Return a passage; raise DatasetError that names the place, `where`, of a text that cannot be stored."""
    try:
        return Passage(text, metadata, speaker=speaker, role=None if role is None else known_role(role))
    except InputError as error:
        raise DatasetError(f"{where}: {error}") from None


Table = dict[str, dict[str, float]]
"""Numbers by row and column."""

RECALL_CUTOFFS = (1, 2, 5, 10, 20)
PERCENT = 100
_MILLISECONDS = 1000
_HIGH_QUANTILE = 0.95
_MEDIAN = 0.5
_DEPTH_OF_NDCG = 10


def recall_at(ranked: Sequence[Hashable], gold: AbstractSet[Hashable] | Sequence[Hashable], k: int) -> float:
    """Return the fraction of `gold` among the first `k` of `ranked`, 0–1."""
    return len(set(ranked[:k]) & set(gold)) / len(gold)


def scores_of(
    ranked: Sequence[Hashable], gold: AbstractSet[Hashable] | Sequence[Hashable], cutoffs: Sequence[int]
) -> dict[str, float]:
    """Return recall at each cutoff, the reciprocal rank of the first gold passage, and nDCG@10, in percent.

    Source of nDCG with gains of 0 and 1: Järvelin and Kekäläinen 2002.
    """
    found = np.array([one in set(gold) for one in ranked], dtype=bool)
    gains = 1 / np.log2(np.arange(2, _DEPTH_OF_NDCG + 2))
    ideal, first = gains[: len(gold)].sum(), found.nonzero()[0][:1]
    dcg = gains[: found.size][found[:_DEPTH_OF_NDCG]].sum()
    return {
        **{f"R@{k}": PERCENT * recall_at(ranked, gold, k) for k in cutoffs},
        "MRR": float(PERCENT / (1 + first[0])) if first.size else 0.0,
        f"nDCG@{_DEPTH_OF_NDCG}": float(PERCENT * dcg / ideal),
    }


def recall_table(
    rankings: Sequence[Sequence[Hashable]],
    golds: Sequence[AbstractSet[Hashable] | Sequence[Hashable]],
    kinds: Sequence[str],
    cutoffs: Sequence[int] = RECALL_CUTOFFS,
) -> Table:
    """Return means of `scores_of`: a row per kind of question and one for all.

    Questions without gold passages do not count. If no question has any, the table is empty.
    """
    scored = [(kind, ranked, gold) for ranked, gold, kind in zip(rankings, golds, kinds, strict=True) if gold]
    if not scored:
        return {}
    scores = [scores_of(ranked, gold, cutoffs) for _, ranked, gold in scored]
    figures = np.array([list(one.values()) for one in scores])
    by_kind: dict[str, list[int]] = {}
    for row, (kind, _, _) in enumerate(scored):
        by_kind.setdefault(kind, []).append(row)
    groups = {kind: by_kind[kind] for kind in sorted(by_kind)} if len(by_kind) > 1 else {}
    # The row "all" is the mean over all questions, even if a kind has the name "all".
    groups["all"] = list(range(len(scored)))
    return {
        kind: {
            "questions": len(rows),
            **dict(zip(scores[0], figures[rows].mean(axis=0).tolist(), strict=True)),
        }
        for kind, rows in groups.items()
    }


def latency_table(seconds: Sequence[Mapping[str, float]]) -> Table:
    """Return median and 95th percentile in milliseconds, a row per stage and one for all except the embedding."""
    if not seconds:
        return {}
    names = dict.fromkeys(stage for one in seconds for stage in one)
    stages = {stage: [_MILLISECONDS * one[stage] for one in seconds if stage in one] for stage in names}
    stages["all except embed"] = [_MILLISECONDS * (sum(one.values()) - one["embed"]) for one in seconds]
    return {
        stage: {"median ms": float(np.quantile(times, _MEDIAN)), "p95 ms": float(np.quantile(times, _HIGH_QUANTILE))}
        for stage, times in stages.items()
    }
