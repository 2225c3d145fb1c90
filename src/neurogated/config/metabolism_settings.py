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
    facts_url: str | None = setting(
        None,
        "SQL database that shows the facts as rows, as sqlite:///FILE or postgresql://HOST/DATABASE; off: no rows; "
        "none: the file facts.db in save_dir, if the extra 'facts' is installed",
    )

    # Servers of projections
    server_seconds: float = setting(5.0, "seconds that a call waits for the database of the facts", low=0.1, high=600.0)
    server_retry_seconds: float = setting(
        30.0, "seconds for which writes skip a server of a projection after it failed", low=0.0, high=86_400.0
    )

    # Consolidation

    def __post_init__(self) -> None:
        check(self, "metabolism.")
