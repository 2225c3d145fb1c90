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
    """Weights per edge type with the reason for them; a type that is not named has the neutral weight 1.

    A reason lies before what it explains, a consequence after it; so a kernel may weigh walking an edge against its
    stored direction otherwise than along it.
    """

    MAX_WEIGHT: ClassVar[float] = 2.0
    NEUTRAL: ClassVar[float] = 1.0

    weights: Mapping[EdgeType, float] = field(default_factory=dict)
    """0–2 per edge type, along the stored direction; 0 closes it, 1 leaves it as it is."""
    justification: str = "every type of edge counts alike"
    against: Mapping[EdgeType, float] = field(default_factory=dict)
    """0–2 per edge type, against the stored direction, where that differs from `weights`."""
    note: str = ""
    """What the caller should know of how it was made, such as that the language model failed."""

    def __post_init__(self) -> None:
        for name in ("weights", "against"):
            given = getattr(self, name)
            for edge_type, weight in given.items():
                if not 0.0 <= weight <= self.MAX_WEIGHT:
                    raise InputError(f"kernel weight of {edge_type.name} is {weight}, not in 0–{self.MAX_WEIGHT}")
            object.__setattr__(self, name, MappingProxyType(dict(given)))

    def __getitem__(self, edge_type: EdgeType) -> float:
        return self.weights.get(edge_type, self.NEUTRAL)

    def backwards(self, edge_type: EdgeType) -> float:
        """Return the weight of walking an edge of this type against its stored direction."""
        return self.against.get(edge_type, self[edge_type])

    @classmethod
    def parse(cls, text: str, justification: str) -> Kernel:
        """Read a kernel such as `CAUSE=2.0, SEQ=0.4/1.2`, where the number behind the slash is for walking against.

        Raises:
            InputError: the text is not of that form, or a weight is out of range.
            ConfigError: there is no such edge type.
        """
        weights, against = {}, {}
        for entry in filter(None, map(str.strip, text.split(","))):
            name, equals, numbers = entry.partition("=")
            along, slash, back = numbers.partition("/")
            try:
                weights[EdgeType[name.strip()]] = float(along)
                if slash:
                    against[EdgeType[name.strip()]] = float(back)
            except ValueError:
                raise InputError(
                    f"kernel {text!r}: {entry!r} is not of the form TYPE=weight or TYPE=along/against"
                ) from None
            if not equals:
                raise InputError(f"kernel {text!r}: {entry!r} is not of the form TYPE=weight or TYPE=along/against")
        return cls(weights, justification, against)
