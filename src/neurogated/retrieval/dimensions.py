"""Anchors of several dimensions: the time, the place, the feeling and the causes that a question means.

A question that names none of them has no dimension, and its recall does not change.
"""

import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import day_in, from_micros
from neurogated.core.columns import distinct
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import Said
from neurogated.core.kernel import CAUSE, EFFECT, NEWEST, PLACE, SENTIMENT, SPAN
from neurogated.core.ports import Snapshot
from neurogated.core.sentiment import SentimentScale
from neurogated.core.view import Rows, best_places
from neurogated.retrieval.formula import CANDIDATES
from neurogated.retrieval.queries import Asked
from neurogated.retrieval.similarity import QuestionSimilarity
from neurogated.text.keywords import NEGATIONS, fold, language_of
from neurogated.text.strings import table_of
from neurogated.text.time_spans import Span, spans_in

_LOW, _HIGH = (
    {language: "".join(words.split()) for language, words in table_of(__package__, "feelings")[name].items()}
    for name in ("low", "high")
)
"""Unhappy and happy words of each language, folded."""
_PATTERNS = {
    language: re.compile(
        rf"\b(?:(?P<low>{low})|(?P<high>{_HIGH[language]}))\b|(?P<han_low>{_LOW['zh']})|(?P<han_high>{_HIGH['zh']})"
    )
    for language, low in _LOW.items()
    if language != "zh"
}
_LAST_WORD = re.compile(r"([\w']+)\W*\Z")


def feeling_of(question: str) -> int:
    """Return -1 if a question names an unhappy feeling, 1 for a happy one, and 0 if it names none or both."""
    language, text, found = language_of(question), fold(question), set[int]()
    for match in _PATTERNS[language].finditer(text):
        before = _LAST_WORD.search(text[: match.start()])
        is_denied = before is not None and before[1] in NEGATIONS[language]
        found.add(-1 if is_denied == bool(match["high"] or match["han_high"]) else 1)
    return sum(found)


Values = NDArray[np.float64]
_NO_ROWS = np.empty(0, dtype=np.int64)

_TIME = "time"
# The match of a memory that was said far from the days that a question names relative to the present.
_FAR = -2.0
# Beyond this many memories at a place, the place alone says too little to propose them.
_MOST_AT_A_PLACE = 1000
# To a question for the newest, so many of the texts that were added last are proposed. Among the memories whose scores
# are less than the margin below the best, the newest gains the weight, and each older one a quarter less. If the best
# has less than the least score, the question names nothing that the memory knows, and all are compared.
_LAST_ADDED = 100
_NEWEST_MARGIN = 0.2
_LEAST_FIT = 0.35
_NEWEST_WEIGHT = 0.4
_NEXT_NEWEST = 0.75


class Dimensions:
    """The dimensions of one question. Each proposes candidates, and adds to the score of the memories that match."""

    def __init__(
        self,
        snapshot: Snapshot,
        config: MemoryConfig,
        likeness: QuestionSimilarity,
        asked: Asked,
        scale: SentimentScale | None,
    ) -> None:
        """Propose candidates to `likeness`; `scale` is that of the embedder."""
        self._snapshot, self._view, self._config, self._likeness = snapshot, snapshot.view, config, likeness
        self._asked, self._scale = asked, scale
        formula, kernel = likeness.formula, asked.kernel
        weights = {
            SPAN: (formula.time_span_weight, self._time),
            PLACE: (formula.place_weight, self._place),
            SENTIMENT: (formula.sentiment_weight, self._sentiment),
            CAUSE: (formula.cause_weight, lambda: self._linked(inwards=True)),
            EFFECT: (formula.cause_weight, lambda: self._linked(inwards=False)),
        }
        # The dimensions that the question names: the gain of a memory that matches fully, which is the weight of the
        # formula multiplied by the share in the kernel, and how well memories match, 0-1.
        self._found = {
            _TIME if tag == SPAN else tag: (weight * kernel.share(tag), match)
            for tag, (weight, find) in weights.items()
            if weight * kernel.share(tag) and (match := find()) is not None
        }
        # A question that names a time is about the memories of that time, not about the newest.
        self._newness = kernel.share(NEWEST) if asked.span is None else 0.0
        if self._newness:
            last = self._view.admitted_nodes()[-_LAST_ADDED:]
            likeness.of(last[~self._view.hides(last)])

    def terms(self, rows: Rows) -> dict[str, Values]:
        """Return the gain of nodes by dimension, each (n,)."""
        return {_TIME: np.zeros(rows.size)} | {
            name: weight * match(rows) for name, (weight, match) in self._found.items()
        }

    def newest(self, rows: Rows, scores: Values) -> Values:
        """Return the gain (n,) of the newest of the memories that have about equally good scores; of all, if none fits.

        The gain also makes up for what they score less than the best.
        """
        gains = np.zeros(rows.size)
        if not (self._newness and rows.size):
            return gains
        best = scores.max()
        near = np.flatnonzero(scores > best - _NEWEST_MARGIN) if best > _LEAST_FIT else np.arange(rows.size)
        present = from_micros(self._asked.present)
        places = {self._view.ids[row]: place for row, place in zip(rows[near].tolist(), near.tolist(), strict=True)}
        moments = [(one.timestamp or one.created_at, places[one.id]) for one in self._snapshot.nodes(rows[near])]
        order = sorted(one for one in moments if one[0] <= present)
        for age, (_, place) in enumerate(reversed(order)):
            gains[place] = self._newness * (best - scores[place] + _NEWEST_WEIGHT * _NEXT_NEWEST**age)
        return gains

    def anchors(self, count: int) -> Iterator[tuple[int, float]]:
        """Yield the rows of the best candidates, each with its activation at the start: similarity and gain, ≤ 1.

        A time span adds candidates but no activation: many memories are of one week.
        """
        known = self._likeness.known
        scores = known.similarity
        if gains := [weight * match(known.rows) for name, (weight, match) in self._found.items() if name != _TIME]:
            scores = np.minimum(1.0, scores + sum(gains))
        for place in best_places(self._view, known.rows, scores, count):
            yield int(known.rows[place]), float(scores[place])

    def _time(self) -> Callable[[Rows], Values] | None:
        """Match memories whose timestamp is in the span, or whose text names a day of it.

        Keyword search proposes those that contain its dates or weekdays.
        """
        span = self._asked.span
        if span is None:
            return None
        # The keyword index has days in UTC.
        for words in filter(None, (span.widened().dates, span.weekdays)):
            dated, _ = self._snapshot.keyword_search(words, CANDIDATES)
            self._likeness.of(np.sort(dated))
        rows = self._likeness.admitted.rows
        said = self._snapshot.said(rows)
        fits = {row: 1.0 for row, one in said.items() if self._is_of(one, span)}
        if fits and self._asked.keywords != self._asked.query:
            # "Last week" means these days; a month may also be the subject of what was said in another one.
            far = span.widened(span.last - span.first)
            others = [(row, one.timestamp) for row, one in said.items() if one.timestamp and row not in fits]
            fits |= {row: _FAR for row, moment in others if not far.holds(moment, self._asked.zone)}
        return _looked_up(rows, np.array([fits.get(row, 0.0) for row in rows.tolist()]))

    def _is_of(self, said: Said, span: Span) -> bool:
        zone = self._asked.zone or said.zone
        if span.holds(said.timestamp, zone):
            return True
        if not said.dated:
            return False
        day = said.timestamp and day_in(said.timestamp, zone)
        return any(map(span.meets, spans_in(said.dated, day)))

    def _place(self) -> Callable[[Rows], Values] | None:
        """Match memories of events at the place. Of these, the most similar to the question are proposed."""
        tags = self._likeness.places
        if not tags:
            return None
        few = self._snapshot.rare_rows_with(dict.fromkeys(tags, _MOST_AT_A_PLACE))
        rows = distinct(np.concatenate([*few.values(), _NO_ROWS]))
        rows = rows[self._view.admitted(rows) & ~self._view.hides(rows)]
        most = CANDIDATES
        if rows.size > most:
            cosines = self._snapshot.similarities(self._asked.vector, rows)
            rows = np.sort(rows[np.argpartition(-cosines, most)[:most]])
        self._likeness.of(rows)
        return lambda some: np.logical_or.reduce(self._snapshot.has_tags(tags, some)).astype(np.float64)

    def _sentiment(self) -> Callable[[Rows], Values] | None:
        """Match memories by the strength of the feeling. Vector search towards the feeling proposes some."""
        scale = self._scale
        if scale is None or not (feeling := feeling_of(self._asked.query)):
            return None
        happy = scale.happy
        towards = self._asked.vector + feeling * happy
        towards /= np.linalg.norm(towards) or 1.0
        ((rows, _),) = self._snapshot.nearest([towards], CANDIDATES)
        self._likeness.of(np.sort(rows))

        def match(some: Rows) -> Values:
            return np.maximum(0.0, feeling * scale.sentiments(self._snapshot.similarities(happy, some)))

        return match

    def _linked(self, *, inwards: bool) -> Callable[[Rows], Values] | None:
        """Match the causes of the best candidates, or their effects if not `inwards`, by weight and similarity."""
        admitted = self._likeness.admitted
        best = best_places(self._view, admitted.rows, admitted.similarity, self._config.TOP_K_ANCHORS)
        arcs = self._view.arcs(admitted.rows[best], EdgeType.CAUSE, inwards=inwards)
        shown = ~self._view.hides(arcs.target)
        if not shown.any():
            return None
        rows, place = np.unique(arcs.target[shown], return_inverse=True)
        values = np.zeros(rows.size)
        np.maximum.at(values, place, arcs.weight[shown] * admitted.similarity[best][arcs.origin[shown]].clip(0.0, 1.0))
        self._likeness.of(rows)

        return _looked_up(rows, values)


def _looked_up(rows: Rows, values: Values) -> Callable[[Rows], Values]:
    """Return a function from rows to their values, 0 for a row that is not among `rows`, which ascend."""

    def match(some: Rows) -> Values:
        at = rows.searchsorted(some).clip(max=rows.size - 1)
        return np.where(rows[at] == some, values[at], 0.0)

    return match
