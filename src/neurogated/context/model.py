"""A context: the text for a prompt, and the memories in it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Self

from neurogated.core.conflicts import Conflict
from neurogated.core.habits import explains_reading
from neurogated.core.trace import RecalledMemory
from neurogated.text.strings import beginning, html_table

CONTEXT_TOKENS = 2000
"""The default budget of a context."""


UNKNOWN = "I don't know"
"""The answer to what no memory says."""


class Answer(str):  # noqa: SLOT000 - its attributes are annotated
    """The answer of a language model, as a text."""

    sources: tuple[str, ...]
    """Ids of the memories that say so, as the model names them."""
    confidence: float
    """That of the recall, 0–1."""

    def __new__(cls, text: str, sources: tuple[str, ...] = (), confidence: float = 0.0) -> Self:
        """Take the text, the sources and the confidence."""
        answer = super().__new__(cls, text)
        answer.sources, answer.confidence = sources, confidence
        return answer


@dataclass(frozen=True, slots=True)
class Choice:
    """Why a memory is in a context."""

    rank: int
    """Its rank in the recall, from 1."""
    score: float
    """Its score in the recall."""
    contributions: Mapping[str, float]
    """Terms that add up to the score; see `RecalledMemory.contributions`."""
    neighbour: str | None
    """Id of the memory from which activation reached it; None if its own similarity found it."""
    value: float
    """The value by which it was chosen: its score, as a share of the best, less for a long line, minus the cost of
    repetition. It is at least the value of a memory that was chosen before and that it contests."""
    repetition: float
    """Cosine with the most similar memory chosen before, 0–1."""
    repeats: str | None
    """Id of that memory; None without one."""
    tokens: int
    """Tokens of its line."""

    def __str__(self) -> str:
        parts = " + ".join(
            f"{name} {part:.3f}" for name, part in self.contributions.items() if f"{part:.3f}" != "0.000"
        )
        said = [f"rank {self.rank}", f"score {self.score:.3f} = {parts}", f"{self.tokens} tokens"]
        said += [f"reached from {self.neighbour}"] if self.neighbour else []
        said += [f"cosine {self.repetition:.3f} with {self.repeats}"] if self.repeats else []
        return "; ".join(said)


@explains_reading("read .text, .memories, .conflicts, .notes")
@dataclass(frozen=True, slots=True, repr=False)
class Context:
    """Memories as text for a prompt, within a budget of tokens; iterating it yields the memories."""

    task: str
    text: str
    """Quotations by time, then stated facts, then summaries; "" if there are none."""
    tokens: int
    """Tokens of the text."""
    budget: int
    memories: tuple[RecalledMemory, ...]
    """Those in the text, in its order."""
    excerpts: tuple[str, ...] = ()
    """Ids of memories of which the text has only sentences, because no whole memory fits."""
    choices: Mapping[str, Choice] = field(default_factory=dict)
    """Why each memory is there, by id; empty without `explain`."""
    left_out: tuple[str, ...] = ()
    """Ids of the recalled memories that found no place in the budget, best first; empty without `explain`."""
    conflicts: tuple[Conflict, ...] = ()
    """The conflicts of these memories, with the questions to ask. The text marks the memories."""
    notes: tuple[str, ...] = ()
    """Remarks of the recall."""
    confidence: float = 0.0
    """The recall's confidence, 0–1; see `Recall.confidence`."""

    def __iter__(self) -> Iterator[RecalledMemory]:
        return iter(self.memories)

    def __len__(self) -> int:
        return len(self.memories)

    def __getitem__(self, place: int) -> RecalledMemory:
        return self.memories[place]

    def __repr__(self) -> str:
        used = f"{self.tokens} of {self.budget} tokens"
        return f"<Context of {len(self)} memories for {beginning(self.task)!r}; {used}; print it for its text>"

    def _repr_html_(self) -> str:
        return html_table(
            f"Context for {beginning(self.task)!r}: {self.tokens} of {self.budget} tokens", (), [[self.text]]
        )

    def __str__(self) -> str:
        return self.text

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the memories, in the order of the text."""
        return tuple(memory.id for memory in self.memories)
