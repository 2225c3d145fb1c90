"""How memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from dataclasses import dataclass

from neurogated.config.setting import check, setting

__all__ = ["MetabolismSettings"]


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

    # Consolidation

    def __post_init__(self) -> None:
        check(self, "metabolism.")
