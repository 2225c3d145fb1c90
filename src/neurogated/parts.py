"""`Parts`: the parts of a memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from neurogated.config.groups import MetabolismSettings
from neurogated.core.abilities import SupportsClear
from neurogated.core.clock import Clock, utc_now
from neurogated.core.communities import CommunityFinder, GraphMeasures, WeightedGraph
from neurogated.core.ports import CausalJudge, Embedder, EntityFinder, GraphStorePort, KernelSource, LanguageModel
from neurogated.ingestion.analysers import OfflineEntityFinder
from neurogated.ingestion.causality import OfflineCausalJudge
from neurogated.ingestion.importance import Encoder
from neurogated.knowledge.judging import TextJudge
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.retrieval.ranking import Reranker
from neurogated.tiers.canvas import WorkingCanvas
from neurogated.tiers.facts import FactFollower


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a memory; you can supply your own for any of them."""

    store: GraphStorePort
    embedder: Embedder
    kernel_source: KernelSource
    causal_judge: CausalJudge = field(default_factory=OfflineCausalJudge)
    entity_finder: EntityFinder = field(default_factory=OfflineEntityFinder)
    language_model: LanguageModel | None = None
    """Answers questions from recalled memories; None means offline judges only."""
    clock: Clock = utc_now
    caches: tuple[SupportsClear, ...] = ()
    """Caches on disk of values derived from texts; erasing a text empties them."""
    encoder: Encoder = field(default_factory=Encoder)
    """Sets the importance and the energy of new memories."""
    facts: FactFollower | None = None
    """Shows the facts as rows of an SQL table."""
    canvas: WorkingCanvas = field(default_factory=lambda: WorkingCanvas(MetabolismSettings()))
    """Holds the memories that matter to a session now."""
    community_finder: CommunityFinder | None = None
    """Finds clusters of memories; None for the Leiden algorithm."""
    graph_algorithms: Callable[[WeightedGraph], GraphMeasures] | None = None
    """Find the communities of the manifest; None for those that need no extra."""
    text_judge: TextJudge | None = None
    """Judges pairs of memories that no slot connects; None without a model."""
    reranker: Reranker | None = None
    """Puts the first memories of a recall into order; None: the score alone does."""
    formula: Formula = FORMULA
    """The numbers of the score of a memory."""
