"""How memories gain and lose energy, move between tiers, and become facts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from neurogated.config.setting import check, setting
from neurogated.errors import ConfigError

__all__ = ["MetabolismSettings"]

_SHORTEST, _LONGEST = 0.001, 3_650_000.0


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
        180.0, "half-life of the energy of a memory without access, in days", low=_SHORTEST, high=_LONGEST
    )
    half_lives: str = setting(
        "fact=3650", "other half-lives in days by kind of memory, separated by commas, such as fact=3650, turn=90"
    )
    use_gain: float = setting(
        0.1, "share of the energy that a memory lacks and gains when a recall returns it", low=0.0, high=1.0
    )
    success_gain: float = setting(
        0.2, "share of the energy and importance that a memory lacks and gains by success", low=0.0, high=1.0
    )
    fail_loss: float = setting(
        0.1, "share of its energy and importance that a memory loses by failure", low=0.0, high=1.0
    )

    # Tiers
    dormant_energy: float = setting(0.1, "a dormant memory has less energy than this", low=0.0, high=1.0)
    dormant_importance: float = setting(0.5, "a dormant memory has less importance than this", low=0.0, high=1.0)
    dormant_idle_days: float = setting(
        31.0, "a dormant memory had no access for this many days", low=0.0, high=_LONGEST
    )
    wake_score: float = setting(
        0.6,
        "a recall whose best memory scores less than this also finds dormant memories; 0: only an empty recall does",
        low=0.0,
        high=1000.0,
    )
    canvas_size: int = setting(100, "memories on the canvas, the tier of the most energy", low=0)

    # Facts

    # Consolidation

    def __post_init__(self) -> None:
        check(self, "metabolism.")
        self.half_life_of_kinds  # noqa: B018 - raises if the text cannot be read

    @property
    def half_life_of_kinds(self) -> Mapping[str, float]:
        """The half-lives of `half_lives`, in days."""
        found = {}
        for part in filter(str.strip, self.half_lives.split(",")):
            kind, _, text = (word.strip() for word in part.partition("="))
            try:
                days = float(text)
            except ValueError:
                days = 0.0
            if not kind or not _SHORTEST <= days <= _LONGEST:
                raise ConfigError(
                    f"metabolism.half_lives has {part.strip()!r}, but must have a kind and its days, such as fact=3650"
                )
            found[kind] = days
        return found
