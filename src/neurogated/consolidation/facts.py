"""The node of a fact: its text, its owner, its times and its edges to its sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby, takewhile
from typing import TypeVar

from neurogated.consolidation.sentence_cover import Sentence
from neurogated.core.delta import NodeChange
from neurogated.core.derivation import common_metadata
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import Found
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.scope import Scope
from neurogated.text.times import find_times
from neurogated.utils.hash_utils import compute_mdhash_id

__all__ = ["agreeing", "edges_of", "fact_id", "fact_of", "faded", "quoted"]

T = TypeVar("T")


def fact_id(sources: Iterable[MemoryNode]) -> str:
    """Return the id of the fact of these sources. It depends on their ids only, not on their order."""
    names = "\n".join(sorted(node.id for node in sources))
    return compute_mdhash_id(names, prefix="fact-")


def agreeing(nodes: Sequence[MemoryNode]) -> list[MemoryNode]:
    """Return the largest group of nodes that are valid in the same period and belong to the same user and agent.

    Sessions without a user may be those of different persons, so their nodes must belong to the same session.
    """

    def period(node: MemoryNode) -> tuple[object, ...]:
        return node.valid_from, node.valid_to, *node.scope.owner

    groups: dict[tuple[object, ...], list[MemoryNode]] = {}
    for node in nodes:
        groups.setdefault(period(node), []).append(node)
    return max(groups.values(), key=len, default=[])


def quoted(sources: Sequence[MemoryNode], sentences: Iterable[Sentence]) -> str:
    """Return sentences of sources, one line for each source.

    If the sources differ in their speakers, roles or days, each line begins with its own, so that "I" and "yesterday"
    keep their meaning.
    """
    speaks = len({(node.speaker, node.role) for node in sources}) > 1
    dated = _common(node.timestamp for node in sources) is None
    lines = []
    for place, group in groupby(sentences, key=lambda one: one.source):
        node, text = sources[place], " ".join(sentence.text for sentence in group)
        speaker = node.speaker or node.role if speaks else None
        day = f"{node.timestamp.day} {node.timestamp:%B %Y}" if dated and node.timestamp else None
        label = ", ".join(filter(None, (speaker, day)))
        lines.append(f"{label}: {text}" if label else text)
    return "\n".join(lines)


def fact_of(sources: Sequence[MemoryNode], text: str, at: datetime, energy: float) -> MemoryNode:
    """Return the node of a fact with its energy at the time `at`, without a vector.

    Its fields are those in which all sources agree. Its importance is the largest of the sources.
    """
    ends = [node.expires_at for node in sources if node.expires_at is not None]
    first = sources[0]
    return MemoryNode(
        fact_id(sources),
        text,
        base_energy=energy,
        energy_at=at,
        last_accessed=at,
        created_at=at,
        importance=max(node.importance for node in sources),
        kind="fact",
        scope=_common_scope([node.scope for node in sources]),
        metadata=common_metadata(sources),
        valid_from=first.valid_from,
        valid_to=first.valid_to,
        expires_at=min(ends, default=None),
        timestamp=_common(node.timestamp for node in sources),
        speaker=_common(node.speaker for node in sources),
        title=_common(node.title for node in sources),
        tags=sorted(set(first.tags).intersection(*(node.tags for node in sources))),
        found=Found(
            entities=tuple(dict.fromkeys(name for node in sources for name in node.found.entities if name in text)),
            times=find_times(text),
        ),
    )


def edges_of(fact: MemoryNode, sources: Iterable[MemoryNode], at: datetime) -> list[MemoryEdge]:
    """Return the edges from a fact to its sources."""
    return [MemoryEdge(fact.id, node.id, EdgeType.DERIVED_FROM, created_at=at) for node in sources]


def faded(node_id: str, base: float, charge: float, factor: float, at: datetime) -> NodeChange:
    """Return the change by which a source has `factor` times its energy from `at` on.

    Its base pays, because a charge has no journal; so a source keeps at least its charge.
    """
    return NodeChange(node_id, energy=max(0.0, (base + charge) * factor - charge), energy_at=at)


def _common(values: Iterable[T | None]) -> T | None:
    """Return the value if all values are equal, else None."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None


def _common_scope(scopes: Sequence[Scope]) -> Scope:
    user, agent, session = (
        _common(getattr(one, name) for one in scopes) for name in ("user_id", "agent_id", "session_id")
    )
    levels = zip(*(one.path for one in scopes), strict=False)
    path = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]
    return Scope(user, agent, session, path)
