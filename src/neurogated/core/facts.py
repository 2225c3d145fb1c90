"""`Fact`: what is known of a subject, stated or read from memories, as programs and SQL tables read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter

from neurogated.core.claims import USER, Entry
from neurogated.core.conflicts import Validity
from neurogated.core.derivation import are_of, sources_of
from neurogated.core.found import Statement
from neurogated.core.habits import explains_reading
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM, FACT
from neurogated.core.ports import GraphStorePort
from neurogated.core.quoting import day_of
from neurogated.core.read_only import filled_all
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.text.times import Zone

FACTS = frozenset({FACT, CLAIM})
"""The kinds of nodes that `facts.list` lists."""


@explains_reading("read .subject, .attribute, .value, .id")
@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that the caller stated, or a claim that was read from memories."""

    id: str
    """The id of its node."""
    statement: str
    """The fact as text; of a claim the words that make it."""
    subject: str
    """The person or thing that it is about; `user` for the user herself."""
    attribute: str
    """Which property of the subject, such as `home`."""
    value: str
    confidence: float = 1.0
    """How sure its source is, 0–1."""
    is_denied: bool = False
    """Whether the subject does not have this value."""
    valid_from: datetime | None = None
    """When the fact began to hold; None if it always did."""
    valid_to: datetime | None = None
    """When the fact ceased to hold; None if it still holds."""
    timestamp: datetime | None = None
    """When it was said."""
    expires_at: datetime | None = None
    sources: tuple[str, ...] = ()
    """The ids of the memories from which it was read, sorted; empty for a fact that the caller stated."""
    scope: Scope = field(default_factory=Scope)
    """Its owner."""


_FIELDS = attrgetter(*Fact.__slots__)
_PARTS = attrgetter("subject", "attribute", "value", "confidence", "is_denied")
_TIMES = attrgetter("valid_from", "valid_to", "timestamp", "expires_at")


def fact_ids(view: GraphView) -> list[str]:
    """Return the ids of the facts and claims that a view admits, as added, also of facts without known parts."""
    rows = view.admitted_nodes()
    return [view.ids[row] for row in rows[are_of(view, rows, FACTS)].tolist()]


def facts_of(store: GraphStorePort, view: GraphView, node_ids: Sequence[str]) -> list[Fact]:
    """Return the facts and claims among some nodes that still exist, with the sources that a view shows."""
    nodes = [node for node in store.get_nodes(node_ids, missing_ok=True) if node.kind in FACTS]
    known = [(node, node.found.statement) for node in nodes if node.found.statement is not None]
    sources = sources_of(view, [node.id for node, _ in known])
    return [fact_of(node, parts, sources.get(node.id, ())) for node, parts in known]


def fact_of(node: MemoryNode, parts: Statement, sources: Iterable[str] = ()) -> Fact:
    """Return the fact of a node with these parts."""
    values = *_PARTS(parts), *_TIMES(node), tuple(sorted(sources)), node.scope
    return Fact(node.id, node.content, *values)


def facts_read(entries: Sequence[tuple[Entry, Validity | None]], sources: Iterable[Iterable[str]]) -> list[Fact]:
    """Return the facts of entries with the valid times that conflicts leave them, if others, and with sources."""
    if not entries:
        return []
    columns = dict(zip(Fact.__slots__, zip(*[_FIELDS(one.fact) for one, _ in entries], strict=True), strict=True))
    times = [valid or (one.fact.valid_from, one.fact.valid_to) for one, valid in entries]
    columns["valid_from"], columns["valid_to"] = zip(*times, strict=True)
    return filled_all(Fact, {**columns, "sources": [tuple(sorted(names)) for names in sources]})


def about(fact: Fact | Statement) -> str:
    """Return the subject and the attribute in words, without the user as subject."""
    attribute = fact.attribute.replace("_", " ")
    return attribute if fact.subject == USER else f"{fact.subject} {attribute}"


def value_of(fact: Fact | Statement) -> str:
    """Return the value, with `not` before one that the subject does not have."""
    return f"not {fact.value}" if fact.is_denied else fact.value


def ended(facts: Iterable[Fact], zone: Zone = None) -> tuple[str, ...]:
    """Return the ends of facts that conflicts have ended, in words, with days of a zone; a wrong one never was true."""
    changed, wrong = list[str](), list[str]()
    for fact in facts:
        said, end = f"{about(fact)} {value_of(fact)}", fact.valid_to
        if end is None or end == fact.valid_from:
            wrong.append(said)
        else:
            changed.append(f"{said}, {day_of(end, zone)}")
    named = (("since changed", changed), ("wrong", wrong))
    return tuple(f"{name}: {'; '.join(said)}" for name, said in named if said)
