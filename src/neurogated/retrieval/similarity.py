"""The similarity of memories to a question: vectors, keywords, turns, subject and tags together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import contained, distinct
from neurogated.core.derivation import is_derived
from neurogated.core.kernel import DIMENSIONS, Kernel
from neurogated.core.places import named_places
from neurogated.core.rendering import names_in, place_tag, places_among, subjects_among, trait_tag
from neurogated.core.view import Rows
from neurogated.retrieval.derived import shares_of_sources
from neurogated.retrieval.dormancy import NOTHING, Admission, Scored
from neurogated.retrieval.sample import Samples
from neurogated.retrieval.turns import Turns
from neurogated.text.keywords import fold
from neurogated.text.words import split_words, without_final_s

PARTS = ("cosine", "keywords", "neighbours", "message", "subject", "tags")
"""The parts of the similarity of a memory."""
Values = NDArray[np.float64]


class Similarities(NamedTuple):
    """The similarity of some nodes, with its parts."""

    rows: Rows
    """(n,) ascending."""
    columns: Values
    """(1 + parts, n): the similarity and then its `PARTS`."""

    @property
    def similarity(self) -> Values:
        """Weighted sum of the parts, divided by the highest sum that the best match could have (n,), -1–1."""
        return self._column(0)

    @property
    def cosine(self) -> Values:
        """Cosine of the vectors (n,), -1–1."""
        return self._column(1)

    @property
    def keywords(self) -> Values:
        """BM25 divided by the best BM25 of all nodes (n,), 0–1."""
        return self._column(2)

    @property
    def neighbours(self) -> Values:
        """Term of the turns around a turn (n,); 0 outside conversations."""
        return self._column(1 + PARTS.index("neighbours"))

    @property
    def message(self) -> Values:
        """Term of the length, position and role of a message, and cost of a fact (n,); 0 for other memories."""
        return self._column(1 + PARTS.index("message"))

    @property
    def subject(self) -> Values:
        """1 if the question names the subject or the speaker of the node, else 0 (n,)."""
        return self._column(-2)

    @property
    def tags(self) -> Values:
        """Highest share in the kernel of a tag that the node has (n,), 0–1."""
        return self._column(-1)

    def _column(self, place: int) -> Values:
        column: Values = self.columns[place]
        return column

    def holds(self, rows: Rows) -> NDArray[np.bool_]:
        """Return for each of `rows` whether it is among these (n,)."""
        return contained(self.rows, rows)

    def at(self, rows: Rows) -> Similarities:
        """Return the similarities of `rows`, which must be among these."""
        if rows.size == self.rows.size and (rows == self.rows).all():
            return self
        place = self.rows.searchsorted(rows)
        return Similarities(self.rows[place], self.columns[:, place])

    def joined(self, others: Similarities) -> Similarities:
        """Return both together; they must be disjoint."""
        if not self.rows.size:
            return others
        rows = np.concatenate((self.rows, others.rows))
        order = rows.argsort()
        return Similarities(rows[order], np.concatenate((self.columns, others.columns), axis=1)[:, order])


class QuestionSimilarity:
    """Similarity of one question to the nodes of a view.

    Vector and keyword search propose candidates. Other nodes, such as those that activation reaches, are measured in
    the same way. Each node is measured once.
    """

    def __init__(
        self,
        samples: Samples,
        *,
        query: str,
        vector: NDArray[np.float32],
        kernel: Kernel,
        admission: Admission | None = None,
        keywords: str | None = None,
    ) -> None:
        """Take a question; `keywords` is its text for keyword search, if that differs."""
        reader, view, config = samples.reader, samples.view, samples.config
        self._reader = reader
        self._view = view
        self._admission = Admission(view, 0) if admission is None else admission
        self._config = config
        self._asked_words = query if keywords is None else keywords
        self._vector = vector
        words = split_words(fold(query))
        found = frozenset().union(*names_in([words, without_final_s(words)], reader.existing_tags))
        titles = subjects_among(found)
        # A name within a longer name is no subject of its own, such as "Leland" in "Leland, North Carolina".
        self.named = frozenset(
            name for name in titles if not any(name != other and f" {name} " in f" {other} " for other in titles)
        )
        """Subjects that the question names, as folded words."""
        places = places_among(found)
        self.places = sorted(map(place_tag, named_places(query, places)))
        """Tags of the places that the question names."""
        self._subjects = found.difference(map(place_tag, places)) if config.retrieval.subject_weight else frozenset()
        self._traits = {tag: share for tag, share in kernel.tags.items() if tag not in DIMENSIONS}
        self._tags = [*self._subjects, *map(trait_tag, self._traits)]
        self._best_keywords = 0.0
        # Methods of this object would make a cycle, which keeps a dropped memory open until the collector runs.
        self._cosine = _Scores(partial(reader.similarities, vector))
        self._keyword = _Scores(partial(reader.keyword_scores, self._asked_words))
        self._turns = Turns(samples, query)
        self.keyword_weight = samples.keyword_weight
        """`retrieval.keyword_weight`, or more if the embedder finds all texts alike."""
        self._total = 1.0 + self.keyword_weight + config.retrieval.subject_weight + config.retrieval.tag_weight
        self.known = Similarities(np.empty(0, dtype=np.int64), np.empty((1 + len(PARTS), 0)))

    def propose(self, count: int, nearest: Scored | None = None, by_keywords: Scored | None = None) -> Similarities:
        """Return the nodes that vector search and keyword search find, up to `count` each.

        `nearest` and `by_keywords` are the results of these searches, if the caller has them.
        """
        nearest = self._admission.best(count, self._nearest, nearest)
        if self.keyword_weight:
            by_keywords = self._admission.best(count, self._with_keywords, by_keywords)
            # A fact has the words of several memories, so its BM25 is no measure for theirs.
            originals = ~is_derived(self._view, by_keywords[0])
            self._best_keywords = float(by_keywords[1].max(initial=0.0, where=originals))
        else:
            by_keywords = NOTHING
        rows = distinct(np.concatenate((nearest[0], by_keywords[0], self._admission.replaced)))
        self._cosine.add(*nearest)
        self._keyword.add(*by_keywords)
        self.known = self._measure(rows)
        self._scale()
        return self.known

    def _nearest(self, count: int) -> Scored:
        (found,) = self._reader.nearest([self._vector], count)
        return found

    def _with_keywords(self, count: int) -> Scored:
        return self._reader.keyword_search(self._asked_words, count)

    @property
    def admitted(self) -> Similarities:
        """The measured nodes that the recall may return."""
        return self.known.at(self.known.rows[self._admission.admits(self.known.rows)])

    def of(self, rows: Rows) -> Similarities:
        """Return the similarity of nodes with its parts; `rows` ascend."""
        self._learn(rows)
        return self.known.at(rows)

    def activation_shares(self, rows: Rows) -> Values:
        """Return for each node the share of its activation that counts for its score (n,), 0–1."""
        return self._turns.shares(rows)

    def similarity(self, rows: Rows) -> Values:
        """Return the similarity of nodes (n,); `rows` ascend."""
        self._learn(rows)
        return self.known.similarity[self.known.rows.searchsorted(rows)]

    def _scale(self) -> None:
        """Divide similarities by the highest value that the best match could have; the order does not change.

        A part that the best match cannot have does not lower its similarity, such as a subject if the question names
        none.
        """
        admitted = self.admitted
        if not admitted.rows.size:
            return
        best, config = int(admitted.similarity.argmax()), self._config
        total = 1.0 + self.keyword_weight * bool(self._best_keywords)
        total += (
            config.retrieval.subject_weight * admitted.subject[best] + config.retrieval.tag_weight * admitted.tags[best]
        )
        total = max(1.0, total + admitted.neighbours[best] + admitted.message[best])
        self.known.columns[0] *= self._total / total
        self._total = float(total)

    def _learn(self, rows: Rows) -> None:
        unknown = rows[~self.known.holds(rows)]
        if unknown.size:
            measured = self._measure(unknown)
            # A node that only the graph reaches may exceed the best match.
            np.minimum(measured.columns[0], 1.0, out=measured.columns[0])
            self.known = self.known.joined(measured)

    def _measure(self, rows: Rows) -> Similarities:
        config, none = self._config, np.zeros(rows.size)
        cosine, keywords = self._cosine.of(rows), self._keywords(rows)
        subject = tags = none
        if self._tags:
            held = self._reader.has_tags(self._tags, rows)
            named: NDArray[np.bool_] = np.logical_or.reduce(held[: len(self._subjects)])
            subject = named.astype(np.float64)
            for share, tagged in zip(self._traits.values(), held[len(self._subjects) :], strict=True):
                tags = np.maximum(tags, share * tagged)
        own = cosine + self.keyword_weight * keywords
        turns = self._turns.measure(rows, own, self._own_similarity)
        message = turns.message - config.retrieval.fact_cost * shares_of_sources(
            self._view, rows, self._admission.admits
        )
        subject = np.maximum(subject, self._turns.named(rows))
        similarity = (
            own
            + config.retrieval.subject_weight * subject
            + config.retrieval.tag_weight * tags
            + turns.neighbours
            + message
        ) / self._total
        return Similarities(rows, np.array((similarity, cosine, keywords, turns.neighbours, message, subject, tags)))

    def _own_similarity(self, rows: Rows) -> Values:
        """Return the weighted sum of cosine and keywords (n,)."""
        return self._cosine.of(rows) + self.keyword_weight * self._keywords(rows)

    def _keywords(self, rows: Rows) -> Values:
        if not self._best_keywords:
            return np.zeros(rows.size)
        # A text that only the graph reaches may have a higher BM25 than all candidates.
        return np.minimum(1.0, self._keyword.of(rows) / self._best_keywords)


class _Scores:
    """Scores of nodes; each is computed once."""

    def __init__(self, measure: Callable[[Rows], Values]) -> None:
        """Take the function that returns the scores of nodes (n,)."""
        self._measure = measure
        self._rows, self._values = NOTHING

    def add(self, rows: Rows, values: Values) -> None:
        """Take the scores of nodes without one, in any order."""
        rows, values = np.concatenate((self._rows, rows)), np.concatenate((self._values, values))
        order = rows.argsort()
        self._rows, self._values = rows[order], values[order]

    def of(self, rows: Rows) -> Values:
        """Return the scores of nodes (n,)."""
        held = contained(self._rows, rows)
        if not held.all():
            unknown = rows[~held]
            self.add(unknown, self._measure(unknown))
        found: Values = self._values[self._rows.searchsorted(rows)]
        return found
