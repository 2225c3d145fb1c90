"""The JSON of answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from neurogated.context.model import Choice
from neurogated.core.conflicts import Conflict
from neurogated.core.extras import needs_extra
from neurogated.core.facts import Fact
from neurogated.core.scope import Scope
from neurogated.manifest.model import GraphManifest

with needs_extra("serve"):
    from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue


def attributes(value: object, names: Iterable[str]) -> dict[str, Any]:
    """Return some attributes of an object by their names."""
    return {name: getattr(value, name) for name in names}


Name = Annotated[str, BeforeValidator(lambda kind: getattr(kind, "name", kind))]


class _Told(BaseModel):
    """An answer, read from an object of the memory."""

    model_config = ConfigDict(from_attributes=True)


class Memory(_Told):
    """A memory."""

    id: str
    content: str
    title: str | None
    kind: str
    role: str | None = Field(description="Of a message: `user`, `assistant`, `system` or `tool`.")
    speaker: str | None = Field(description="The name of the person who said it.")
    scope: Scope
    created_at: datetime
    timestamp: datetime | None = Field(description="When it was said or happened.")
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    importance: float
    tags: tuple[str, ...]
    metadata: dict[str, Any]


class Flow(_Told):
    """A flow of activation over one edge."""

    source_id: str
    target_id: str
    type: Name
    weight: float
    flow: float
    hop: int


class ScoredMemory(_Told):
    """A memory of a recall with its score, which is the sum of the contributions."""

    node: Memory
    score: float
    parts: dict[str, float]
    contributions: dict[str, float]
    same_as: tuple[str, ...]
    path: tuple[Flow, ...]
    flows: tuple[Flow, ...]


class KernelWeights(_Told):
    """How strongly activation spreads over each type of edge for this question."""

    weights: dict[Name, float]
    against: dict[Name, float]
    justification: str


class RecalledMemories(_Told):
    """The memories that a question recalled, best first."""

    query: str
    memories: tuple[ScoredMemory, ...]
    conflicts: tuple[Conflict, ...]
    states: dict[str, str]
    confidence: float
    trust: float
    notes: tuple[str, ...]
    # A `core.Kernel` is a mapping, too, which pydantic would read by its keys.
    kernel: Annotated[
        KernelWeights | None, BeforeValidator(lambda one: one and attributes(one, KernelWeights.model_fields))
    ]


class ContextText(_Told):
    """Memories as text for a prompt."""

    text: str
    tokens: int
    budget: int
    memories: tuple[ScoredMemory, ...]
    excerpts: tuple[str, ...]
    choices: dict[str, Choice] = Field(description="Why each memory is there, by id; with `explain`.")
    left_out: tuple[str, ...] = Field(description="Ids of recalled memories without a place in it; with `explain`.")
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...]
    confidence: float


@dataclass(frozen=True)
class ManifestWithText(GraphManifest):
    """What the memories are about and how they are linked, as values and as a text."""

    text: str


class Result(BaseModel):
    """The value of an expression."""

    result: JsonValue


class Version(_Told):
    """What a change did to one memory."""

    id: str
    action: Literal["written", "deleted"]
    content: str = Field(description="Its text after the change, or before its deletion.")


class MemoryChange(_Told):
    """A change of the memory."""

    at: datetime
    sequence: int | None = Field(description="What `undo` takes as `to`; null in the history of one user.")
    reason: str | None = Field(description="Null in the history of one user.")
    memories: tuple[Version, ...] = Field(description="The memories of the user that it changed.")


class ChangePage(BaseModel):
    """Changes of the memory, the latest first, and the cursor of the next page."""

    changes: list[MemoryChange]
    cursor: str | None = Field(description="Null if all were listed.")


class FactPage(BaseModel):
    """Facts in the order they were added, and the cursor of the next page."""

    facts: list[Fact]
    cursor: int | None


class MemoryPage(BaseModel):
    """Memories in the order they were added, or with `newest` in the opposite one, and the cursor of the next page."""

    memories: list[Memory]
    cursor: str | None


class Ids(BaseModel):
    """The ids of memories, in order, and what was left out or repaired, if anything was."""

    ids: list[str]
    skipped: int = 0
    refused: int = 0
    notes: list[str] = []


class Count(BaseModel):
    """How many things changed."""

    count: int


class Undone(BaseModel):
    """Whether there was a change to take back."""

    undone: bool
    memories: list[Version] = Field(description="The memories of the user that came back, or are gone.")


class Health(BaseModel):
    """That the server can answer."""

    status: Literal["ok"] = "ok"
    version: str


class ErrorText(BaseModel):
    """An error."""

    type: str
    message: str
    request_id: str


class Failure(BaseModel):
    """The answer to a request that failed."""

    error: ErrorText
