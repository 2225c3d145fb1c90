"""Judgements of analysers: on a question, on the cause of a text, and on how two statements relate."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal

from neurogated.errors import InputError

Verdict = Literal["superseded", "wrong", "contested"]
"""The state of the first statement after a contradiction: true no longer, never true, or both stand."""


class QuestionKind(Enum):
    """The kind of answer that a question asks for."""

    WHY = "why"
    """The reason or cause of something: 原因."""
    CONSEQUENCE = "consequence"
    """A consequence of something: 结果."""
    WHEN = "when"
    """A time, a date, an order in time."""
    NEXT = "next"
    """The next step or event."""
    LIKE = "like"
    """Something similar; comparisons and analogies."""
    LATEST = "latest"
    """The newest of what was said: 最近, 上次."""
    FACT = "fact"
    """Plain facts: a person, a thing, a place, a number."""


@dataclass(frozen=True, slots=True)
class QuestionJudgement:
    """The kind of a question."""

    kind: QuestionKind
    strength: float
    """0–1: how clearly the question is of this kind."""
    reason: str

    def __post_init__(self) -> None:
        if not 0.0 <= self.strength <= 1.0:
            raise InputError(f"the strength of a judgement is {self.strength}, but must lie between 0 and 1")


@dataclass(frozen=True, slots=True)
class CausalJudgement:
    """Whether one of two texts causes the other."""

    is_causal: bool
    weight: float
    """0–1: how strong or certain the link is; 0 if there is none."""
    reason: str

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1.0 or (self.weight > 0) != self.is_causal:
            raise InputError(f"a causal link of weight {self.weight} and is_causal={self.is_causal} makes no sense")


class RelationKind(Enum):
    """How two statements relate."""

    CONTRADICTION = "contradiction"
    """Both cannot be true of the same time."""
    SUPERSESSION = "supersession"
    """The same attribute has another value at another time."""
    REFINEMENT = "refinement"
    """One says the same in more detail."""
    DUPLICATE = "duplicate"
    """Both say the same."""
    INDEPENDENT = "independent"
    """Both can be true, and neither implies the other."""


@dataclass(frozen=True, slots=True)
class Relation:
    """How two statements relate."""

    kind: RelationKind
    confidence: float
    """0–1."""
    reason: str
    """One sentence."""
    outcome: Verdict | None = None
    """The state of the first statement, or that both are contested. A supersession has the outcome `superseded`."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.confidence <= 1.0:
            raise InputError(f"the confidence of a relation is {self.confidence}, but must lie between 0 and 1")
        if self.kind is RelationKind.SUPERSESSION and self.outcome is None:
            object.__setattr__(self, "outcome", "superseded")
        if (self.outcome is not None) != self.is_conflict:
            raise InputError(f"a {self.kind.value} with the outcome {self.outcome} makes no sense")

    @property
    def is_conflict(self) -> bool:
        """Whether both cannot stand as they are: a contradiction or a supersession."""
        return self.kind in {RelationKind.CONTRADICTION, RelationKind.SUPERSESSION}
