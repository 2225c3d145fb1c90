"""Profiles: what is known of one person or thing, in one line of clauses."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

import numpy as np

from neurogated.core.claims import USER, Change
from neurogated.core.conflicts import given_times, moment_of, undisputed
from neurogated.core.facts import FACTS, value_of
from neurogated.core.found import Found, Statement
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import PROFILE
from neurogated.core.ports import GraphStorePort
from neurogated.core.quoting import day_of
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.text.keywords import fold
from neurogated.text.times import Zone
from neurogated.utils.hash_utils import compute_mdhash_id

_CLAUSES = 12
"""Attributes of one profile. More of them would not fit into a small context; they make another profile."""


class Known(NamedTuple):
    """What is known of some attributes of one person or thing, of one owner."""

    subject: str
    number: int
    """The number of the profile among those of the subject, from 0."""
    facts: Sequence[MemoryNode]
    """Those that hold, by attribute."""
    former: Sequence[MemoryNode]
    """Those of the same attributes that others have replaced, the latest first."""

    @property
    def scope(self) -> Scope:
        """The owner."""
        return self.facts[0].scope

    @property
    def id(self) -> str:
        """The id of the profile; it depends on the owner, the subject and the number."""
        parts = [*self.scope.owner, *self.scope.path, fold(self.subject), self.number]
        return compute_mdhash_id(json.dumps(parts, ensure_ascii=False), prefix=f"{PROFILE}-")

    def clauses(self, zone: Zone) -> list[str]:
        """Return one for each attribute, such as `employer Physio Plus (since 1 October 2026, before Saint Anne)`."""
        return [_clause(name, nodes, self.former, zone) for name, nodes in _by_attribute(self.facts).items()]

    def text(self, zone: Zone) -> str:
        """Return the clauses in one line, after the subject."""
        return f"{'The user' if self.subject == USER else self.subject}: {'; '.join(self.clauses(zone))}"


def known_subjects(store: GraphStorePort, view: GraphView, at: datetime, least: int) -> Iterator[Known]:
    """Yield what is known at a time of each person or thing with at least `least` facts that nothing disputes."""
    codes = [code for code, kind in enumerate(view.kinds) if kind in FACTS]
    rows = view.live_nodes()
    rows = rows[np.isin(view.kind.take(rows), codes)]
    found = store.get_nodes([view.ids[row] for row in rows.tolist()], missing_ok=True)
    nodes = [one for one in found if one.found.statement is not None]
    holding = {one.id for one in undisputed(store, view, nodes, at)}
    groups = defaultdict[tuple[object, ...], list[MemoryNode]](list)
    for node in nodes:
        groups[*node.scope.owner, node.scope.path, fold(_parts(node).subject)].append(node)
    for group in groups.values():
        facts = [one for one in group if one.id in holding and _holds(one, at)]
        if len(facts) >= least:
            yield from _divided(facts, group)


def profile_of(known: Known, text: str, at: datetime) -> MemoryNode:
    """Return the node of a profile, without a vector."""
    ends = [node.expires_at for node in known.facts if node.expires_at is not None]
    return MemoryNode(
        known.id,
        text,
        kind=PROFILE,
        scope=known.scope,
        created_at=at,
        last_accessed=at,
        energy_at=at,
        importance=max(node.importance for node in known.facts),
        timestamp=max((node.timestamp for node in known.facts if node.timestamp), default=None),
        expires_at=min(ends, default=None),
        found=Found(names=() if known.subject == USER else (known.subject,)),
    )


def _divided(facts: Sequence[MemoryNode], group: Sequence[MemoryNode]) -> Iterator[Known]:
    attributes = _by_attribute(sorted(facts, key=lambda one: (moment_of(one), one.id)))
    over = sorted((one for one in group if _was_replaced(one) and one not in facts), key=moment_of, reverse=True)
    every = list(attributes)
    for number, begin in enumerate(range(0, len(every), _CLAUSES)):
        names = every[begin : begin + _CLAUSES]
        former = [one for one in over if _parts(one).attribute in names]
        yield Known(_parts(facts[0]).subject, number, [one for name in names for one in attributes[name]], former)


def _by_attribute(nodes: Sequence[MemoryNode]) -> dict[str, list[MemoryNode]]:
    found = defaultdict[str, list[MemoryNode]](list)
    for node in nodes:
        found[_parts(node).attribute].append(node)
    return found


def _clause(attribute: str, nodes: Sequence[MemoryNode], former: Sequence[MemoryNode], zone: Zone) -> str:
    values = ", ".join(dict.fromkeys(value_of(_parts(node)) for node in nodes))
    begin = nodes[0].valid_from if len(nodes) == 1 else None
    before = list(dict.fromkeys(value_of(_parts(node)) for node in former if _parts(node).attribute == attribute))
    about = [] if begin is None else [f"since {day_of(begin, zone)}"]
    about += [f"before {', '.join(before)}"] if before else []
    said = f"{attribute.replace('_', ' ')} {values}"
    return f"{said} ({', '.join(about)})" if about else said


def _parts(node: MemoryNode) -> Statement:
    if node.found.statement is None:
        raise ValueError(f"node {node.id!r} is no fact with known parts")
    return node.found.statement


def _holds(node: MemoryNode, at: datetime) -> bool:
    begins, is_over = node.valid_from or at, node.valid_to is not None and node.valid_to <= at
    return begins <= at and not is_over and node.metadata.get("change") != Change.ENDS.value


def _was_replaced(node: MemoryNode) -> bool:
    """Return whether another fact has ended a fact that was true."""
    return node.valid_to != given_times(node)[1] and node.valid_to != node.valid_from
