"""The similarity of memories to a question: vectors, keywords, turns, subject and tags together."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import distinct
from neurogated.core.derivation import is_derived
from neurogated.core.edge_type import EdgeType
from neurogated.core.kernel import DIMENSIONS, Kernel
from neurogated.core.rendering import PLACE, SUBJECT, TRAIT, named_among, names_in
from neurogated.core.turns import CALLS, named_places, role_tag
from neurogated.core.view import GraphView, Rows, best_places
from neurogated.retrieval.dormancy import NOTHING, Admission, Scored
from neurogated.retrieval.turns import ROLES, Samples, Turns, roles_called
from neurogated.text.keywords import fold, split_words, without_final_s

PARTS = ("cosine", "keywords", "neighbours", "message", "subject", "tags")
"""The parts of the similarity of a memory."""
Values = NDArray[np.float64]
_ROLES = frozenset(map(role_tag, ROLES))


class Similarities(NamedTuple):
    """The similarity of some nodes, with its parts; (n,) each."""

    rows: Rows
    """Ascending."""
    similarity: Values
    """Weighted sum of the parts, divided by the highest sum that the best match could have, -1–1."""
    cosine: Values
    """Cosine of the vectors, -1–1."""
    keywords: Values
    """BM25 divided by the best BM25 of all nodes, 0–1."""
    neighbours: Values
    """Term of the turns around a turn; 0 outside conversations."""
    message: Values
    """Term of the length, position and role of a message, and cost of a fact; 0 for other memories."""
    subject: Values
    """1 if the question names the subject or the speaker of the node, else 0."""
    tags: Values
    """Highest share in the kernel of a tag that the node has, 0–1."""
    shares: Values
    """Share of its activation that counts for the score of each node, 0–1: less for long messages."""

    def at(self, places: Sequence[int] | NDArray[np.bool_]) -> Similarities:
        """Return the similarities at some places, in their order."""
        return Similarities._make([column[places] for column in self])


class QuestionSimilarity:
    """Similarity of one question to the nodes of a view.

    Vector and keyword search propose candidates. Other nodes, such as those that activation reaches, are measured in
    the same way. Each node is measured once. If the recall may find few nodes, all of them are measured together with
    the candidates.
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
        snapshot, view, formula = samples.snapshot, samples.view, samples.formula
        self._snapshot, self._view, self.formula, self._samples = snapshot, view, formula, samples
        self._admission = Admission(view, 0) if admission is None else admission
        self._asked_words = query if keywords is None else keywords
        self._vector = vector
        self._few = samples.few_rows
        folded = fold(query)
        words = split_words(folded)
        found, calls = _names(words, snapshot.existing_tags)
        titles = named_among(found, SUBJECT)
        # A name within a longer name is no subject of its own, such as "Leland" in "Leland, North Carolina".
        self.named = frozenset(
            name for name in titles if not any(name != other and f" {name} " in f" {other} " for other in titles)
        )
        """Subjects that the question names, as folded words."""
        places = named_among(found, PLACE)
        self.places = sorted(PLACE + one for one in named_places(query, places)) if places else []
        """Tags of the places that the question names."""
        has_subjects = bool(formula.subject_weight)
        self._subjects = [*found.difference([PLACE + one for one in places])] if has_subjects else []
        # The turns of a speaker whom the question calls by a learned name have the subject of the question, too.
        self._subjects += map(role_tag, roles_called(snapshot, calls)) if has_subjects and calls else ()
        self._traits = {tag: share for tag, share in kernel.tags.items() if tag not in DIMENSIONS}
        self._tags = [*self._subjects, *(TRAIT + one for one in self._traits)]
        self._best_keywords = 0.0
        self._turns = Turns(samples, folded)
        self.keyword_weight = samples.keyword_weight
        """`retrieval.keyword_weight`, or more if the embedder finds all texts alike."""
        self._total = 1.0 + self.keyword_weight + formula.subject_weight + formula.tag_weight
        # Of each node its column in the table, 0 without one. The table has the columns of `Similarities`, where the
        # similarity is NaN until it is measured, and a last one: whether the node is known.
        self._place = np.zeros(view.node_count, dtype=np.int32)
        self._table = np.zeros((3 + len(PARTS), 1))
        self._table[0] = np.nan
        self._rows, _ = NOTHING
        self._known: Similarities | None = None

    def propose(self, count: int, nearest: Scored | None = None, found: Scored | None = None) -> Similarities:
        """Return the nodes that vector search and keyword search find, up to `count` each.

        `nearest` and `found` are the results of these searches, if the caller has them.
        """
        few, snapshot, admission = self._few, self._snapshot, self._admission
        cosines = keywords = np.empty(0)
        if few is None:
            nearest = admission.best(count, lambda most: snapshot.nearest([self._vector], most)[0], nearest)
        else:
            admission.decide(few)
            # The cosines and the BM25 of all nodes that the recall may find are measured.
            cosines = snapshot.similarities(self._vector, few, np.nan)
            has_vector = ~np.isnan(cosines)
            nearest = admission.best(count, partial(_best_of, self._view, (few[has_vector], cosines[has_vector])))
            cosines[~has_vector] = 0.0
        by_keywords = NOTHING
        if self.keyword_weight:
            search = partial(snapshot.keyword_search, self._asked_words)
            if few is not None:
                keywords = snapshot.keyword_scores(self._asked_words, few)
                (shared,) = keywords.nonzero()
                search = partial(_best_of, self._view, (few[shared], keywords[shared]))
            by_keywords = admission.best(count, search, found)
            # A fact has the words of several memories, so its BM25 is no measure for theirs.
            originals = ~is_derived(self._view, by_keywords[0]) if self._samples.has_derived else True
            self._best_keywords = float(np.maximum.reduce(by_keywords[1], initial=0.0, where=originals))
        rows = distinct(np.concatenate((nearest[0], by_keywords[0], admission.replaced)))
        if few is None:
            cosines = _completed(rows, nearest, partial(snapshot.similarities, self._vector))
            keywords = _completed(rows, by_keywords, self._bm25)
        self._add(rows if few is None else few, cosines, keywords)
        self._measure(rows if few is None else few, rows)
        self._met(rows)
        self._scale()
        return self.known

    @property
    def known(self) -> Similarities:
        """The candidates, and the nodes that were asked for."""
        if self._known is None:
            rows = np.sort(self._rows)
            self._known = Similarities(rows, *self._table[:-1, self._place[rows]])
        return self._known

    @property
    def admitted(self) -> Similarities:
        """The known nodes that the recall may return."""
        known = self.known
        may = self._admission.admits(known.rows)
        return known if np.logical_and.reduce(may) else known.at(may)

    def of(self, rows: Rows) -> Similarities:
        """Return the similarity of nodes with its parts; `rows` ascend."""
        places = self._met(rows)
        return Similarities(rows, *self._table[:-1, places])

    def similarity_of(self, rows: Rows) -> Values:
        """Return the similarity of nodes (n,); `rows` ascend."""
        places = self._met(rows)
        similarity: Values = self._table[0, places]
        return similarity

    def _met(self, rows: Rows) -> NDArray[np.int32]:
        """Return the columns of nodes, which are measured and known from now on."""
        places = self._place[rows]
        (unknown,) = np.isnan(self._table[0, places]).nonzero()
        if unknown.size:
            self._measure(rows[unknown])
            places = self._place[rows]
            measured = places[unknown]
            # A node that only the graph reaches may exceed the best match.
            self._table[0, measured] = np.minimum(self._table[0, measured], 1.0)
        (fresh,) = (self._table[-1, places] == 0.0).nonzero()
        if fresh.size:
            self._table[-1, places[fresh]] = 1.0
            self._rows, self._known = np.concatenate((self._rows, rows[fresh])), None
        return places

    def _add(self, rows: Rows, cosines: Values, keywords: Values) -> None:
        """Take nodes with their cosines and their BM25."""
        size = self._table.shape[1]
        columns = np.zeros((self._table.shape[0], rows.size))
        columns[0], columns[1], columns[-2] = np.nan, cosines, 1.0
        if self._best_keywords:
            # A text that only the graph reaches may have a higher BM25 than all candidates.
            columns[2] = np.minimum(1.0, keywords / self._best_keywords)
        self._table = np.concatenate((self._table, columns), axis=1)
        self._place[rows] = np.arange(size, size + rows.size)

    def _own(self, rows: Rows) -> NDArray[np.int32]:
        """Return the columns of nodes in the table, which has at least their cosines and keywords from now on."""
        places = self._place[rows]
        if not np.logical_and.reduce(places):
            new = rows[places == 0]
            self._add(new, self._snapshot.similarities(self._vector, new), self._bm25(new))
            places = self._place[rows]
        return places

    def _bm25(self, rows: Rows) -> Values:
        return self._snapshot.keyword_scores(self._asked_words, rows) if self._best_keywords else np.zeros(rows.size)

    def _scale(self) -> None:
        """Divide similarities by the highest value that the best match could have; the order does not change.

        A part that the best match cannot have does not lower its similarity, such as a subject if the question names
        none.
        """
        admitted, self._known = self.admitted, None
        similarity = self._table[0]
        if admitted.rows.size:
            best, formula = int(admitted.similarity.argmax()), self.formula
            total = 1.0 + self.keyword_weight * bool(self._best_keywords)
            total += formula.subject_weight * admitted.subject[best] + formula.tag_weight * admitted.tags[best]
            total = max(1.0, total + admitted.neighbours[best] + admitted.message[best])
            similarity *= self._total / total
            self._total = float(total)
        if self._few is not None:
            np.minimum(similarity, 1.0, out=similarity, where=self._table[-1] == 0)

    def _measure(self, rows: Rows, candidates: Rows | None = None) -> None:
        formula, places = self.formula, self._own(rows)
        cosine, keywords = self._table[1:3, places]
        own = similarity = cosine + self.keyword_weight * keywords
        if self._tags:
            held = self._snapshot.has_tags(self._tags, rows)
            subject = np.logical_or.reduce(held[: len(self._subjects)]).astype(np.float64)
            tags = np.zeros(rows.size)
            for share, tagged in zip(self._traits.values(), held[len(self._subjects) :], strict=True):
                tags[tagged] = np.maximum(tags[tagged], share)
            self._table[5:7, places] = subject, tags
            similarity = own + formula.subject_weight * subject + formula.tag_weight * tags
        turns, message = self._turns.measure(rows, own, self._similarity_alone, candidates), None
        if turns is not None:
            self._table[3, places], message, self._table[7, places] = turns
            similarity = similarity + turns.neighbours
        if formula.fact_cost and self._samples.has_derived:
            cost = formula.fact_cost * shares_of_sources(self._view, rows, self._admission.admits)
            message = -cost if message is None else message - cost
        if message is not None:
            self._table[4, places] = message
            similarity = similarity + message
        self._table[0, places] = similarity / self._total

    def _similarity_alone(self, rows: Rows) -> Values:
        places = self._own(rows)
        own: Values = self._table[1, places] + self.keyword_weight * self._table[2, places]
        return own


def _names(
    words: Sequence[str], existing: Callable[[Iterable[str]], frozenset[str]]
) -> tuple[frozenset[str], list[str]]:
    """Return the tags of the names among the words of a question, and the words by which turns address somebody.

    Without turns of both roles, no turn has a role of which somebody else is called.
    """
    both = [words, without_final_s(words)]
    calls = {CALLS + word: word for word in dict.fromkeys(chain(*both))}
    known: frozenset[str] | None = None

    def found(tags: Iterable[str]) -> frozenset[str]:
        nonlocal known
        if known is not None:
            return existing(tags)
        # One lookup finds the beginnings of names, the calls and the roles.
        known = existing({*tags, *calls, *_ROLES})
        return known

    named = frozenset[str]().union(*names_in(both, found))
    return named, [word for tag, word in calls.items() if tag in known] if known and known >= _ROLES else []


def _completed(rows: Rows, scored: Scored, measure: Callable[[Rows], Values]) -> Values:
    """Return the scores of `rows`, which ascend: those that a search found, and the others measured."""
    values, is_found = np.empty(rows.size), np.zeros(rows.size, dtype=np.bool_)
    places = rows.searchsorted(scored[0])
    values[places], is_found[places] = scored[1], True
    if not np.logical_and.reduce(is_found):
        values[~is_found] = measure(rows[~is_found])
    return values


def _best_of(view: GraphView, scored: Scored, count: int) -> Scored:
    rows, values = scored
    best = best_places(view, rows, values, count)
    return rows[best], values[best]


def shares_of_sources(view: GraphView, rows: Rows, admits: Callable[[Rows], NDArray[np.bool_]]) -> NDArray[np.float64]:
    """Return (n,) the share of each node's sources that the recall admits; 0 for nodes that were not derived.

    A fact is worth less while the question may find its sources themselves.
    """
    arcs = view.arcs(rows, EdgeType.DERIVED_FROM)
    found = np.bincount(arcs.origin[admits(arcs.target)], minlength=rows.size)
    return found / np.maximum(np.bincount(arcs.origin, minlength=rows.size), 1)
