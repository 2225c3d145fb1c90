"""Makes profiles of what is known, and one node of each cluster of memories that are used together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.consolidation.clusters import (
    LEAST,
    ClusterFinder,
    agreeing,
    cluster_id,
    cluster_node,
    is_known,
    quoted,
    title_of,
)
from neurogated.consolidation.profiles import known_subjects, profile_of
from neurogated.core.clock import to_micros
from neurogated.core.commit import Plan
from neurogated.core.communities import CommunityFinder
from neurogated.core.conflicts import undisputed
from neurogated.core.delta import GraphDelta, NodeChange, Owner
from neurogated.core.derivation import claims_of, same_source, source_rows, sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.energy import EnergyLaw
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.node_kind import PROFILE
from neurogated.core.ports import Embedder, GraphStorePort, LanguageModel
from neurogated.core.rendering import search_text
from neurogated.core.scope import UserChoice
from neurogated.core.view import GraphView
from neurogated.errors import LLMError
from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.text.keywords import split_keywords

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Summariser:
    """Asks a language model to merge memories into one text."""

    model: LanguageModel
    prompts: PromptTemplateManager

    def summary(self, memories: str) -> str:
        """Return the model's text of memories, one a line.

        It is empty if the model failed or says that the memories contradict each other, if its text has a number that
        no memory has, or if it is longer than the memories.
        """
        messages = self.prompts.render("consolidation", memories=memories)
        try:
            answer = self.model.infer_json(messages, self.prompts.schema("consolidation"))
        except LLMError as error:
            _log.warning("the language model merged no memories: %s", error)
            return ""
        text = str(answer["fact"]).strip()
        numbers = ({word for word in split_keywords(one) if any(map(str.isdigit, word))} for one in (text, memories))
        if invented := set.difference(*numbers):
            fault = f"no memory has {', '.join(sorted(invented))}"
        elif len(text) > len(memories):
            fault = "it is longer than the memories together"
        elif "\0" in text:
            fault = "it has a NUL character"
        else:
            return text
        _log.warning("the language model's text was not used: %s", fault)
        return ""


MAX_CALLS = 32
"""Most calls of the language model for the texts of one consolidation, and as many for claims and for conflicts."""
_FADE = 0.5  # of the energy of a memory of which a language model has made a fact


class PreparedTexts(NamedTuple):
    """A profile, or the node of a cluster, that is not stored yet, and the versions of its sources."""

    node: MemoryNode
    sources: Sequence[MemoryNode]

    @property
    def is_profile(self) -> bool:
        """Whether its sources are facts; else they are memories."""
        return self.node.kind == PROFILE


class Consolidator:
    """Prepares nodes and stores them in one delta.

    Models run without a lock. The commit holds the write lock; it skips each node whose sources have changed since, and
    each that another thread or process has stored meanwhile.
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
        self._config, self._zone = config.metabolism, config.zone
        self._law = EnergyLaw(config.metabolism)
        self._clusters = ClusterFinder(finder, config.metabolism)
        self._summariser = summariser
        self._calls = 0

    def prepare(self, at: datetime, user_id: UserChoice = None, most: int | None = None) -> Iterator[PreparedTexts]:
        """Yield profiles, and then the nodes of clusters, the most used first; at most so many, of a named user."""
        self._calls = MAX_CALLS
        view = self._store.view()
        made = chain(self._profiles(view, at), self._of_clusters(view, at))
        own = (one for one in made if not isinstance(user_id, str) or one.node.scope.user_id == user_id)
        for node, sources in islice(own, most):
            (vector,) = self._embedder.embed_documents([search_text(node)])
            yield PreparedTexts(replace(node, embedding=vector), sources)

    def commit(
        self, prepared: Sequence[PreparedTexts], commit: Callable[[Plan], GraphDelta], at: datetime
    ) -> list[str]:
        """Store those that still fit, in one delta; return their ids."""
        if not prepared:
            return []
        kept: list[PreparedTexts] = []

        def plan() -> GraphDelta:
            kept.extend(self._fitting(prepared))
            return self._delta(kept, at) if kept else GraphDelta()

        commit(plan)
        if skipped := len(prepared) - len(kept):
            _log.info("%d of %d texts were skipped: their sources have changed", skipped, len(prepared))
        return [one.node.id for one in kept]

    def _profiles(self, view: GraphView, at: datetime) -> Iterator[PreparedTexts]:
        for known in known_subjects(self._store, view, at, LEAST):
            stored = {node.id: node.content for node in self._store.get_nodes([known.id], missing_ok=True)}
            text = known.text(self._zone)
            same = set(sources_of(view, [known.id]).get(known.id, [])) == {one.id for one in known.facts}
            # A language model's text depends on the facts only.
            if same and (stored.get(known.id) == text or self._summariser is not None):
                continue
            wording = self._wording(f"{known.subject}:\n" + "\n".join(known.clauses(self._zone)))
            yield PreparedTexts(profile_of(known, wording or text, at), known.facts)

    def _of_clusters(self, view: GraphView, at: datetime) -> Iterator[PreparedTexts]:
        for rows in self._clusters.find(view):
            nodes = self._store.get_nodes([view.ids[row] for row in rows.tolist()], missing_ok=True)
            sources = sorted(
                agreeing(self._undisputed(view, nodes)),
                key=lambda node: ((node.timestamp or node.created_at).timestamp(), node.position or 0, node.id),
            )
            if len(sources) < LEAST or self._store.get_nodes([cluster_id(sources)], missing_ok=True):
                continue
            wording = self._wording(quoted(sources, self._zone))
            base, charge = self._energies(view, sources, at)
            energy = min(1.0, float((base + charge).max()))
            yield PreparedTexts(
                cluster_node(sources, wording or title_of(sources, self._zone), at, energy, is_summary=bool(wording)),
                sources,
            )

    def _undisputed(self, view: GraphView, nodes: Sequence[MemoryNode]) -> list[MemoryNode]:
        """Return the nodes about which no conflict is, nor about a claim that was read from them."""
        claims = self._store.get_nodes([*claims_of(view, [node.id for node in nodes])], missing_ok=True)
        held = {node.id for node in undisputed(self._store, view, claims)}
        sources = sources_of(view, [node.id for node in claims if node.id not in held])
        disputed = set(chain.from_iterable(sources.values()))
        return [node for node in undisputed(self._store, view, nodes) if node.id not in disputed]

    def _wording(self, memories: str) -> str:
        """Return a language model's text of memories; empty without one."""
        if self._summariser is None or self._calls <= 0:
            return ""
        self._calls -= 1
        return self._summariser.summary(memories)

    def _fitting(self, prepared: Sequence[PreparedTexts]) -> Iterator[PreparedTexts]:
        view = self._store.view()
        known = source_rows(view)
        for one in prepared:
            ids = [node.id for node in one.sources]
            now = self._store.get_nodes(ids, missing_ok=True)
            rows = view.known_rows(ids)
            same = rows.size == len(ids) == len(self._undisputed(view, now))
            same = same and all(map(same_source, one.sources, now))
            new = one.is_profile or not (self._store.get_nodes([one.node.id], missing_ok=True) or is_known(rows, known))
            if same and new:
                yield PreparedTexts(one.node, now)

    def _delta(self, kept: Sequence[PreparedTexts], at: datetime) -> GraphDelta:
        faded = list[NodeChange]()
        for one in kept:
            parts = () if one.is_profile else zip(*self._energies(self._store.view(), one.sources, at), strict=True)
            for node, (base, charge) in zip(one.sources, parts, strict=False):
                # Its base pays, because a charge has no journal; so a source keeps at least its charge.
                left = max(0.0, float((base + charge) * _FADE - charge))
                faded.append(NodeChange(node.id, energy=left, energy_at=at))
        held = sources_of(self._store.view(), [one.node.id for one in kept if one.is_profile])
        return GraphDelta(
            nodes=tuple(one.node for one in kept),
            edges=tuple(
                MemoryEdge(one.node.id, source.id, EdgeType.DERIVED_FROM, created_at=at)
                for one in kept
                for source in one.sources
            ),
            removed_edges=tuple(
                EdgeKey(one.node.id, name, EdgeType.DERIVED_FROM)
                for one in kept
                for name in sorted(set(held.get(one.node.id, ())).difference(source.id for source in one.sources))
            ),
            node_changes=tuple(faded),
            reason="consolidate",
            at=at,
            owner=Owner.MEMORY,
        )

    def _energies(
        self, view: GraphView, sources: Sequence[MemoryNode], at: datetime
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the base energies and the charges of the sources at the time `at`."""
        return self._law.parts(view, view.rows([node.id for node in sources]), to_micros(at))
