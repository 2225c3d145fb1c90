"""The modulation kernel of a question: how strongly activation spreads over each type of edge while answering it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, overload

from neurogated.core.edge_type import EdgeType
from neurogated.core.read_only import ReadOnlyDict
from neurogated.errors import InputError

SPAN, PLACE, SENTIMENT = "span", "place", "sentiment"
"""Tags for the time span, place and feeling that a question names.

A kernel without such a tag counts it fully.
"""
CAUSE, EFFECT = "cause", "effect"
"""Tags for the causes and the effects of the memories that a question is about."""
NEWEST = "newest"
"""Tag for the newest of the memories that a question is about."""
DIMENSIONS = frozenset((SPAN, PLACE, SENTIMENT, CAUSE, EFFECT, NEWEST))
"""The tags of a kernel that are sources of anchors; the other tags are traits of memories."""
_NAMED = frozenset((SPAN, PLACE, SENTIMENT))
_KEYS = ("weights", "justification")


class EdgeWeights(ReadOnlyDict[EdgeType, float]):
    """Weights of edge types, also by their names; a missing type has the neutral weight 1."""

    def __missing__(self, key: object) -> float:
        if isinstance(key, EdgeType):
            return Kernel.NEUTRAL
        if isinstance(key, str) and key in EdgeType.__members__:
            return self[EdgeType[key]]
        raise KeyError(key)


@dataclass(frozen=True, slots=True)
class Kernel(Mapping[str, Any]):
    """Weights per edge type with a justification; a missing type has the neutral weight 1.

    It can be read as a dictionary of `weights` and `justification`, and `kernel[EdgeType.SEQ]` is a weight.

    A CAUSE edge leads from cause to effect, so the two directions answer different questions. Therefore a kernel may
    weight an edge differently against its stored direction.
    """

    MAX_WEIGHT: ClassVar[float] = 2.0
    NEUTRAL: ClassVar[float] = 1.0

    weights: Mapping[EdgeType, float] = field(default_factory=dict)
    """0–2 per edge type, along the stored direction; 0 blocks the type, 1 leaves its edges unchanged."""
    justification: str = "every type of edge counts alike"
    against: Mapping[EdgeType, float] = field(default_factory=dict)
    """0–2 per edge type, against the stored direction, if it differs from `weights`."""
    tags: Mapping[str, float] = field(default_factory=dict)
    """0–1 per tag: how strongly to prefer memories that have it, such as `time` for a question about a time; see
    `share`."""
    note: str = ""
    """A remark for the caller on how the kernel was computed, such as that the language model failed."""

    def __post_init__(self) -> None:
        for name in ("weights", "against"):
            given = getattr(self, name)
            for edge_type, weight in given.items():
                if not 0.0 <= weight <= self.MAX_WEIGHT:
                    raise InputError(f"kernel weight of {edge_type.name} is {weight}, not in 0–{self.MAX_WEIGHT}")
            object.__setattr__(self, name, EdgeWeights(given))
        for tag, share in self.tags.items():
            if not 0.0 <= share <= 1.0:
                raise InputError(f"kernel share of @{tag} is {share}, not in 0–1")
        object.__setattr__(self, "tags", ReadOnlyDict(self.tags))

    @overload
    def __getitem__(self, key: EdgeType) -> float: ...
    @overload
    def __getitem__(self, key: Literal["weights"]) -> Mapping[EdgeType, float]: ...
    @overload
    def __getitem__(self, key: str) -> Any: ...  # noqa: ANN401

    def __getitem__(self, key: EdgeType | str) -> Any:
        if isinstance(key, EdgeType):
            return self.weights[key]
        if key in _KEYS:
            return getattr(self, key)
        raise KeyError(key)

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    def backwards(self, edge_type: EdgeType) -> float:
        """Return the weight of an edge of this type against its stored direction."""
        return self.against.get(edge_type, self[edge_type])

    def share(self, tag: str) -> float:
        """Return how strongly to prefer memories with a tag; a tag that the question itself names counts fully."""
        return self.tags.get(tag, float(tag in _NAMED))

    def towards(self, other: Kernel, share: float, justification: str) -> Kernel:
        """Return the interpolation between this kernel (`share` 0) and `other` (`share` 1)."""

        def between(first: Mapping[EdgeType, float], second: Mapping[EdgeType, float]) -> dict[EdgeType, float]:
            return {kind: first[kind] + share * (second[kind] - first[kind]) for kind in types}

        # The order of a set differs between processes, and would show in what a recall tells.
        types = dict.fromkeys((*self.weights, *self.against, *other.weights, *other.against))
        ways = [{kind: one.weights[kind] for kind in types} for one in (self, other)]
        backwards = [{**way, **one.against} for way, one in zip(ways, (self, other), strict=True)]
        tags = dict.fromkeys((*self.tags, *other.tags))
        return Kernel(
            between(*ways),
            justification,
            between(*backwards),
            {tag: self.share(tag) + share * (other.share(tag) - self.share(tag)) for tag in tags},
        )

    @classmethod
    def parse(cls, text: str, justification: str) -> Kernel:
        """Read a kernel such as `CAUSE=2, SEQ=0.4/1.2, @time=1`: weight/against; raises InputError or ConfigError."""
        weights, against, tags = {}, {}, {}
        for entry in filter(None, map(str.strip, text.split(","))):
            name, equals, numbers = map(str.strip, entry.partition("="))
            along, slash, back = numbers.partition("/")
            edge_type = None if name.startswith("@") else EdgeType[name]
            try:
                if edge_type is None:
                    tags[name.removeprefix("@")] = float(numbers)
                else:
                    weights[edge_type] = float(along)
                    if slash:
                        against[edge_type] = float(back)
            except ValueError:
                equals = ""
            if not equals:
                raise InputError(
                    f"kernel {text!r}: {entry!r} is not of the form TYPE=weight, TYPE=along/against or @tag=share"
                )
        return cls(weights, justification, against, tags)
