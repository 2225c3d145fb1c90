"""The result of a retrieval, and how activation reached each memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import datetime
from typing import Any, NamedTuple, Protocol, Self
from uuid import UUID

from neurogated.core.conflicts import Conflict
from neurogated.core.delta import Access
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import Fact, ended
from neurogated.core.habits import explains_reading, renamed
from neurogated.core.judgements import Verdict
from neurogated.core.kernel import Kernel
from neurogated.core.model import EdgeKey, MemoryNode, checked_count
from neurogated.core.node_kind import FACT
from neurogated.core.quoting import day_of, quoted_memories, said_later
from neurogated.core.read_only import ReadOnlyDict, filled_all
from neurogated.core.tokens import TokenCounter, prompt_tokens
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.text.strings import beginning, html_table
from neurogated.text.times import Zone

_NO_GAINS = ReadOnlyDict[str, float]()


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


@explains_reading("read .content, .speaker, .score, .id, .node; or use recall.as_text()")
@dataclass(frozen=True, slots=True, repr=False)
class RecalledMemory:
    """One memory of a recall; id, content, title, role, speaker, timestamp and metadata are those of its node."""

    node: MemoryNode
    score: float
    """Higher is better. In the gated mode an exact repeat has about 1, and more if `time` or `recency` counts."""
    parts: Mapping[str, float]
    """The parts of the score before weights: `similarity` (-1–1), `activation` that arrived over edges (≥ 0), `recency`
    and `energy` (0–1). The classic mode adds `start`, the activation with which an anchor starts. The parts of the
    similarity are `cosine` (-1–1), `keywords`, `subject` and `tags` (0–1), and for turns `neighbours` and `message`."""
    path: tuple[PathStep, ...] = ()
    """The strongest path from an anchor; empty if the memory is an anchor or only similarity found it."""
    flows: tuple[PathStep, ...] = ()
    """All flows into the memory, strongest first. They add up to the part `activation`. The flows over one edge in
    several hops are added to one."""
    contributions: Mapping[str, float] = field(default_factory=dict)
    """Terms that add up to the score. Gated: `similarity`, `activation`, `recency`, `energy` and `time` after their
    weights, `dormant` (≤ 0), which a dormant memory loses, and `held_back` (≤ 0), which keeps the score below the best
    match; also `place`, `sentiment`, `cause` or `effect` if the question means one, and `replaces` if the
    memory has the rank of another one. Classic: `start`, `activation` and `dormant`."""
    same_as: tuple[str, ...] = ()
    """Ids of the memories that say the same, which the recall leaves out unless it has `include_duplicates`."""

    def moved(self, score: float, term: str) -> RecalledMemory:
        """Return the memory with another score, whose new term is the difference."""
        return replace(self, score=score, contributions={**self.contributions, term: score - self.score})

    @property
    def id(self) -> str:
        return self.node.id

    @property
    def content(self) -> str:
        return self.node.content

    @property
    def title(self) -> str | None:
        return self.node.title

    @property
    def role(self) -> str | None:
        return self.node.role

    @property
    def speaker(self) -> str | None:
        return self.node.speaker

    @property
    def timestamp(self) -> datetime | None:
        return self.node.timestamp

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.node.metadata

    def __repr__(self) -> str:
        return f"<RecalledMemory {self.id}: score {self.score:.2f} {beginning(self.content)!r}>"


class Explanation(Protocol):
    """Explains the ranks of memories recalled from a graph: lists by place, computed when they are first read."""

    @property
    def view(self) -> GraphView: ...
    @property
    def parts(self) -> Sequence[Mapping[str, float]]: ...
    @property
    def paths(self) -> Sequence[tuple[PathStep, ...]]: ...
    @property
    def flows(self) -> Sequence[tuple[PathStep, ...]]: ...
    @property
    def contributions(self) -> Sequence[Mapping[str, float]]: ...
    def edges_to(self, places: Sequence[int]) -> Iterable[EdgeKey]:
        """Return the edges on the paths to the memories at some places."""


class ExplainedMemory(RecalledMemory):
    """A recalled memory whose rank is explained when somebody asks; see `explained`."""

    __slots__ = ("_gains", "_place", "_why")
    _why: Explanation
    _place: int
    _gains: Mapping[str, float]

    def __new__(cls, *values: Any, **fields: Any) -> RecalledMemory:  # type: ignore[misc]  # noqa: ANN401
        """Return a memory with given explanations, as `dataclasses.replace` needs it; see `of`."""
        return RecalledMemory(*values, **fields)

    def moved(self, score: float, term: str) -> RecalledMemory:
        gains = {**self._gains, term: score - self.score}
        (moved,) = explained([self.node], [score], [self.same_as], self._why, [self._place], gains=gains)
        return moved

    @property
    def parts(self) -> Mapping[str, float]:
        return self._why.parts[self._place]

    @property
    def path(self) -> tuple[PathStep, ...]:
        return self._why.paths[self._place]

    @property
    def flows(self) -> tuple[PathStep, ...]:
        return self._why.flows[self._place]

    @property
    def contributions(self) -> Mapping[str, float]:
        terms = self._why.contributions[self._place]
        return {**terms, **self._gains} if self._gains else terms

    @property
    def why(self) -> tuple[Explanation, int]:
        """What explains its rank, and its place there."""
        return self._why, self._place

    def __reduce__(self) -> tuple[object, ...]:
        return RecalledMemory, self._values(self)

    def __eq__(self, other: object) -> bool:
        return self._values(self) == self._values(other) if isinstance(other, RecalledMemory) else NotImplemented

    __hash__ = RecalledMemory.__hash__

    @staticmethod
    def _values(memory: RecalledMemory) -> tuple[object, ...]:
        return tuple(getattr(memory, one.name) for one in fields(RecalledMemory))


def explained(
    nodes: Sequence[MemoryNode],
    scores: Sequence[float],
    same_as: Sequence[tuple[str, ...]],
    why: Explanation,
    places: Sequence[int],
    *,
    gains: Mapping[str, float] = _NO_GAINS,
) -> list[ExplainedMemory]:
    """Return memories with the explanation of some ranks, the places of their own, and further terms of their score."""
    size = len(nodes)
    columns = {"node": nodes, "score": scores, "same_as": same_as, "_place": places}
    return filled_all(ExplainedMemory, {**columns, "_why": [why] * size, "_gains": [gains] * size})


class Profile(NamedTuple):
    """What is known of one person or thing, in one line; see `consolidate`."""

    node: MemoryNode
    facts: Collection[str]
    """The ids of its facts."""


@explains_reading("iterate it: for one in recall: one.content, one.score; or use recall.as_text()")
@dataclass(frozen=True, slots=True, repr=False)
class Recall:
    """The memories that a question recalled, best first; iterating it yields them."""

    query: str
    memories: tuple[RecalledMemory, ...]
    kernel: Kernel
    anchors: tuple[tuple[str, float], ...]
    """Ids and similarities of the nodes from which activation spreads."""
    activation: str
    """The mode of activation."""
    seconds: Mapping[str, float] = field(default_factory=dict)
    """Time of each stage: `embed`, `kernel`, `search`, `activate`, `rank`."""
    notes: tuple[str, ...] = ()
    """Remarks for the caller, such as that the language model failed and cue words chose the kernel."""
    confidence: float = 0.0
    """The probability that a memory says what the query asks for, 0–1, fitted to questions; 0 without memories. With
    `min_confidence`, a recall of lower confidence keeps it and has no memories."""
    trust: float = 1.0
    """The share of the spread activation that counts, 0–1: small if the best match has no lead over the second."""
    relays: Mapping[str, tuple[PathStep, ...]] = field(default_factory=dict)
    """Nodes that passed activation to a memory and are neither memories of this recall nor anchors. Each id has the
    flows into the node, strongest first, in the unit of the part `activation`."""
    activated: Mapping[str, float] = field(default_factory=dict)
    """The neighbours with most activation that are not among the memories, by id, in the same unit."""
    conflicts: tuple[Conflict, ...] = ()
    """The conflicts of the memories that are open, or that say which memory is superseded or wrong. Each has the
    question to ask, and an instruction for an agent. Conflicts with a memory that the filters hide are left out."""
    states: Mapping[str, Verdict] = field(default_factory=dict)
    """The states of the memories that are in conflict, or that say what is, by id: contested, superseded or wrong. Also
    by conflicts that are not listed, because the filters hide the other side."""
    facts: tuple[Fact, ...] = ()
    """What the memories say in slots, as far as it holds. Their `sources` are memories of this recall."""
    former: tuple[Fact, ...] = ()
    """What the memories say in slots that a later memory or the user has ended."""
    profiles: tuple[Profile, ...] = ()
    """Those that have facts of the memories."""
    later: Mapping[str, MemoryNode] = field(default_factory=dict)
    """The newest memory that the same speaker said later about the same thing, by the id of the earlier memory. It is
    among the memories, unless their number cuts it off: before the earlier one if the question finds both, else
    behind it. Whether it changes what was said is for the reader to judge."""
    derived: frozenset[str] = frozenset()
    """Ids of the memories that were computed from others, such as summaries and profiles."""
    zone: Zone = None
    """The zone of the days that its texts show; None for that of the machine."""

    def __repr__(self) -> str:
        best = "".join(f"; best {one.score:.2f} {beginning(one.content)!r}" for one in self.memories[:1])
        return f"<Recall of {len(self)} memories for {beginning(self.query)!r}{best}>"

    def _repr_html_(self) -> str:
        told = self.remarks
        marks = {one.id: "; ".join(told.get(one.id, ())) for one in self}
        days = [one.timestamp and day_of(one.timestamp, self.zone) for one in self]
        about = [(f"{one.score:.2f}", one.speaker or one.role) for one in self]
        rows = ((*of, day, one.content, marks[one.id]) for of, day, one in zip(about, days, self, strict=True))
        return html_table(f"Recall for {beginning(self.query)!r}", ("score", "speaker", "day", "memory", "marks"), rows)

    def __iter__(self) -> Iterator[RecalledMemory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)

    def __getitem__(self, rank: int) -> RecalledMemory:
        return self.memories[rank]

    @renamed(2, max_tokens="token_budget")
    def as_text(self, token_budget: int | None = None, count_tokens: TokenCounter = prompt_tokens) -> str:
        """Return the memories as text for a prompt, best first, one line each; "" if there are none.

        A line is `- (mark) Speaker (3 May 2026, “Title”): text`; see `remarks` for the marks. Further lines of a text
        are indented, so that no memory can end its quotation.

        Args:
            token_budget: maximum tokens of the whole text; a memory that does not fit is left out as a whole, except
                the first, which is cut.
            count_tokens: returns the number of tokens of each of several texts for your model. Default:
                `prompt_tokens`, a count on the safe side.

        Raises:
            InputError: `token_budget` is not a whole number from 1 on.
        """
        if token_budget is not None and not checked_count("token_budget", token_budget):
            raise InputError(f"token_budget is {token_budget}, but must be at least 1")
        marks = self.remarks
        marked = ((one.node, marks.get(one.id, ())) for one in self)
        return quoted_memories(marked, token_budget, count_tokens, self.zone)

    @property
    def remarks(self) -> Mapping[str, tuple[str, ...]]:
        """The marks that texts show before memories, by id.

        They say what holds no longer, as in `since changed: employer Physio Plus, 1 October 2026`, else the state; what
        was said later about the same, as in `later, 5 November 2026: The meeting was moved`; and that a memory is a
        summary or a profile of others.
        """
        former = defaultdict[str, list[Fact]](list)
        for fact in self.former:
            for name in fact.sources:
                former[name].append(fact)
        marks = {name: ended(facts, self.zone) for name, facts in former.items()}
        for name, state in self.states.items():
            if state == "contested" or name not in marks:
                marks[name] = (state, *marks.get(name, ()))
        for name, node in self.later.items():
            marks[name] = (*marks.get(name, ()), said_later(node, self.zone))
        for memory in self.memories if self.derived else ():
            if memory.id in self.derived:
                kind = "summary" if memory.node.kind == FACT else memory.node.kind
                marks[memory.id] = (kind, *marks.get(memory.id, ()))
        return marks

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the memories, best first."""
        return tuple([memory.node.id for memory in self.memories])

    @property
    def view(self) -> GraphView | None:
        """The graph that it searched; None if no search found its memories."""
        return next((one.why[0].view for one in self.memories if isinstance(one, ExplainedMemory)), None)

    @property
    def access(self) -> Access:
        """One access of each memory and of each edge on its path."""
        edges, places = set[EdgeKey](), dict[Explanation, list[int]]()
        for one in self.memories:
            if isinstance(one, ExplainedMemory):
                places.setdefault(one.why[0], []).append(one.why[1])
            else:
                edges.update([step.edge for step in one.path])
        # The paths to the memories that it does not have, such as those that a context cut, are not computed.
        return Access.of(self.ids, edges.union(*[why.edges_to(some) for why, some in places.items()]))


@explains_reading("it is the number of edges, with .memories and .gone")
class Feedback(int):
    """The number of edges that feedback strengthened, weakened or added.

    Attributes:
        memories: ids of the memories that learned.
        gone: ids of the memories that feedback skipped, because they were deleted or expired since their recall.
    """

    memories: tuple[str, ...]
    gone: tuple[str, ...]
    __str__ = int.__repr__

    def __new__(cls, edges: int, memories: Iterable[str] = (), gone: Iterable[str] = ()) -> Self:
        """Return the number of edges with the ids of memories."""
        feedback = super().__new__(cls, edges)
        feedback.memories, feedback.gone = tuple(memories), tuple(gone)
        return feedback

    def __repr__(self) -> str:
        """Return the number, and which memories learned."""
        return f"{self} (edges; memories: {', '.join(self.memories) or 'none'})"


MemoryRef = str | UUID | MemoryNode | RecalledMemory
"""A memory, or its id."""


def listed(ids: MemoryRef | Iterable[MemoryRef]) -> Iterable[MemoryRef]:
    """Return one or several references as several; raises InputError."""
    if isinstance(ids, str | UUID | MemoryNode | RecalledMemory):
        return [ids]
    if not isinstance(ids, Iterable):
        raise InputError(f"the ids are {ids!r}, but must be an id or a list of ids")
    return ids


def id_of(one: MemoryRef) -> str:
    """Return the id of a memory."""
    return one.id if isinstance(one, MemoryNode | RecalledMemory) else str(one)
