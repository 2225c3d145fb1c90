"""`ManifestCreator`: creates the manifest of a scope, and updates it after changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import to_micros
from neurogated.core.communities import Graph, GraphAlgorithms
from neurogated.core.energy import EnergyLaw
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.quoting import plain
from neurogated.core.view import GraphView, Rows
from neurogated.manifest.layers import layers_of
from neurogated.manifest.measures import Labels, Values, clustering, moved, moved_from_scratch, page_rank
from neurogated.manifest.model import LAYERS, Bridge, Community, GraphManifest, KeyNode, TemporalLayers, Topology
from neurogated.manifest.naming import Words, keywords_of, words_in

KEYWORDS = 48
"""Keywords of a community."""
_IN_NAME = 3
_SHOWN = 10
_EXAMPLES = 2
_SAMPLE = 40
"""Memories whose words name a community, those with the highest PageRank."""
_READ = 2_000
"""Memories that are read for the names of all communities."""
_CONTENT = 100
_RENAMED = 0.1
"""A community gets new keywords when its size has changed by this share."""
_AGAIN = 0.05
"""Communities are found again, from the present ones, when this share of the memories is new."""
_ROUGH = 1e-6


class Created(NamedTuple):
    """A manifest with what the next update begins with."""

    manifest: GraphManifest
    ids: Sequence[str]
    """The ids of all rows; another object after the rows were renumbered."""
    rows: Rows
    """(n,) the memories."""
    labels: Labels
    """(n,) their communities, numbered by the least row."""
    rank: Values
    """(n,) PageRank."""
    words: dict[int, Words]
    """By the first row of a community."""
    founded: int
    """How many memories there were when communities were last found for all."""


class _Scoped(NamedTuple):
    """The memories of a manifest with what was computed for each."""

    view: GraphView
    rows: Rows
    labels: Labels
    rank: Values
    energy: Values


_T = TypeVar("_T", np.int64, np.float64)


@dataclass(frozen=True, slots=True)
class ManifestCreator:
    """Creates manifests of the memories that a view admits."""

    store: GraphStorePort
    law: EnergyLaw
    algorithms: GraphAlgorithms | None = None
    """None for communities by local moves, without betweenness."""

    def create(self, view: GraphView, now: datetime, old: Created | None = None) -> Created:
        """Return the manifest of the memories that `view` admits.

        After few changes new memories join the community of most of their neighbours, and the clustering stays.
        """
        rows = view.admitted_nodes()
        place = np.full(view.node_count, -1, dtype=np.int64)
        place[rows] = np.arange(rows.size)
        graph, edges = _graph(view, place, rows.size)
        if old is not None and old.ids is not view.ids:
            old = None
        labels, founded = self._labels(graph, rows, place, old)
        start = None if old is None else _carried(old.rows, old.rank, place, rows.size, 1 / max(1, rows.size))
        rank = page_rank(graph, start, _ROUGH)
        energy = self.law.energy(view, rows, to_micros(now))
        scoped = _Scoped(view, rows, labels, rank, energy)
        communities, words = self._communities(scoped, {} if old is None else old.words)
        fresh = old is None or founded == rows.size
        pairs = rows.size * (rows.size - 1) / 2
        manifest = GraphManifest(
            nodes=int(rows.size),
            edges=edges,
            total_energy=float(energy.sum()),
            communities=communities,
            topology=Topology(
                graph.source.size / pairs if pairs else 0.0,
                clustering(graph) if fresh or old is None else old.manifest.topology.clustering,
                int(np.isin(np.arange(rows.size), (graph.source, graph.target)).sum()),
            ),
            temporal=self._layers(scoped, to_micros(now)),
            bridges=self._bridges(scoped, graph, communities),
            key_nodes=self._shown(view, rows, (rank / rank.max(initial=1e-300) + energy) / 2),
            most_used=self._shown(view, rows, view.uses.take(rows).astype(np.float64)),
            sequence=view.sequence,
            created_at=now,
        )
        return Created(manifest, view.ids, rows, labels, rank, words, founded)

    def _labels(self, graph: Graph, rows: Rows, place: Labels, old: Created | None) -> tuple[Labels, int]:
        if old is None:
            found = moved_from_scratch(graph) if self.algorithms is None else self.algorithms.communities(graph)
            return _by_first(found), int(rows.size)
        known = _carried(old.rows, old.labels, place, rows.size, -1)
        new = known < 0
        known[new] = known.max(initial=-1) + 1 + np.arange(np.count_nonzero(new))
        labels = _by_first(moved(graph, np.unique(known, return_inverse=True)[1], new))
        if abs(rows.size - old.founded) < _AGAIN * old.founded or self.algorithms is None:
            return labels, old.founded
        return _by_first(self.algorithms.communities(graph, labels)), int(rows.size)

    def _communities(
        self, scoped: _Scoped, known: Mapping[int, Words]
    ) -> tuple[tuple[Community, ...], dict[int, Words]]:
        view, rows, labels, rank, energy = scoped
        sizes = np.bincount(labels)
        importance, energies = np.bincount(labels, rank), np.bincount(labels, energy)
        (large,) = (sizes > 1).nonzero()
        large = large[np.lexsort((large, -importance[large]))]
        members = _members(labels, sizes)
        sample = max(2, min(_SAMPLE, _READ // max(1, large.size)))
        words = dict[int, Words]()
        for places in (members[label] for label in large.tolist()):
            first, size = int(rows[places[0]]), int(places.size)
            before = known.get(first)
            if before is None or abs(size - before.size) > _RENAMED * before.size:
                best = np.sort(places[np.argsort(-rank[places], kind="stable")[:sample]])
                before = words_in(self._nodes(view, rows[best]), size)
            words[first] = before
        keywords = keywords_of(list(words.values()), KEYWORDS)
        return tuple(
            Community(
                number,
                ", ".join(found[:_IN_NAME]),
                found,
                int(sizes[label]),
                float(importance[label]),
                float(energies[label]),
                tuple(view.ids[row] for row in rows[members[label]].tolist()),
            )
            for number, (label, found) in enumerate(zip(large.tolist(), keywords, strict=True))
        ), words

    def _layers(self, scoped: _Scoped, now: int) -> TemporalLayers:
        view, rows, rank = scoped.view, scoped.rows, scoped.rank
        found = layers_of(self.store, view, rows, scoped.energy, now)
        examples = {}
        for place, name in enumerate(LAYERS):
            (inside,) = (found == place).nonzero()
            examples[name] = self._shown(view, rows[inside], rank[inside], _EXAMPLES)
        counts = np.bincount(found, minlength=len(LAYERS)).tolist()
        return TemporalLayers(dict(zip(LAYERS, counts, strict=True)), examples)

    def _bridges(self, scoped: _Scoped, graph: Graph, communities: Sequence[Community]) -> tuple[Bridge, ...]:
        number = np.full(scoped.rows.size, -1, dtype=np.int64)
        first = np.searchsorted(scoped.rows, scoped.view.rows(one.node_ids[0] for one in communities))
        number[scoped.labels[first]] = np.arange(first.size)
        ends = number[scoped.labels][np.column_stack((graph.source, graph.target))]
        crossing = ((ends >= 0).all(axis=1) & (ends[:, 0] != ends[:, 1])).nonzero()[0]
        ends, weight = np.sort(ends[crossing], axis=1), graph.weight[crossing]
        between = Graph.of(len(communities), ends[:, 0], ends[:, 1], weight)
        through = None if self.algorithms is None else self.algorithms.betweenness(between)
        bridges = []
        for link in np.argsort(-between.weight, kind="stable")[:_SHOWN].tolist():
            low, high = int(between.source[link]), int(between.target[link])
            here = (ends[:, 0] == low) & (ends[:, 1] == high)
            joined = np.concatenate((graph.source[crossing[here]], graph.target[crossing[here]]))
            heaviest = np.bincount(joined, np.tile(weight[here], 2)).argmax()
            passing = None if through is None else float(through[link])
            node_id = scoped.view.ids[int(scoped.rows[heaviest])]
            bridges.append(Bridge(low, high, float(between.weight[link]), passing, node_id))
        return tuple(bridges)

    def _shown(self, view: GraphView, rows: Rows, score: Values, most: int = _SHOWN) -> tuple[KeyNode, ...]:
        """Return the memories with the highest positive scores."""
        best = np.argsort(-score, kind="stable")[:most]
        scores = {view.ids[int(rows[one])]: float(score[one]) for one in best.tolist() if score[one] > 0}
        nodes = self.store.get_nodes(list(scores), missing_ok=True)
        return tuple(KeyNode(node.id, _beginning(node.content), scores[node.id]) for node in nodes)

    def _nodes(self, view: GraphView, rows: Rows) -> list[MemoryNode]:
        return self.store.get_nodes([view.ids[row] for row in rows.tolist()], missing_ok=True)


def _graph(view: GraphView, place: Labels, count: int) -> tuple[Graph, int]:
    """Return the graph of the memories at `place`, and the number of their edges."""
    edges = view.live_edges()
    source, target = place[view.edge_source[edges]], place[view.edge_target[edges]]
    inside = (source >= 0) & (target >= 0)
    weight = view.weight.take(edges[inside]).astype(np.float64)
    return Graph.of(count, source[inside], target[inside], weight), int(np.count_nonzero(inside))


def _carried(old: Rows, values: NDArray[_T], place: Labels, count: int, default: float) -> NDArray[_T]:
    """Return the values of old rows at their new places."""
    found = np.full(count, default, dtype=values.dtype)
    there = place[old]
    found[there[there >= 0]] = values[there >= 0]
    return found


def _by_first(labels: Labels) -> Labels:
    """Return the labels numbered from 0, in the order of their first nodes."""
    _, first, number = np.unique(labels, return_index=True, return_inverse=True)
    return first.argsort().argsort()[number]


def _members(labels: Labels, sizes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return the places of the nodes of each label, ascending."""
    return np.split(np.argsort(labels, kind="stable"), sizes.cumsum()[:-1]) if labels.size else []


def _beginning(content: str) -> str:
    """Return the beginning of a text on one line, up to the end of a word."""
    line = " ".join(plain(content).split())
    if len(line) <= _CONTENT:
        return line
    return f"{line[:_CONTENT].rsplit(' ', 1)[0]}…"
