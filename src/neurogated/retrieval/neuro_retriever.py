"""Answers a question with a `Recall`, in stages: kernel, anchors, activation, ranking."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import islice, repeat
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, Moment, checked_moment, checked_version, from_micros, local, to_micros, utc_now
from neurogated.core.columns import highest
from neurogated.core.defaults import default_models
from neurogated.core.energy import EnergyLaw
from neurogated.core.filters import FilterOptions, recallable
from neurogated.core.kernel import Kernel
from neurogated.core.model import MemoryNode
from neurogated.core.ports import Embedder, GraphStorePort, KernelSource, Snapshot, SupportsKernelBatch
from neurogated.core.read_only import Deferred
from neurogated.core.sentiment import SentimentScale
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.core.view import Rows, best_places
from neurogated.retrieval.activation import Activation, SpreadingActivation
from neurogated.retrieval.dimensions import Dimensions
from neurogated.retrieval.dormancy import Admission, Scored
from neurogated.retrieval.formula import CANDIDATES, FORMULA, Formula
from neurogated.retrieval.kernel_generator import UNIFORM, UniformKernelSource
from neurogated.retrieval.queries import (
    Asked,
    checked_number,
    checked_queries,
    checked_top,
    corrected,
    each_question,
    first_phase,
    merged,
    plain_query,
    rare_words,
    started,
    with_questions,
    without_request,
    zone_of,
)
from neurogated.retrieval.ranking import (
    RERANKED,
    RankedNodes,
    Ranking,
    Reranker,
    activated_of,
    confidence,
    evidence_of,
    lifted_scores,
    memories_of,
    recency_of,
    relays_of,
    relevance_of,
    reranked,
    trust_in_graph,
    withheld,
)
from neurogated.retrieval.replaced import in_present_order, may_replace, with_later
from neurogated.retrieval.similarity import QuestionSimilarity
from neurogated.retrieval.turns import Samples
from neurogated.text.strings import checked_names
from neurogated.text.time_spans import times_of
from neurogated.text.times import Zone

Values = NDArray[np.float64]

_log = logging.getLogger(__name__)

_STAGES = ("embed", "kernel", "search", "activate", "rank")
_RECALLED = f"recalled %d memories: {', '.join(f'{stage} %.4f s' for stage in _STAGES)}"
_SLOW_EMBEDDING = 0.002  # seconds; a thread beside a quicker embedder costs more time than it saves
_FOLLOWED = 20  # a later memory counts as found among so many, so that short recalls begin as longer ones do
# Seconds that a recall waits for its turn; then it runs without one, so a thread that holds another lock cannot cause a
# deadlock.
_MAX_WAIT = 0.05
_RERANKED_NOTE = f"the reranker ordered the {RERANKED} best; a score without its term reranker is that of the formula"
# Share of its score that a dormant memory without energy loses.
_DORMANT_COST = 0.1


class RecallOptions(FilterOptions, total=False):
    """Options of a recall."""

    top_n: int | None
    """Number of memories to return; default: `TOP_N_RETRIEVAL`. A recall returns fewer if there are fewer."""
    as_of: int | Moment | None
    """Number of a delta, or a time: recall from the graph and the texts as they were stored then."""
    valid_at: Moment | None
    """Recall only nodes and edges that are valid at this time."""
    min_score: float | None
    """Leave out memories with a lower score."""
    min_confidence: float | None
    """Return no memory if the recall's `confidence` is lower, 0–1."""
    include_dormant: bool
    """Whether dormant memories rank as if they were awake."""
    include_duplicates: bool
    """Whether to find all memories that say the same, and not only the clearest; see `metabolism.find_duplicates`."""
    except_ids: Collection[str]
    """Leave out the memories with these ids, such as the message that asks; no activation flows through them."""
    now: Moment | None
    """The present, for recency and for time spans such as "last week"; default: the clock's time."""
    timezone: str | None
    """The zone of the days that the question means and that the texts of the recall show, such as `Europe/Berlin`.
    Default: the setting `timezone`, or else the offset in which `now` is given, or else the machine's zone."""


class NeuroRetriever:
    """Retrieves by spreading activation. It only reads: the caller counts the accesses in the recall's `access`."""

    def __init__(
        self,
        store: GraphStorePort,
        config: MemoryConfig | None = None,
        *,
        embedder: Embedder | None = None,
        kernel_source: KernelSource | None = None,
        clock: Clock = utc_now,
        formula: Formula = FORMULA,
        reranker: Reranker | None = None,
    ) -> None:
        """Take the graph.

        Args:
            store: the graph.
            config: settings. Default: read from the environment, or the default values if `embedder` and
                `kernel_source` are given.
            embedder: makes the vectors of questions. Default: the embedder that `config` names.
            kernel_source: chooses the kernel of a question. Default: the source that `config` names.
            clock: returns the time.
            formula: the numbers of the score.
            reranker: puts the best memories into order; None: the score alone does.

        Raises:
            EmbedderMismatchError: `config` names another embedder than the one that made the store's vectors.
        """
        if embedder is None or kernel_source is None:
            models = default_models(config)
            config, kernel_source = models.config, kernel_source or models.kernel_source
            if embedder is None:
                embedder = models.embedder
                store.bind_embedder(embedder.name, None)
        config = MemoryConfig() if config is None else config
        self._store = store
        self._config = config
        self._embedder = embedder
        self._kernels = UniformKernelSource() if config.retrieval.kernels == UNIFORM else kernel_source
        self._kernel_batches = self._kernels if isinstance(self._kernels, SupportsKernelBatch) else None
        self._clock, self._reranker = clock, reranker
        self._turns = threading.BoundedSemaphore(os.cpu_count() or 1)
        self._embeds_slowly = False
        self._samples: Samples | None = None
        self._activation = SpreadingActivation(config, formula)
        self._law = EnergyLaw(config.metabolism)
        self._classic = config.ACTIVATION == "classic"
        self._gates = formula.gate_exponent > 0 and not self._classic
        self._formula, self._similarity_config = formula, config
        if self._classic:
            # Only the cosine selects the anchors, as the specification says.
            self._formula, self._similarity_config = formula.of_cosine, config.replace(retrieval={"keyword_weight": 0})

    def retrieve(self, query: str, **options: Unpack[RecallOptions]) -> list[MemoryNode]:
        """Return the nodes of `recall(query)`, best first."""
        return [memory.node for memory in self.recall(query, **options)]

    def recall(self, query: str, **options: Unpack[RecallOptions]) -> Recall:
        """Return the memories that answer `query`.

        Args:
            query: a question or any text.
            **options: see `RecallOptions`.

        Raises:
            InputError: the query is blank, an option is invalid, or `as_of` is no number of a delta.
        """
        return self.recall_batch([query], **options)[0]

    def recall_batch(
        self,
        queries: Sequence[str],
        *,
        top_n: int | None = None,
        as_of: int | Moment | None = None,
        valid_at: Moment | None = None,
        min_score: float | None = None,
        min_confidence: float | None = None,
        include_dormant: bool = False,
        include_duplicates: bool = False,
        except_ids: Collection[str] = (),
        now: Moment | None = None,
        timezone: str | None = None,
        **filters: Unpack[FilterOptions],
    ) -> list[Recall]:
        """Return the recall of each query; the queries are searched together, and all recalls read the same view."""
        queries = checked_queries(queries)
        wanted = checked_top(self._config.TOP_N_RETRIEVAL if top_n is None else top_n)
        zone = zone_of(timezone, now, self._config.zone)
        then, held = checked_version(as_of, zone), checked_moment("valid_at", valid_at, zone)
        present = to_micros(checked_moment("now", now, zone) or self._clock())
        day, surest = local(from_micros(present), zone), checked_number("min_confidence", min_confidence, 0, 1)
        least, wanted_nodes = checked_number("min_score", min_score, -np.inf), recallable(filters)
        if not queries:
            return []
        given, sizes = (queries, [1] * len(queries)) if self._classic else each_question(queries)
        left_out = frozenset(checked_names("except_ids", except_ids, exact=True))
        store = self._store if then is None else self._store.as_of(then)
        snapshot = store.snapshot(valid_at=held, filters=wanted_nodes, without=left_out)
        view = snapshot.view
        law = self._law if as_of is None and not include_dormant else None
        is_short = as_of is None and not include_duplicates
        groups = is_short and self._config.metabolism.find_duplicates
        admission = partial(Admission, view, present, law, groups, is_short)
        asked, found, shared = self._found(snapshot, given, admission, wanted, (present, zone, day))
        memories = memories_of(snapshot, found, least)
        shared.lap("rank")
        share = {stage: seconds / len(queries) for stage, seconds in shared.seconds.items()}
        recalls = merged(map(self._recall, asked, found, memories, repeat(share)), sizes, wanted)
        shown = snapshot if valid_at is None else store.snapshot(filters=wanted_nodes, without=left_out)
        recalls = in_present_order(store, view, shown, recalls, wanted, present=day, held=held)
        left, embed = iter(found), self._embedder.embed_documents
        following = [np.concatenate([one.ranking.following for one in islice(left, size)]) for size in sizes]
        recalls = with_later(snapshot, embed, recalls, following, wanted, present=day)
        return [withheld(recall, surest, filters.get("user_id")) for recall in recalls]

    def scores(self, query: str, snapshot: Snapshot, *, top_n: int) -> list[tuple[str, float]] | None:
        """Return the ids and scores of a recall with `include_duplicates` of memories that nobody has said, best first.

        It reads no texts. A recall puts what was said later, and what holds, before what it replaces: only if somebody
        states facts beside such memories, as items are, may this concern them. Then only a recall ranks them: None.
        """
        if self._classic or self._reranker is not None or may_replace(snapshot.view) or len(with_questions(query)) > 1:
            return None
        present, zone, ids = to_micros(self._clock()), self._config.zone, snapshot.view.ids
        admission = partial(Admission, snapshot.view, present, self._law)
        times = present, zone, local(from_micros(present), zone)
        _, (found,), _ = self._found(snapshot, checked_queries([query]), admission, top_n, times, rates=False)
        rows, values = found.ranking.likeness.rows.tolist(), found.ranking.score.tolist()
        return [(ids[row], value) for row, value in zip(rows, values, strict=True)]

    def _found(
        self,
        snapshot: Snapshot,
        given: Sequence[str],
        admission: Callable[[], Admission],
        wanted: int,
        times: tuple[int, Zone, datetime],
        *,
        rates: bool = True,
    ) -> tuple[list[Asked], list[RankedNodes], Stopwatch]:
        """Search for questions; `times` are the present in microseconds, the zone, and the present in the zone."""
        depth, (present, zone, day) = max(wanted, CANDIDATES), times
        plain, queries = self._worded(snapshot, given)
        admissions = [admission() for _ in queries]
        known, shared = self._samples, Stopwatch()
        samples = Samples(snapshot, self._similarity_config, self._formula) if known is None else known.of(snapshot)
        spans, keywords = zip(*(times_of(query, day) for query in queries), strict=True)
        searches = samples.few_rows is None
        search = partial(first_phase, snapshot, self._similarity_config, keywords, depth=depth) if searches else None
        vectors, kernels, found_first = self._read(queries, search, shared)
        # More recalls at once than cores would compete for the interpreter lock.
        has_turn = self._turns.acquire(timeout=_MAX_WAIT)
        try:
            shared.lap("other")
            closest = snapshot.nearest(list(vectors), depth) if searches else repeat(None)
            first, when = found_first() if found_first else repeat(None), map(repeat, (present, zone))
            asked = list(map(Asked, given, plain, queries, vectors, kernels, closest, *when, spans, keywords, first))
            shared.lap("search")
            find = partial(self._find, samples=samples, wanted=wanted, rates=rates)
            found = list(map(find, asked, admissions))
            self._samples = samples.kept()
            shared.lap("other")
            return asked, found, shared
        finally:
            if has_turn:
                self._turns.release()

    def _worded(self, snapshot: Snapshot, given: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the queries without requests, and also with typing errors corrected."""
        existing, rare = snapshot.existing_tags, partial(rare_words, snapshot)

        def holding(terms: Collection[str]) -> bool:
            return snapshot.rows_with(terms, 1).size > 0

        plain = [without_request(query, rare, existing) for query in map(plain_query, given)]
        return plain, [corrected(query, existing, self._embedder.count_tokens, holding) for query in plain]

    def _read(
        self, queries: Sequence[str], search: Callable[[], list[Scored]] | None, watch: Stopwatch
    ) -> tuple[NDArray[np.float32], list[Kernel], Callable[[], list[Scored]] | None]:
        """Embed the questions, choose their kernels, and return a function that returns the first phase.

        If the last questions took long to embed, a thread runs the first phase meanwhile. Beside a quick embedder, a
        thread costs more time than it saves.
        """
        finish = started(search).result if search and self._embeds_slowly else search
        vectors = self._embedder.embed_queries(queries)
        watch.lap("embed")
        self._embeds_slowly = watch.seconds["embed"] > _SLOW_EMBEDDING
        batches = self._kernel_batches
        kernels = (
            batches.generate_batch(queries, vectors) if batches else list(map(self._kernels.generate, queries, vectors))
        )
        watch.lap("kernel")
        return vectors, kernels, finish

    def _find(self, asked: Asked, admission: Admission, samples: Samples, wanted: int, *, rates: bool) -> RankedNodes:
        """Spread activation from the most similar nodes, and rank those and the nodes that it reaches.

        The confidence is 0 unless it `rates` them.
        """
        view, own, query, kernel = admission.view, Stopwatch(), asked.query, asked.kernel
        likeness = QuestionSimilarity(
            samples, query=query, vector=asked.vector, kernel=kernel, admission=admission, keywords=asked.keywords
        )
        likeness.propose(max(wanted, CANDIDATES), asked.nearest, asked.first)
        scale = SentimentScale.of_embedder(self._embedder.name)
        dimensions = Dimensions(samples.snapshot, self._similarity_config, likeness, asked, scale)
        anchors = [(view.ids[row], start) for row, start in dimensions.anchors(self._config.TOP_K_ANCHORS)]
        own.lap("search")
        best = float(np.maximum.reduce(likeness.known.similarity, initial=0.0)) or 1.0

        def gate(rows: Rows) -> Values:
            """Return the similarities of nodes to the question divided by that of the best candidate, 0–1."""
            return np.minimum(np.maximum(likeness.similarity_of(rows) / best, 0.0), 1.0)

        activation = self._activation.spread(view, dict(anchors), kernel, gate if self._gates else None)
        own.lap("activate")
        if self._classic:
            ranking = self._by_activation(activation, likeness, wanted, admission)
        else:
            judge = self._reranker
            relevance = None if judge is None else partial(relevance_of, judge, samples.snapshot, asked.given)
            ranking = self._by_score(activation, likeness, wanted, admission, dimensions, relevance=relevance)
        known = likeness.admitted if rates else None
        sure = known and confidence(evidence_of(samples.snapshot, query, known), self._embedder.name)
        own.lap("rank")
        raised = likeness.keyword_weight > self._similarity_config.retrieval.keyword_weight
        note = f"the texts have similar vectors, so keywords have the weight {likeness.keyword_weight:.2f}"
        notes = (note,) * raised + (_RERANKED_NOTE,) * (self._reranker is not None)
        return RankedNodes(tuple(anchors), activation, ranking, own.seconds, notes, sure or 0.0)

    def _recall(
        self, asked: Asked, found: RankedNodes, memories: tuple[RecalledMemory, ...], share: Mapping[str, float]
    ) -> Recall:
        seconds = {stage: share.get(stage, 0.0) + found.seconds.get(stage, 0.0) for stage in _STAGES}
        _log.debug(_RECALLED, len(memories), *seconds.values())
        return Recall(
            asked.given,
            memories,
            asked.kernel,
            found.anchors,
            self._config.ACTIVATION,
            seconds=seconds,
            confidence=found.confidence if memories else 0.0,
            trust=found.ranking.trust,
            notes=(*asked.notes(), *found.notes),
            relays=Deferred(partial(relays_of, found, memories)),
            activated=found.ranking.activated,
            zone=asked.zone,
        )

    def _by_activation(
        self, activation: Activation, likeness: QuestionSimilarity, wanted: int, admission: Admission
    ) -> Ranking:
        """Rank active nodes by activation; the other candidates follow by similarity."""
        view = activation.view
        rows, totals = admission.admitted(*activation.total)
        sleep = 0.0 - _DORMANT_COST * admission.lost(rows) * totals
        active = best_places(view, rows, totals + sleep, wanted)
        idle = likeness.of(np.setdiff1d(likeness.admitted.rows, rows, assume_unique=True))
        closeness = idle.similarity * (1.0 - _DORMANT_COST * admission.lost(idle.rows))
        fill = best_places(view, idle.rows, closeness, wanted - len(active))
        ranked, none = np.concatenate((rows[active], idle.rows[fill])), np.zeros(len(fill))
        scores = np.concatenate(((totals + sleep)[active], none))
        terms = {"start": activation.anchors.at(ranked), "activation": activation.spread.at(ranked)}
        terms["dormant"] = np.concatenate((sleep[active], none))
        parts = terms | {"recency": np.zeros(ranked.size)}
        return Ranking(likeness.of(ranked), scores, parts, terms, np.ones(ranked.size))

    def _by_score(
        self,
        activation: Activation,
        likeness: QuestionSimilarity,
        wanted: int,
        admission: Admission,
        dimensions: Dimensions,
        *,
        relevance: Callable[[Rows], Values] | None,
    ) -> Ranking:
        """Rank candidates and active nodes by the weighted sum of similarity, spread activation, recency and energy.

        The trust in the graph multiplies the activation, of which less counts for long messages.
        """
        config, view = self._config, activation.view
        reached, values = admission.admitted(*activation.spread)
        likeness.similarity_of(reached)
        known = likeness.admitted
        recency = recency_of(view, known.rows, admission.now, config)
        energy_weight, rows = config.retrieval.energy_weight, known.rows
        energy = self._law.ranked(view, rows, admission.now) if energy_weight else np.zeros(rows.size)
        gains = dimensions.terms(known.rows)
        fit = config.SIMILARITY_WEIGHT * known.similarity + sum(gains.values())
        if not fit.size:
            return Ranking(known, fit, {}, {}, fit)
        trust = trust_in_graph(highest(fit, 2), config, self._formula)
        sleep = 0.0 - _DORMANT_COST * admission.lost(known.rows) * np.maximum(0.0, fit)
        base = fit + config.RECENCY_WEIGHT * recency + energy_weight * energy + sleep
        # If a question names several subjects, such as two that it compares, these rank before their neighbours.
        subjects = max(1, len(likeness.named))
        scales, places = np.zeros(known.rows.size), np.searchsorted(known.rows, reached)
        scales[places] = known.shares[places] * trust / subjects
        arrived = np.zeros(known.rows.size)
        arrived[places] = values * scales[places]
        lift = config.ACTIVATION_WEIGHT * arrived
        order, score = lifted_scores(base, lift, config, self._formula)
        newest = dimensions.newest(known.rows, score)
        if np.logical_or.reduce(newest):
            gains["newest"] = newest
            order = score = score + newest
        best = best_places(view, known.rows, order, max(wanted, _FOLLOWED if relevance is None else RERANKED))
        parts = {"activation": arrived, "recency": recency, "energy": energy}
        terms = {
            "similarity": config.SIMILARITY_WEIGHT * known.similarity,
            "activation": lift,
            "recency": config.RECENCY_WEIGHT * recency,
            "energy": energy_weight * energy,
            "dormant": sleep,
            **gains,
            "held_back": score - (base + lift + newest),
        }
        if relevance is not None:
            best, parts["reranker"], terms["reranker"] = reranked(best, known.rows, score, relevance)
            score = score + terms["reranker"]
        best, following = best[:wanted], known.rows[best[wanted:]]
        part, summed = (Deferred(partial(_of_places, columns, best)) for columns in (parts, terms))
        ranked, share = known.at(best), trust / subjects
        others = Deferred(partial(activated_of, view, reached, arrived[places], ranked.rows, config.TOP_K_ANCHORS))
        return Ranking(ranked, score[best], part, summed, scales[best], trust, share, others, following)


def _of_places(columns: Mapping[str, Values], places: Sequence[int]) -> dict[str, Values]:
    return {name: column[places] for name, column in columns.items()}


class Stopwatch:
    """The seconds of consecutive stages."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._begin = time.perf_counter()

    def lap(self, stage: str) -> None:
        """Count the time since the last call for this stage."""
        begin, self._begin = self._begin, time.perf_counter()
        self.seconds[stage] = self._begin - begin
