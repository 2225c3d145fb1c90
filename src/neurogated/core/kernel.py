"""A question's modulation kernel: how strongly energy flows over each type of edge while it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

from neurogated.core.edge_type import EdgeType
from neurogated.errors import InputError

__all__ = ["Kernel"]


@dataclass(frozen=True, slots=True)
class Kernel:
    """Weights per edge type with the reason for them; a type that is not named has the neutral weight 1."""

    MAX_WEIGHT: ClassVar[float] = 2.0
    NEUTRAL: ClassVar[float] = 1.0

    weights: Mapping[EdgeType, float] = field(default_factory=dict)
    """0–2 per edge type; 0 closes a type, 1 leaves it as it is."""
    justification: str = "every type of edge counts alike"

    def __post_init__(self) -> None:
        for edge_type, weight in self.weights.items():
            if not 0.0 <= weight <= self.MAX_WEIGHT:
                raise InputError(f"kernel weight of {edge_type.name} is {weight}, not between 0 and {self.MAX_WEIGHT}")
        object.__setattr__(self, "weights", MappingProxyType(dict(self.weights)))

    def __getitem__(self, edge_type: EdgeType) -> float:
        return self.weights.get(edge_type, self.NEUTRAL)
