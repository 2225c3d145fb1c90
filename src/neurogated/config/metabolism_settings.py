"""How memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from dataclasses import dataclass

from neurogated.config.setting import check, setting

__all__ = ["MetabolismSettings"]

_MOST = 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MetabolismSettings:
    """How memories gain and lose energy, move between tiers, and become facts."""

    # Importance and duplicates

    # Energy
    half_life_days: float = setting(
        180.0, "half-life of the energy of a memory without access, in days", low=0.001, high=3_650_000.0
    )

    # Tiers

    # Facts

    # Consolidation: clusters of memories that are used together become facts.
    consolidate_seconds: float = setting(
        0.0,
        "seconds between two consolidations in the background; 0: none there",
        low=0.0,
        high=31_536_000.0,
    )
    consolidation_uses: int = setting(2, "a memory enters a cluster after this many uses", low=0)
    consolidation_edges: str = setting(
        "ASSOC=2.0, CAUSE=1.0, SEQ=0.5, SIM=0.5, TERM=0.5, MENTION=0.5",
        "weights of the edge types that link the memories of a cluster; types left out link none",
    )
    consolidation_resolution: float = setting(
        0.1, "least mean weight of the links of a cluster; more gives smaller clusters", low=0.001, high=_MOST
    )
    consolidation_least: int = setting(3, "least memories of a cluster", low=2)
    consolidation_most: int = setting(
        8, "most memories of a cluster, or consolidation_least if that is more; larger ones are divided", low=2
    )
    consolidation_known: float = setting(
        0.5,
        "a cluster becomes no fact if this share of its memories, or more, already has one",
        low=0.001,
        high=1.0,
    )
    consolidation_coverage: float = setting(
        0.8,
        "share of the cluster's words and names that is enough for a fact",
        low=0.0,
        high=1.0,
    )
    consolidation_sentences: int = setting(8, "most sentences that are chosen for a fact", low=1)
    consolidation_rivalry: float = setting(
        0.5,
        "sentences that share this part of their words, but differ in numbers or dates, are chosen together or not at "
        "all",
        low=0.0,
        high=1.0,
    )
    consolidation_calls: int = setting(
        32, "most calls of the language model in one consolidation; sentences are chosen for the other facts", low=0
    )
    consolidation_fade: float = setting(
        0.5, "the energy of a memory is multiplied by this when it becomes part of a fact", low=0.0, high=1.0
    )

    def __post_init__(self) -> None:
        check(self, "metabolism.")
