"""The operations: the one table from which checks, help, the reference and completion are made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from neurogated.sexpr.values import TYPES

REQUIRED: Final = object()
"""The default of a parameter that must be given."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of an operation."""

    name: str
    type: str
    """One of `TYPES`, or `expression`."""
    default: object = REQUIRED


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation."""

    name: str
    parameters: tuple[Parameter, ...]
    summary: str
    example: str
    writes: bool = False
    """Whether it changes the memory; the uses that a recall counts are no change."""

    @property
    def signature(self) -> str:
        """The call with the names of the parameters; optional ones in brackets."""
        names = (one.name if one.default is REQUIRED else f"[{one.name}]" for one in self.parameters)
        return f"({' '.join((self.name, *names))})"

    @property
    def method(self) -> str:
        """The name in Python."""
        return self.name.rstrip("!")


def _operation(name: str, parameters: str, summary: str, example: str, **defaults: object) -> Operation:
    """Return an operation; `parameters` are words `name:type`, `summary` begins with `!` if it writes."""
    pairs = (word.partition(":")[::2] for word in parameters.split())
    made = tuple(Parameter(key, kind or key, defaults.get(key, REQUIRED)) for key, kind in pairs)
    return Operation(name, made, summary.removeprefix("!"), example, writes=summary.startswith("!"))


_ALL = (
    _operation(
        "remember",
        "text:document type:text importance:unit ttl:duration tags:texts",
        "!store a text and return its id, or the ids of its chunks. A type that is a kind of memory becomes its kind,"
        " another one is metadata",
        '(remember "test" "event" 0.5 "7d" (list "test"))',
        type=None,
        importance=None,
        ttl=None,
        tags=(),
    ),
    _operation(
        "recall",
        "query:text limit:count",
        "return the memories that a question recalls, best first",
        '(recall "memory" 10)',
        limit=10,
    ),
    _operation(
        "associate",
        "from:id to:id relation weight:unit",
        "!connect two memories; the edge that is there already is strengthened",
        '(associate "m_abc123" "m_xyz789" "caused-by" 0.8)',
        relation=None,
        weight=0.5,
    ),
    _operation("feedback", "id:ids outcome", "!learn whether memories were useful", '(feedback "m_abc123" "success")'),
    _operation(
        "trace",
        "start:id depth:steps",
        "return the edges around a memory, nearest first",
        '(trace "m_abc123" 3)',
        depth=3,
    ),
    _operation(
        "activate",
        "seeds:ids steps decay:unit threshold:unit",
        "return the memories that activation reaches from others, strongest first",
        '(activate (list "m_abc123") 3 0.85 0.1)',
        steps=3,
        decay=0.85,
        threshold=0.1,
    ),
    _operation(
        "decay!",
        "half_life:days",
        "!lower the energies of memories by a half-life in days",
        "(decay! 30)",
        half_life=30.0,
    ),
    _operation(
        "consolidate", "", "!merge memories that belong together; return the ids of the new ones", "(consolidate)"
    ),
    _operation("stats", "", "return the number of memories and edges, and their energy", "(stats)"),
    _operation(
        "query",
        "where:condition tags:texts limit:count",
        "return memories without a question, in the order they were added",
        '(query (>= "year" 2020) :limit 10)',
        where=None,
        tags=(),
        limit=10,
    ),
    _operation(
        "path",
        "from:id to:id depth:steps",
        "return the edges of a shortest path between two memories",
        '(path "m_abc123" "m_xyz789")',
        depth=6,
    ),
    _operation(
        "facts", "subject:text attribute:text", "return facts", '(facts "Ana" "city")', subject=None, attribute=None
    ),
    _operation(
        "conflicts",
        "status",
        "return contradictions with their questions, the latest first",
        '(conflicts "open")',
        status="open",
    ),
    _operation(
        "resolve",
        "id keep:text because:text",
        '!settle a contradiction: keep the id of a side, "both" or "supersede"',
        '(resolve "conflict-1" "both" "said so")',
        because=None,
    ),
    _operation(
        "context",
        "task:text tokens",
        "return memories as text for a prompt",
        '(context "Plan the trip" 500)',
        tokens=2000,
    ),
    _operation(
        "explain",
        "call:expression",
        "return the Cypher of an operation, which is not run",
        '(explain (recall "memory" 10))',
    ),
)
OPERATIONS: Mapping[str, Operation] = {one.name: one for one in _ALL}
"""By name."""


def reference() -> str:
    """Return the reference of all operations in Markdown."""
    lines = list[str]()
    for one in OPERATIONS.values():
        lines += [f"### `{one.signature}`", "", f"{one.summary[:1].upper()}{one.summary[1:]}.", ""]
        for parameter in one.parameters:
            words = TYPES[parameter.type].words if parameter.type in TYPES else "an operation"
            default = "" if parameter.default in (REQUIRED, None, ()) else f"; default: {parameter.default}"
            lines.append(f"* `{parameter.name}`: {words}{default}")
        lines += ["", "```lisp", one.example, "```", ""]
    return "\n".join(lines)
