"""Turns clusters of memories that are used together into facts."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.consolidation.clusters import KNOWN_SHARE, ClusterFinder, is_known
from neurogated.consolidation.facts import agreeing, edges_of, fact_id, fact_of, faded, quoted
from neurogated.consolidation.sentence_cover import cover_with_rivals, sentences_of
from neurogated.consolidation.summaries import Summariser
from neurogated.core.clock import to_micros
from neurogated.core.commit import Plan
from neurogated.core.communities import CommunityFinder
from neurogated.core.conflicts import undisputed
from neurogated.core.delta import GraphDelta, NodeChange, Owner
from neurogated.core.derivation import same_source, source_rows
from neurogated.core.energy import EnergyLaw
from neurogated.core.model import MemoryNode
from neurogated.core.ports import Embedder, GraphStorePort
from neurogated.core.rendering import render
from neurogated.core.view import GraphView
from neurogated.core.watchdog import stage

__all__ = ["Consolidator", "Prepared"]

# The energy of a memory is multiplied by this when it becomes part of a fact.
_FADE = 0.5

# Most sentences that are chosen for a fact.
_SENTENCES = 4

# Share of the cluster's words and names that is enough for a fact.
_COVERAGE = 0.8

_log = logging.getLogger(__name__)


class Prepared(NamedTuple):
    """A fact that is not stored yet, and the versions of its sources that it was made from."""

    fact: MemoryNode
    sources: Sequence[MemoryNode]


class Consolidator:
    """Finds clusters, makes a fact of each, and stores the facts in one delta.

    Models run without a lock. The commit holds the write lock; it skips each fact whose sources have changed since, and
    each fact that another thread or process has stored meanwhile.
    """

    def __init__(
        self,
        store: GraphStorePort,
        embedder: Embedder,
        finder: CommunityFinder,
        config: MemoryConfig,
        summariser: Summariser | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._config = config.metabolism
        self._law = EnergyLaw(config.metabolism)
        self._clusters = ClusterFinder(finder, config.metabolism)
        self._summariser = summariser

    def prepare(self, at: datetime, most: int | None = None) -> Iterator[Prepared]:
        """Yield the fact of each cluster, the most used clusters first; at most `most` facts."""
        view, made = self._store.view(), 0
        calls = self._config.consolidation_calls
        for rows in self._clusters.find(view):
            if made == most:
                break
            stage(f"consolidating, {made} facts made")
            nodes = self._store.get_nodes([view.ids[row] for row in rows.tolist()], missing_ok=True)
            sources = sorted(agreeing(undisputed(self._store, view, nodes)), key=_in_time)
            if len(sources) < self._config.consolidation_least or self._store.has_node(fact_id(sources)):
                continue
            text, called = self._text(sources, allowed=calls > 0)
            calls -= called
            if text:
                made += 1
                yield Prepared(self._fact(view, sources, text, at), sources)

    def commit(self, prepared: Sequence[Prepared], commit: Callable[[Plan], GraphDelta], at: datetime) -> list[str]:
        """Store those of the facts that still fit, in one delta; return their ids."""
        if not prepared:
            return []
        kept: list[Prepared] = []

        def plan() -> GraphDelta:
            kept.extend(self._fitting(prepared))
            return self._delta(kept, at) if kept else GraphDelta()

        commit(plan)
        if skipped := len(prepared) - len(kept):
            _log.info("%d of %d facts were skipped: their memories have changed", skipped, len(prepared))
        return [fact.id for fact, _ in kept]

    def _text(self, sources: Sequence[MemoryNode], *, allowed: bool) -> tuple[str, bool]:
        """Return the text of a fact, and whether the language model was called."""
        sentences, settings, called = sentences_of(sources), self._config, False
        if self._summariser is not None and allowed:
            summary, called = self._summariser.summary(sources, sentences)
            if summary:
                return summary, called
        chosen = cover_with_rivals(
            sentences,
            _SENTENCES,
            _COVERAGE,
            settings.consolidation_rivalry,
        )
        return quoted(sources, chosen), called

    def _fact(self, view: GraphView, sources: Sequence[MemoryNode], text: str, at: datetime) -> MemoryNode:
        base, charge = self._energies(view, sources, at)
        fact = fact_of(sources, text, at, min(1.0, float((base + charge).max())))
        (vector,) = self._embedder.embed_documents([render(fact)])
        return replace(fact, embedding=vector)

    def _fitting(self, prepared: Sequence[Prepared]) -> Iterator[Prepared]:
        view = self._store.view()
        known = source_rows(view)
        for fact, sources in prepared:
            ids = [node.id for node in sources]
            now = self._store.get_nodes(ids, missing_ok=True)
            rows = view.known_rows(ids)
            same = rows.size == len(ids) == len(undisputed(self._store, view, now))
            same = same and all(map(same_source, sources, now))
            new = not self._store.has_node(fact.id) and not is_known(rows, known, KNOWN_SHARE)
            if same and new:
                yield Prepared(fact, now)

    def _delta(self, kept: Sequence[Prepared], at: datetime) -> GraphDelta:
        return GraphDelta(
            nodes=tuple(fact for fact, _ in kept),
            edges=tuple(edge for fact, sources in kept for edge in edges_of(fact, sources, at)),
            node_changes=tuple(chain.from_iterable(self._faded(sources, at) for _, sources in kept)),
            reason="consolidate",
            at=at,
            owner=Owner.MEMORY,
        )

    def _faded(self, sources: Sequence[MemoryNode], at: datetime) -> Iterator[NodeChange]:
        parts = zip(*self._energies(self._store.view(), sources, at), strict=True)
        for node, (base, charge) in zip(sources, parts, strict=True):
            yield faded(node.id, float(base), float(charge), _FADE, at)

    def _energies(
        self, view: GraphView, sources: Sequence[MemoryNode], at: datetime
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the base energies and the charges of the sources at the time `at`."""
        return self._law.parts(view, view.rows([node.id for node in sources]), to_micros(at))


def _in_time(node: MemoryNode) -> tuple[float, int, str]:
    moment = node.timestamp or node.created_at
    return moment.timestamp(), node.position or 0, node.id
