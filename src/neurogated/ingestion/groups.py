"""Groups of memories that say the same, and their changes before they are written."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from datetime import datetime

import numpy as np

from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge
from neurogated.core.view import GraphView

_Pair = tuple[str, str]
_SEPARATED = 0.0


class Groups:
    """Groups are stars: each member has one SAME_AS edge, which leads to the front. It reads a group when it is asked.

    An edge of weight 0 between two memories says that they are separate for good.
    """

    def __init__(self, view: GraphView) -> None:
        self.view = view
        self._read: set[str] = set()
        self._stored: dict[_Pair, float] = {}
        self._now: dict[_Pair, float] = {}
        self._ahead: dict[str, str] = {}
        self._behind: defaultdict[str, set[str]] = defaultdict(set)
        self._apart: defaultdict[str, set[str]] = defaultdict(set)
        self._weights: dict[str, float] = {}

    def front(self, node_id: str) -> str:
        """Return the front of a memory's group; the memory itself if it has none."""
        self._load(node_id)
        return self._ahead.get(node_id, node_id)

    def group(self, node_id: str) -> list[str]:
        """Return the group of a memory, the front first."""
        front = self.front(node_id)
        self._load(front)
        return [front, *sorted(self._behind[front])]

    def are_separate(self, one: str, other: str) -> bool:
        """Return whether the user has separated a member of one group from a member of the other."""
        others = set(self.group(other))
        for member in self.group(one):
            self._load(member)
            if not others.isdisjoint(self._apart[member]):
                return True
        return False

    def merge(self, front: str, behind: str, confidence: float) -> None:
        """Put the group with the front `behind` behind `front`."""
        for member in self.group(behind)[1:]:
            self._link(member, front, self._unlink(member))
        self._link(behind, front, confidence)

    def without(self, leaving: Collection[str]) -> Iterator[list[str]]:
        """Take memories out of their groups; yield the members of each group that lost its front."""
        for node_id in leaving:
            if self.front(node_id) != node_id:
                self._unlink(node_id)
                continue
            members = [one for one in self.group(node_id)[1:] if one not in leaving]
            for one in self.group(node_id)[1:]:
                self._weights[one] = self._unlink(one)
            if members:
                yield members

    def lead(self, front: str, member: str) -> None:
        """Put a memory that lost its front behind another one."""
        if member != front:
            self._link(member, front, self._weights[member])

    def separate(self, one: str, other: str) -> None:
        """Record that two memories stay apart."""
        self._now[one, other] = _SEPARATED
        self._apart[one].add(other)
        self._apart[other].add(one)

    def removed(self) -> tuple[EdgeKey, ...]:
        """Return the stored edges to remove."""
        return tuple(EdgeKey(*pair, EdgeType.SAME_AS) for pair in self._stored if pair not in self._now)

    def added(self, at: datetime) -> tuple[MemoryEdge, ...]:
        """Return the edges to write."""
        changed = {pair: weight for pair, weight in self._now.items() if self._stored.get(pair) != weight}
        return tuple(MemoryEdge(*pair, EdgeType.SAME_AS, weight, created_at=at) for pair, weight in changed.items())

    def _link(self, member: str, front: str, weight: float) -> None:
        self._now[member, front] = weight
        self._ahead[member] = front
        self._behind[front].add(member)

    def _unlink(self, member: str) -> float:
        front = self._ahead.pop(member)
        self._behind[front].remove(member)
        return self._now.pop((member, front))

    def _load(self, node_id: str) -> None:
        if node_id in self._read:
            return
        self._read.add(node_id)
        row = self.view.find(node_id)
        if row is None:
            return
        for inwards in (False, True):
            arcs = self.view.arcs(np.array([row], dtype=np.int64), EdgeType.SAME_AS, inwards=inwards)
            for target, weight in zip(arcs.target.tolist(), arcs.weight.tolist(), strict=True):
                other = self.view.ids[target]
                self._keep((other, node_id) if inwards else (node_id, other), weight)

    def _keep(self, pair: _Pair, weight: float) -> None:
        if pair in self._stored:
            return
        self._stored[pair] = weight
        if weight == _SEPARATED:
            self.separate(*pair)
        else:
            self._link(*pair, weight)
