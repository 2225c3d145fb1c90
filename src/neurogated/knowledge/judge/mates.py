"""The claims and stated facts of one slot, stored or written by a delta."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from itertools import chain

import numpy as np

from neurogated.core.claims import Slot
from neurogated.core.facts import FACTS
from neurogated.core.filters import Filter
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import slot_tag, subject_tag, value_tag
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView, Rows
from neurogated.knowledge.judge.claim_nodes import Mate, claim_of, time_of
from neurogated.knowledge.judge.slots import slot_key
from neurogated.knowledge.settlement import Settlement


class Mates:
    """Finds the claims that a claim may meet: those with its value, and those of its slot next to it in time.

    A slot may have thousands of values, so only some of its other claims are read.
    """

    def __init__(self, store: GraphStorePort, settlement: Settlement, most: int) -> None:
        """Take the graph and the changes of a delta; `most` others that hold at a time are read, and as many more."""
        self._store = store
        self._view = store.view()
        self._settlement = settlement
        self._most = most
        self._slots: dict[tuple[object, Slot], list[str]] = {}
        self._written = defaultdict[tuple[object, Slot], dict[str, None]](dict)
        self._known: dict[str, Mate] = {}
        self._views: dict[str | None, GraphView] = {}
        self._values = defaultdict[tuple[object, str], dict[str, None]](dict)

    def enter(self, node: MemoryNode) -> None:
        """Take in a claim or a stated fact that the delta writes."""
        claim, owner = claim_of(node), node.scope.owner
        self._written[owner, slot_key(claim.slot)][node.id] = None
        self._values[owner, value_tag(*slot_key(claim.slot), claim.value)][node.id] = None

    def of(self, node: MemoryNode, gone: Collection[str]) -> list[Mate]:
        """Return the mates of a node that are not gone, in order of time."""
        claim, owner = claim_of(node), node.scope.owner
        slot = slot_key(claim.slot)
        value = value_tag(*slot, claim.value)
        names = dict.fromkeys(self._with_value(node, value))
        names |= dict.fromkeys(self._near(self._of_slot(node, slot), time_of(node)))
        names |= dict.fromkeys([*self._written[owner, slot]][-self._most :])
        nodes = self._settlement.nodes([name for name in names if name != node.id and name not in gone])
        found = [self._mate(one) for one in nodes if one.scope.owner == owner]
        return sorted((one for one in found if slot_key(one.claim.slot) == slot), key=_time)

    def among(self, node: MemoryNode, slots: Sequence[Slot], gone: Collection[str]) -> list[Mate]:
        """Return the claims next to a node in time in some slots of its subject, in any order."""
        owner = node.scope.owner
        names = dict.fromkeys(name for slot in slots for name in self._near(self._of_slot(node, slot), time_of(node)))
        names |= dict.fromkeys(name for slot in slots for name in self._written[owner, slot_key(slot)])
        nodes = self._settlement.nodes([name for name in names if name != node.id and name not in gone])
        return [self._mate(one) for one in nodes if one.scope.owner == owner]

    def _mate(self, node: MemoryNode) -> Mate:
        """Return a node with its claim, which is made once for each version."""
        known = self._known.get(node.id)
        if known is None or known.node is not node:
            known = self._known[node.id] = Mate.of(node)
        return known

    def _with_value(self, node: MemoryNode, tag: str) -> Iterable[str]:
        """Return the latest claims of the slot with the value of a node."""
        owner = node.scope.owner
        if (owner, tag) not in self._values:
            view = self._owned(node)
            rows = self._rows_with([tag] if self._store.existing_tags([tag], view) else [], view)[-self._most :]
            self._values[owner, tag] = dict.fromkeys(view.ids[row] for row in rows.tolist())
        return self._values[owner, tag]

    def _of_slot(self, node: MemoryNode, slot: Slot) -> list[str]:
        """Return the ids of the stored nodes of the slot of a node.

        A stated fact may name its attribute in other words; the latest facts about the subject are read to find it.
        """
        key = node.scope.owner, slot
        if key not in self._slots:
            view = self._owned(node)
            words = dict.fromkeys((slot.attribute, claim_of(node).slot.attribute))
            tags, about = [slot_tag(slot.subject, word) for word in words], subject_tag(slot.subject)
            known = self._store.existing_tags([*tags, about], view)
            rows = self._rows_with([tag for tag in tags if tag in known], view)
            facts = np.setdiff1d(self._rows_with([about] if about in known else [], view), rows)[-self._most :]
            others = self._store.get_nodes([view.ids[row] for row in facts.tolist()])
            alike = [one.id for one in others if one.found.statement and slot_key(claim_of(one).slot) == slot]
            self._slots[key] = [*(view.ids[row] for row in rows.tolist()), *alike]
        return self._slots[key]

    def _owned(self, node: MemoryNode) -> GraphView:
        user = node.scope.user_id
        if user not in self._views:
            self._views[user] = self._store.view(filters=Filter(scope=ScopeFilter(user, alone=True)))
        return self._views[user]

    def _rows_with(self, tags: Sequence[str], view: GraphView) -> Rows:
        """Return the rows of the claims and stated facts with one of some tags, ascending."""
        names = chain.from_iterable(self._store.nodes_with([tag], view=view) for tag in tags)
        rows = np.unique(view.known_rows(names))
        return rows[np.isin(view.kind.take(rows), [view.kinds.index(kind) for kind in FACTS if kind in view.kinds])]

    def _near(self, names: list[str], at: datetime) -> list[str]:
        """Return the latest of many nodes, of those that hold at a time and of the others."""
        if len(names) <= self._most:
            return names
        rows = np.sort(self._view.known_rows(names))
        holds = ~np.isin(rows, self._store.view(valid_at=at).hidden)
        near = np.concatenate([part[-self._most :] for part in (rows[holds], rows[~holds])])
        return [self._view.ids[row] for row in np.sort(near).tolist()]


def _time(mate: Mate) -> datetime:
    return mate.at
