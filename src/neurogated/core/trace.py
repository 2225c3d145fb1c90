"""The result of a retrieval, and how activation reached each memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from neurogated.core.delta import Access
from neurogated.core.edge_type import EdgeType
from neurogated.core.kernel import Kernel
from neurogated.core.model import EdgeKey, MemoryNode, checked_count
from neurogated.core.quoting import TokenCounter, estimated_tokens, quoted_memories
from neurogated.errors import InputError

__all__ = ["Feedback", "PathStep", "Recall", "RecalledMemory"]


@dataclass(frozen=True, slots=True)
class PathStep:
    """A flow of activation over one edge."""

    source_id: str
    target_id: str
    type: EdgeType
    forward: bool
    """Whether the edge was walked along its stored direction."""
    weight: float
    """The edge's weight, 0–1."""
    flow: float
    """Activation that arrived over the edge, ≥ 0, in the unit of the memory's part `activation`."""
    hop: int = 1
    """The first hop in which it flowed, from 1."""

    @property
    def edge(self) -> EdgeKey:
        """The stored edge."""
        ends = (self.source_id, self.target_id) if self.forward else (self.target_id, self.source_id)
        return EdgeKey(*ends, self.type)


@dataclass(frozen=True, slots=True)
class RecalledMemory:
    """One memory of a recall."""

    node: MemoryNode
    score: float
    """The ranking is by score: in the gated mode about 1 for an exact repeat, more if `time` or `recency` counts."""
    parts: Mapping[str, float]
    """The score before weights: `similarity` (-1–1), `activation` that arrived over edges (≥ 0) and `recency` (0–1), in
    the classic mode also the activation an anchor starts with, `start`; and the parts of the similarity: `cosine`
    (-1–1), `keywords`, `subject` and `marks` (0–1), and of a turn `neighbours` and `message`. docs/concepts.md explains
    each."""
    path: tuple[PathStep, ...] = ()
    """The strongest way from an anchor to this memory; empty for an anchor, and where only similarity found it."""
    flows: tuple[PathStep, ...] = ()
    """Every flow that arrived, strongest first. They add up to the part `activation`. What flowed over an edge in
    several hops is one flow."""
    contributions: Mapping[str, float] = field(default_factory=dict)
    """Terms that add up to the score. Gated: `similarity`, `activation` and `recency` after their weights, `time` if
    the question names the time of the memory, and `held_back` (≤ 0), which keeps the score at that of the best match.
    Classic: `start` and `activation`."""

    @property
    def id(self) -> str:
        """The node's id."""
        return self.node.id

    @property
    def content(self) -> str:
        """The node's text."""
        return self.node.content

    @property
    def metadata(self) -> Mapping[str, Any]:
        """The node's metadata."""
        return self.node.metadata


@dataclass(frozen=True, slots=True)
class Recall:
    """The memories that a question recalled, best first; iterating it yields them."""

    query: str
    memories: tuple[RecalledMemory, ...]
    kernel: Kernel
    anchors: tuple[tuple[str, float], ...]
    """Ids and similarities of the nodes from which activation spread."""
    activation: str
    """The mode of activation."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time of each stage: `embed`, `kernel`, `search`, `activate`, `rank`."""
    notes: tuple[str, ...] = ()
    """Messages for the caller, such as that a part failed and was skipped."""
    trust: float = 1.0
    """The share of the spread activation that counts, 0–1: small where the best match does not stand out."""
    relays: Mapping[str, tuple[PathStep, ...]] = field(default_factory=dict)
    """Nodes that passed activation on to a memory and are neither returned nor anchors: by id, the flows that reached
    each, strongest first, in the unit of the part `activation`."""

    def __iter__(self) -> Iterator[RecalledMemory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)

    def __getitem__(self, rank: int) -> RecalledMemory:
        return self.memories[rank]

    def as_text(self, max_tokens: int | None = None, count_tokens: TokenCounter = estimated_tokens) -> str:
        """Return the memories as text for a prompt, best first, with date, speaker and title; "" where there are none.

        Each is an XML element with its text escaped, so that no memory can end its quotation.

        Args:
            max_tokens: of the whole text; a memory that does not fit is left out whole.
            count_tokens: returns the tokens of each of several texts as your model counts them; an estimate from above
                when left out.

        Raises:
            InputError: `max_tokens` is no number from 1 on.
        """
        if max_tokens is not None and not checked_count("max_tokens", max_tokens):
            raise InputError(f"max_tokens is {max_tokens}, but must be at least 1")
        return quoted_memories((memory.node for memory in self), max_tokens, count_tokens)

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the memories, best first."""
        return tuple(memory.id for memory in self.memories)

    @property
    def mark(self) -> Access:
        """The nodes returned and the edges on their paths, for counting uses."""
        edges = (step.edge for memory in self.memories for step in memory.path)
        return Access.of(self.ids, edges)


class Feedback(int):
    """How many edges feedback has strengthened or made.

    Attributes:
        gone: ids of the memories that were passed over, because they were deleted or expired since their recall.
    """

    gone: tuple[str, ...]

    def __new__(cls, edges: int, gone: Iterable[str] = ()) -> Self:
        """Return the number with the ids."""
        feedback = super().__new__(cls, edges)
        feedback.gone = tuple(gone)
        return feedback
