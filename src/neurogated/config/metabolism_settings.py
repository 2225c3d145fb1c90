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

    # Working canvas
    canvas_size: int = setting(32, "memories on the working canvas of a session", low=1, high=10_000)
    canvas_half_life_minutes: float = setting(
        60.0, "minutes in which the relevance of a memory on the canvas halves", low=0.001, high=1e7
    )
    canvas_count: int = setting(1000, "canvases that a process holds; others are rebuilt when they are read", low=1)
    canvas_url: str | None = setting(
        None, "Redis server whose canvases processes share, as redis://HOST or unix://PATH; none: in the process"
    )
    canvas_seconds: float = setting(0.25, "seconds that a call waits for the server of the canvas", low=0.01, high=60.0)

    # Servers of projections
    server_seconds: float = setting(5.0, "seconds that a call waits for the database of the facts", low=0.1, high=600.0)
    server_retry_seconds: float = setting(
        30.0, "seconds for which writes skip a server of a projection after it failed", low=0.0, high=86_400.0
    )

    # Consolidation

    def __post_init__(self) -> None:
        check(self, "metabolism.")
