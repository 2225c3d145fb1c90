"""Named sets of settings: the constants of other designs of memories, for the one mechanism of this package."""

from __future__ import annotations

from collections.abc import Mapping
from math import log
from types import MappingProxyType
from typing import Any

from neurogated.errors import ConfigError

_CLASSIC = {
    "ACTIVATION": "classic",
    "TOP_K_ANCHORS": 5,
    "TOP_N_RETRIEVAL": 3,
    "MAX_HOPS": 2,
    "ENERGY_DECAY_RATE": 0.5,
    "MAX_SIM_NEIGHBORS": 5,
    "HEBBIAN_LEARNING_RATE": 0.1,
    "TIME_DECAY_FACTOR": 0.99,
    "MIN_EDGE_WEIGHT": 0.1,
    # All memories have the energy that they start with, and none is left out as dormant.
    "metabolism.judge_importance": "off",
    "metabolism.find_duplicates": False,
}
_BIEM = {
    # The score adds similarity, energy and recency. Its weights are not given; these leave similarity in front.
    "RECENCY_WEIGHT": 0.1,
    "retrieval.energy_weight": 0.1,
    # A language model judges the importance, if there is one.
    "metabolism.judge_importance": "model",
    # New memories are linked in time with the active ones, and clusters become facts in the background.
    "metabolism.temporal_neighbors": 3,
    "metabolism.consolidate_seconds": 3600.0,
}
_MEMORYOS = {
    "TOP_N_RETRIEVAL": 7,
    # Ten pairs of question and answer.
    "metabolism.canvas_size": 20,
    # Five visits alone make a segment hot enough.
    "metabolism.consolidation_uses": 5,
    "metabolism.consolidate_seconds": 3600.0,
    # Recency falls to 1/e in a day.
    "retrieval.recency_half_life_days": log(2.0),
}
_MANIFEST = {
    "MAX_HOPS": 3,
    "ENERGY_DECAY_RATE": 0.85,
    "retrieval.kernels": "uniform",
    # Its activation has two parts here: a memory starts with its similarity, and more arrives over edges.
    "SIMILARITY_WEIGHT": 0.6,
    "ACTIVATION_WEIGHT": 0.6,
    "RECENCY_WEIGHT": 0.25,
    "retrieval.energy_weight": 0.15,
    "retrieval.recency_half_life_days": 7.0,
    "metabolism.half_lives": "7, fact=3650",
}
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"classic": _CLASSIC, "biem": _BIEM, "memoryos": _MEMORYOS, "manifest": _MANIFEST}
)
"""The values of each preset by the names of the settings."""


def preset_values(name: object) -> Mapping[str, Any]:
    """Return the values of a preset; raises ConfigError for an unknown name."""
    if not isinstance(name, str) or name not in PRESETS:
        raise ConfigError(f"preset is {name!r}, but must be one of {', '.join(PRESETS)}")
    return PRESETS[name]
