"""How memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from dataclasses import dataclass

from neurogated.config.setting import check, setting

__all__ = ["MetabolismSettings"]


@dataclass(frozen=True, slots=True, kw_only=True)
class MetabolismSettings:
    """How memories gain and lose energy, move between tiers, and become facts."""

    # Importance and duplicates
    judge_importance: str = setting(
        "offline",
        "judges how important a memory is if the caller does not say; offline: rules; model: the language model, else "
        "rules; off: all memories alike",
        choices=("offline", "model", "off"),
    )
    judged_together: int = setting(16, "texts whose importance the language model judges in one call", low=1)
    focus_gain: float = setting(
        0.5,
        "share of its missing energy that a new memory gets if it is what the present task is about",
        low=0.0,
        high=1.0,
    )

    temporal_neighbors: int = setting(
        0, "active memories of its user to which a new memory gets a temporal edge, those with most energy first", low=0
    )
    temporal_weight: float = setting(0.2, "weight of a temporal edge", low=0.0, high=1.0)
    active_memories: int = setting(64, "memories of a user, accessed last, that count as active", low=1)

    # Energy
    half_life_days: float = setting(
        180.0, "half-life of the energy of a memory without access, in days", low=0.001, high=3_650_000.0
    )

    # Tiers

    # Facts

    # Consolidation

    def __post_init__(self) -> None:
        check(self, "metabolism.")
