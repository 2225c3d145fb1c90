"""How similar memories are to a question: meaning, keywords, subject and marks together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.kernel import Kernel
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import named_subjects, speaker_mark, subject_mark
from neurogated.core.view import GraphView, Rows

__all__ = ["QuestionSimilarity", "Similarities"]

Values = NDArray[np.float64]


class Similarities(NamedTuple):
    """Similarity of some nodes and its parts; rows ascend, all arrays are (n,)."""

    rows: Rows
    similarity: Values
    """Weighted mean of the parts, -1–1."""
    cosine: Values
    """-1–1."""
    keywords: Values
    """BM25, 1 for the best of all nodes."""
    subject: Values
    """1 where the question names what the node is about or who speaks, else 0."""
    marks: Values
    """0–1: how far the node carries what the kernel looks for."""

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which of `rows` are among them."""
        place = self.rows.searchsorted(rows)
        place[place == self.rows.size] = -1
        return self.rows[place] == rows if self.rows.size else np.zeros(rows.size, dtype=np.bool_)

    def at(self, rows: Rows) -> Similarities:
        """Return those of `rows`, which must be among them."""
        if rows.size == self.rows.size and (rows == self.rows).all():
            return self
        place = self.rows.searchsorted(rows)
        return Similarities(self.rows[place], *(column[place] for column in self[1:]))


_PARTS = len(Similarities._fields) - 1


class QuestionSimilarity:
    """Similarity of one question to the nodes of a view.

    Vector and keyword search propose candidates; whatever node is asked for after that, such as one that energy
    reaches, is measured in the same way, each once.
    """

    def __init__(
        self,
        store: GraphStorePort,
        view: GraphView,
        config: MemoryConfig,
        *,
        query: str,
        vector: NDArray[np.float32],
        kernel: Kernel,
    ) -> None:
        self._store = store
        self._view = view
        self._config = config
        self._query = query
        self._vector = vector
        self._kernel = kernel
        names = {name: (subject_mark(name), speaker_mark(name)) for name in named_subjects(query)}
        carried = store.carried(mark for marks in names.values() for mark in marks)
        titles = {name for name, (subject, _) in names.items() if subject in carried}
        # A name within a longer one, such as "Leland" in "Leland, North Carolina", counts as no subject of its own.
        self.named = frozenset(
            name for name in titles if not any(name != other and f" {name} " in f" {other} " for other in titles)
        )
        """Subjects that the question names, in folded words."""
        self._subjects = carried if config.SUBJECT_WEIGHT else frozenset()
        self._best_keywords = 0.0
        self._total = 1.0 + config.KEYWORD_WEIGHT + config.SUBJECT_WEIGHT + config.MARK_WEIGHT
        self.known = Similarities(np.empty(0, dtype=np.int64), *np.empty((_PARTS, 0)))

    def propose(self, count: int, nearest: Rows | None = None) -> Similarities:
        """Return the nodes that vector and keyword search find, up to `count` each.

        `nearest` is what vector search found, where that is known.
        """
        if nearest is None:
            ((nearest, _),) = self._store.nearest_rows([self._vector], count, self._view)
        found = nearest
        if self._config.KEYWORD_WEIGHT:
            by_keywords, scores = self._store.keyword_rows(self._query, count, self._view)
            self._best_keywords = float(scores[0]) if scores.size else 0.0
            found = np.concatenate((nearest, by_keywords))
        return self.of(np.unique(found))

    def of(self, rows: Rows) -> Similarities:
        """Return the similarity of nodes; `rows` ascend."""
        unknown = rows[~self.known.holds(rows)]
        if unknown.size:
            measured = self._measure(unknown)
            if self.known.rows.size:
                all_rows = np.concatenate((self.known.rows, unknown))
                order = all_rows.argsort()
                columns = np.concatenate((self.known[1:], measured[1:]), axis=1)[:, order]
                measured = Similarities(all_rows[order], *columns)
            self.known = measured
        return self.known.at(rows)

    def _measure(self, rows: Rows) -> Similarities:
        config, none = self._config, np.zeros(rows.size)
        cosine = self._store.similarities(self._vector, self._view, rows).astype(np.float64)
        keywords = none
        if self._best_keywords:
            # A text that only the graph reaches may hold more of the question than the best that was proposed.
            keywords = np.minimum(1.0, self._store.keyword_scores(self._query, self._view, rows) / self._best_keywords)
        subject = self._store.carriers(self._subjects, self._view, rows).astype(np.float64) if self._subjects else none
        marks = none
        for mark, share in self._kernel.marks.items():
            marks = np.maximum(marks, share * self._store.carriers([mark], self._view, rows))
        similarity = (
            cosine + config.KEYWORD_WEIGHT * keywords + config.SUBJECT_WEIGHT * subject + config.MARK_WEIGHT * marks
        ) / self._total
        return Similarities(rows, similarity, cosine, keywords, subject, marks)
