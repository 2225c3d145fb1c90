"""Links memories of one owner with equal texts, and puts the first of them in front."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from itertools import combinations, starmap
from operator import attrgetter

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.conflicts import given_times
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.equal_text import are_equal, depends_on_day
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.same_as import fronts, has_groups
from neurogated.core.turns import same_speaker
from neurogated.core.view import GraphView
from neurogated.ingestion.edge_builder import RecentNodes
from neurogated.text.keywords import fold

_Pair = tuple[str, str]
_SEPARATED = 0.0
_LEAST = 0.7
"""Cosine of equal texts at least; the vectors may differ, since the case of a letter may."""
_SURE = 1.0
"""Confidence that equal texts say the same."""
_TOLD = frozenset({"episode", "turn"})
"""Kinds of memories that may say the same as memories of the other kinds here."""


class Deduplicator:
    """Computes changes of SAME_AS edges and does not apply them.

    Candidates are the ends of SIM edges. Only equal texts are joined.
    """

    def __init__(self, recent: RecentNodes, config: MemoryConfig, batch: int) -> None:
        self._recent, self._store = recent, recent.store
        self._is_on = config.metabolism.find_duplicates
        self._batch = batch
        self._swept = 0

    def among(
        self,
        view: GraphView,
        nodes: Sequence[MemoryNode],
        similar: Iterable[MemoryEdge],
        gone: Collection[str],
        at: datetime,
    ) -> tuple[tuple[EdgeKey, ...], tuple[MemoryEdge, ...]]:
        """Return the edges to remove and to put when `nodes` are written to the graph of `view` with their SIM edges.

        Memories that are `gone`, or are about something else now, leave their groups first.
        """
        known = {node.id: node for node in nodes}
        groups = Groups(view)
        if has_groups(view):
            self._leave(groups, self._leaving(view, gone, known), known)
        if self._is_on:
            near = [edge for edge in similar if edge.weight >= _LEAST]
            near.sort(key=attrgetter("weight"), reverse=True)
            self._join(groups, [(edge.source_id, edge.target_id) for edge in near], known)
        return groups.removed(), groups.added(at)

    def separation(self, node_id: str, at: datetime) -> GraphDelta:
        """Return the delta that takes a memory out of its group for good; empty if it has none.

        Raises:
            UnknownIdError: the node does not exist.
        """
        self._store.get_nodes([node_id])
        groups = Groups(self._store.view())
        others = [one for one in groups.group(node_id) if one != node_id]
        self._leave(groups, {node_id}, {})
        for other in others:
            groups.separate(node_id, other)
        return _delta(groups, "separate", at)

    def batches(self) -> Iterator[Callable[[datetime], GraphDelta]]:
        """Yield functions that return the deltas which join memories with SIM edges, if no call has seen these yet."""
        view = self._store.view()
        if not self._is_on or EdgeType.SIM not in view.edge_types:
            return
        begin, self._swept = (self._swept if self._swept <= view.edge_count else 0), view.edge_count
        types = view.edge_type[begin : view.edge_count]
        rows = begin + np.flatnonzero(types == view.edge_types.index(EdgeType.SIM)).astype(np.int64)
        rows = rows[view.weight.take(rows) >= _LEAST]
        sides = view.edge_source, view.edge_target
        distinct = (np.unique(side[rows].astype(np.int64), return_inverse=True) for side in sides)
        heads = [fronts(view, ends)[place] for ends, place in distinct]
        rows = rows[heads[0] != heads[1]]
        for place in range(0, rows.size, self._batch):
            ends = [view.names(side[rows[place : place + self._batch]]) for side in sides]
            yield partial(self._between, list(zip(*ends, strict=True)))

    def _between(self, pairs: Sequence[_Pair], at: datetime) -> GraphDelta:
        groups = Groups(self._store.view())
        self._join(groups, pairs, {})
        return _delta(groups, "deduplicate", at)

    def _leaving(self, view: GraphView, gone: Collection[str], known: Mapping[str, MemoryNode]) -> set[str]:
        rows = view.known_rows((*gone, *known))
        linked = np.unique(view.arcs(rows, EdgeType.SAME_AS, both_ways=True).origin)
        names = {*view.names(rows[linked])}
        before = self._store.get_nodes([name for name in names if name in known])
        return names.intersection(gone) | {node.id for node in before if _theme(node) != _theme(known[node.id])}

    def _leave(self, groups: Groups, leaving: Collection[str], known: Mapping[str, MemoryNode]) -> None:
        for members in groups.without(leaving):
            nodes = self._nodes(groups.view, members, known)
            groups.lead(min(nodes.values(), key=_age).id, nodes)

    def _join(self, groups: Groups, pairs: Sequence[_Pair], known: Mapping[str, MemoryNode]) -> None:
        """Join the groups of each pair, if the pair and the fronts of its groups are equal."""
        groups.load({name for pair in pairs for name in pair})
        ahead = groups.ahead
        # A text that was told often has many neighbours in one group, of which one is read.
        first = {(ahead[one], ahead[other]): (one, other) for one, other in reversed(pairs)}
        read = self._nodes(groups.view, {name for names in first.items() for pair in names for name in pair}, known)
        for pair in pairs:
            heads = ahead[pair[0]], ahead[pair[1]]
            if heads[0] == heads[1]:
                continue
            names = {*pair, *heads}
            if not names <= read.keys():
                read |= self._nodes(groups.view, names, known)
            nodes = [read[name] for name in names if name in read]
            # Few similar memories are equal, and only these need their groups.
            if len(nodes) < len(names) or not _have_one_speaker(nodes) or not are_equal([one.content for one in nodes]):
                continue
            if len(set(map(_frame, nodes))) > 1 or groups.are_separate(*heads):
                continue
            # A message without a name may equal those of two persons, who stay apart.
            are_named_differently = len({node.speaker for node in nodes}) > 1
            members = {name for head in heads for name in groups.group(head)} if are_named_differently else ()
            if _have_one_speaker(self._nodes(groups.view, members, known).values()):
                front, behind = sorted(heads, key=lambda head: _age(read[head]))
                groups.merge(front, behind, _SURE)

    def _nodes(
        self, view: GraphView, node_ids: Collection[str], known: Mapping[str, MemoryNode]
    ) -> dict[str, MemoryNode]:
        missing = [node_id for node_id in node_ids if node_id not in known]
        stored = self._recent.read(missing, view) if missing else {}
        return {node_id: known[node_id] for node_id in node_ids if node_id in known} | stored


def _frame(node: MemoryNode) -> object:
    """Return all that must be equal, beside the speaker, for two texts to be about the same."""
    text = fold(node.content)
    # A later chunk is about the subject of its document, which it may not name.
    unnamed = frozenset(name for name in map(fold, node.found.names) if name not in text)
    owner = *node.scope.owner, node.scope.path
    kind = "" if node.kind in _TOLD else node.kind
    # On another day, such a memory would say something else.
    day = node.timestamp.date() if node.timestamp and depends_on_day(node.found.times) else None
    return owner, kind, node.title and fold(node.title), unnamed, given_times(node)[0], node.valid_to, day


def _have_one_speaker(nodes: Iterable[MemoryNode]) -> bool:
    return all(starmap(same_speaker, combinations(nodes, 2)))


def _theme(node: MemoryNode) -> object:
    return node.content, node.timestamp, node.speaker, node.role, _frame(node)


def _age(node: MemoryNode) -> tuple[datetime, str]:
    return node.created_at, node.id


def _delta(groups: Groups, reason: str, at: datetime) -> GraphDelta:
    return GraphDelta(removed_edges=groups.removed(), edges=groups.added(at), reason=reason, at=at)


class Groups:
    """Groups are stars: each member has one SAME_AS edge, which leads to the front. It reads a group when it is asked.

    An edge of weight 0 between two memories says that they are separate for good.
    """

    def __init__(self, view: GraphView) -> None:
        self.view = view
        self._read: set[str] = set()
        self.ahead: dict[str, str] = {}
        """The front of the group of each loaded memory; the memory itself if it has none."""
        self._stored: dict[_Pair, float] = {}
        self._now: dict[_Pair, float] = {}
        self._behind: defaultdict[str, set[str]] = defaultdict(set)
        self._apart: defaultdict[str, set[str]] = defaultdict(set)
        self._weights: dict[str, float] = {}

    def load(self, node_ids: Iterable[str]) -> None:
        """Read the edges of memories, all at once."""
        new = [node_id for node_id in node_ids if node_id not in self._read]
        self._read.update(new)
        self.ahead |= {node_id: node_id for node_id in new if node_id not in self.ahead}
        if not new or not has_groups(self.view):
            return
        rows = self.view.known_rows(new)
        for inwards in (False, True):
            arcs = self.view.arcs(rows, EdgeType.SAME_AS, inwards=inwards)
            ends = rows[arcs.origin].tolist(), arcs.target.tolist()
            for source, target, weight in zip(*(ends[::-1] if inwards else ends), arcs.weight.tolist(), strict=True):
                pair = self.view.ids[source], self.view.ids[target]
                if pair not in self._stored:
                    self._stored[pair] = weight
                    self.separate(*pair) if weight == _SEPARATED else self._link(*pair, weight)

    def front(self, node_id: str) -> str:
        """Return the front of a memory's group; the memory itself if it has none."""
        self.load([node_id])
        return self.ahead[node_id]

    def group(self, node_id: str) -> list[str]:
        """Return the group of a memory, the front first."""
        front = self.front(node_id)
        self.load([front])
        return [front, *sorted(self._behind[front])]

    def are_separate(self, one: str, other: str) -> bool:
        """Return whether the user has separated a member of one group from a member of the other."""
        members, others = self.group(one), set(self.group(other))
        self.load(members)
        return any(not others.isdisjoint(self._apart[member]) for member in members if member in self._apart)

    def merge(self, front: str, behind: str, confidence: float) -> None:
        """Put the group with the front `behind` behind `front`."""
        for member in self.group(behind)[1:]:
            self._link(member, front, self._unlink(member))
        self._link(behind, front, confidence)

    def without(self, leaving: Collection[str]) -> Iterator[list[str]]:
        """Take memories out of their groups; yield the members of each group that lost its front."""
        self.load(leaving)
        for node_id in leaving:
            if self.front(node_id) != node_id:
                self._unlink(node_id)
                continue
            members = [one for one in self.group(node_id)[1:] if one not in leaving]
            for one in self.group(node_id)[1:]:
                self._weights[one] = self._unlink(one)
            if members:
                yield members

    def lead(self, front: str, members: Iterable[str]) -> None:
        """Put memories that lost their front behind one of them."""
        for member in members:
            if member != front:
                self._link(member, front, self._weights[member])

    def separate(self, one: str, other: str) -> None:
        """Record that two memories stay apart."""
        self._now[one, other] = _SEPARATED
        self._apart[one].add(other)
        self._apart[other].add(one)

    def removed(self) -> tuple[EdgeKey, ...]:
        """Return the stored edges to remove."""
        return tuple([EdgeKey(*pair, EdgeType.SAME_AS) for pair in self._stored if pair not in self._now])

    def added(self, at: datetime) -> tuple[MemoryEdge, ...]:
        """Return the edges to write."""
        stored = self._stored
        changed = [pair for pair, weight in self._now.items() if pair not in stored or stored[pair] != weight]
        return tuple([MemoryEdge(*pair, EdgeType.SAME_AS, self._now[pair], created_at=at) for pair in changed])

    def _link(self, member: str, front: str, weight: float) -> None:
        self._now[member, front] = weight
        self.ahead[member] = front
        self._behind[front].add(member)

    def _unlink(self, member: str) -> float:
        front, self.ahead[member] = self.ahead[member], member
        self._behind[front].remove(member)
        return self._now.pop((member, front))
