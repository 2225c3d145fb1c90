"""The JSON of requests and answers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from neurogated.context.model import CONTEXT_TOKENS
from neurogated.core.conflicts import Conflict
from neurogated.core.extras import needs_extra
from neurogated.core.facts import Fact
from neurogated.core.scope import Scope
from neurogated.integrations.mcp.tools import LONGEST_QUESTION
from neurogated.manifest.model import GraphManifest

with needs_extra("serve"):
    from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue, model_validator
    from pydantic_core import PydanticCustomError

MOST_ITEMS, _MOST_VALUES, _DEEPEST, _MOST_TOLD = 1_000, 5_000, 100, 10
"""Items of a list, values in the metadata of a memory, levels of these, and unknown fields that an error names."""
Text = Annotated[str, Field(min_length=1)]
Asking = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION)]

Zone = Annotated[str | None, Field(description="Zone of the days meant and shown, such as Europe/Berlin.")]


def attributes(value: object, names: Iterable[str]) -> dict[str, Any]:
    """Return some attributes of an object by their names."""
    return {name: getattr(value, name) for name in names}


Name = Annotated[str, BeforeValidator(lambda kind: getattr(kind, "name", kind))]


def _few_items(given: object) -> object:
    if isinstance(given, dict) and len(given) > MOST_ITEMS:
        raise PydanticCustomError("too_long", f"has more than {MOST_ITEMS:,} entries")
    return given


def _few_values(given: object) -> object:
    """Return metadata as they are, if they have few values; otherwise they would be read while all others wait."""
    level, count = [given], 0
    for _ in range(_DEEPEST):
        level = [value for group in level for value in _values_of(group)]
        count += len(level)
        if not level:
            return given
        if count > _MOST_VALUES:
            break
    raise PydanticCustomError("too_long", f"has more than {_MOST_VALUES:,} values, or more than {_DEEPEST} levels")


def _values_of(group: object) -> Iterable[object]:
    return group.values() if isinstance(group, dict) else group if isinstance(group, list) else ()


Items = Field(max_length=MOST_ITEMS, fail_fast=True)
Metadata = Annotated[dict[str, Any], BeforeValidator(_few_values)]
Few = BeforeValidator(_few_items)


class _Asked(BaseModel):
    """A body of a request. A field that it does not know is an error."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _few_unknown(cls, given: object) -> object:
        unknown = given.keys() - cls.model_fields.keys() if isinstance(given, dict) else ()
        if len(unknown) <= _MOST_TOLD:
            return given
        raise PydanticCustomError(
            "too_long", f"has {len(unknown):,} unknown fields; known are {', '.join(cls.model_fields)}"
        )


class _Told(BaseModel):
    """An answer, read from an object of the memory."""

    model_config = ConfigDict(from_attributes=True)


class Message(_Asked):
    """A message of a conversation."""

    content: Text
    role: str = Field("user", description="`user`, `assistant`, `system` or `tool`, or a word for one of them.")
    name: str | None = Field(None, description="The speaker.")
    timestamp: datetime | None = None
    metadata: Metadata | None = None


class _Fields(_Asked):
    title: str | None = None
    metadata: Metadata | None = None
    timestamp: datetime | None = None
    """When it was said or happened."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    tags: Annotated[list[str], Items] | None = None
    importance: float | None = Field(None, ge=0, le=1)
    ttl: float | None = Field(None, gt=0, description="Lifetime in seconds.")


class NewMemories(_Fields):
    """Texts or messages to remember, in order."""

    expires_at: datetime | None = Field(None, description="The end of the lifetime, in place of ttl.")

    content: Text | Message | Annotated[list[Text | Message], Items, Field(min_length=1)]
    session_id: str | None = None
    agent_id: str | None = None
    path: Annotated[list[str], Items] = []
    speakers_in_text: bool = Field(default=False, description="A line may begin with its speaker, as in `Ann: Hi.`")
    role_map: Annotated[dict[str, str], Few] | None = Field(
        None, description="What further roles of messages stand for."
    )


class Change(_Fields):
    """Changes of a memory; a field that is left out or null stays."""

    content: Text | None = None


Confidence = Annotated[
    float | None, Field(ge=0, le=1, description="Return no memory if the confidence of the recall is lower.")
]


class Question(_Asked):
    """A question to the memory."""

    query: Asking
    top_n: int | None = Field(None, ge=1, le=100)
    session_id: str | None = None
    agent_id: str | None = None
    valid_at: datetime | None = None
    min_score: float | None = None
    min_confidence: Confidence = None
    timezone: Zone = None
    explain: bool = Field(default=False, description="Also tell the flows of activation and the kernel.")


class Task(_Asked):
    """A task that needs a context."""

    task: Asking
    token_budget: int = Field(CONTEXT_TOKENS, ge=1, le=100_000)
    timezone: Zone = None
    session_id: str | None = None
    agent_id: str | None = None
    min_confidence: Confidence = None


class Outcome(_Asked):
    """The outcome of using memories."""

    ids: Annotated[list[str], Items] = Field(min_length=1)
    outcome: Literal["success", "fail"] | Annotated[float, Field(ge=-1, le=1)] = "success"


class NewFact(_Asked):
    """A fact that the user states."""

    subject: Text
    attribute: Text
    value: Text | bool | int | float
    timestamp: datetime | None = None
    """When it was said."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    metadata: Metadata | None = None


class Choice(_Asked):
    """The answer to a conflict."""

    choice: str = Field(description="The id of the right side, or `both`, or `supersede`.")
    because: str | None = None


class UndoTo(_Asked):
    """How far to undo."""

    to: int | None = Field(None, ge=0, description="A `sequence` of the history; the last change when left out.")


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


class Step(_Told):
    """A flow of activation over one edge."""

    source_id: str
    target_id: str
    type: Name
    weight: float
    flow: float
    hop: int


class Recalled(_Told):
    """A memory of a recall with its score, which is the sum of the contributions."""

    node: Memory
    score: float
    parts: dict[str, float]
    contributions: dict[str, float]
    same_as: tuple[str, ...]
    path: tuple[Step, ...]
    flows: tuple[Step, ...]


class Kernel(_Told):
    """How strongly activation spreads over each type of edge for this question."""

    weights: dict[Name, float]
    against: dict[Name, float]
    justification: str


class Recall(_Told):
    """The memories that a question recalled, best first."""

    query: str
    memories: tuple[Recalled, ...]
    conflicts: tuple[Conflict, ...]
    states: dict[str, str]
    confidence: float
    trust: float
    notes: tuple[str, ...]
    # A `core.Kernel` is a mapping, too, which pydantic would read by its keys.
    kernel: Annotated[Kernel | None, BeforeValidator(lambda one: one and attributes(one, Kernel.model_fields))]


class Context(_Told):
    """Memories as text for a prompt."""

    text: str
    tokens: int
    budget: int
    memories: tuple[Recalled, ...]
    conflicts: tuple[Conflict, ...]
    notes: tuple[str, ...]
    confidence: float


@dataclass(frozen=True)
class Manifest(GraphManifest):
    """What the memories are about and how they are linked, as values and as a text."""

    text: str


class Expression(_Asked):
    """An expression such as `(recall "Where does Ana live?" 5)`."""

    expression: Text
    read_only: bool = Field(default=False, description="Refuse operations that write.")


class Result(BaseModel):
    """The value of an expression."""

    result: JsonValue


class Version(BaseModel):
    """What a change did to one memory."""

    id: str
    action: Literal["written", "deleted"]
    content: str = Field(description="Its text after the change, or before its deletion.")


class Entry(BaseModel):
    """A change of the memory."""

    at: datetime
    sequence: int | None = Field(description="What `undo` takes as `to`; null in the history of one user.")
    reason: str | None = Field(description="Null in the history of one user.")
    memories: tuple[Version, ...] = Field(description="The memories of the user that it changed.")


class Changes(BaseModel):
    """Changes of the memory, the latest first, and the cursor of the next page."""

    changes: list[Entry]
    cursor: str | None = Field(description="Null if all were listed.")


class Facts(BaseModel):
    """Facts in the order they were added, and the cursor of the next page."""

    facts: list[Fact]
    cursor: int | None


class Page(BaseModel):
    """Memories in the order they were added, newest last, and the cursor of the next page."""

    memories: list[Memory]
    cursor: str | None


class Ids(BaseModel):
    """The ids of memories, in order, and what was left out or repaired, if anything was."""

    ids: list[str]
    skipped: int = 0
    notes: list[str] = []


class Count(BaseModel):
    """How many things changed."""

    count: int


class Undone(BaseModel):
    """Whether there was a change to take back."""

    undone: bool


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
