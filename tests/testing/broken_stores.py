"""Stores with one fault each, and the test of the kit that must detect it; run by test_faults_are_caught.py."""

import threading
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from hypothesis import Phase, settings

from graph_store_kit import GraphStoreContract, store_machine
from neurogated import GraphDelta, GraphStore, GraphView, MemoryNode
from neurogated.core.clock import Clock
from neurogated.core.model import Vector
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import Hits, Rows
from neurogated.errors import NeurogatedError
from neurogated.storage.snapshot import GraphSnapshot


class Sound(GraphStore):
    """A correct store in memory, "reopened" by replaying its journal. The broken stores derive from it."""

    searches: ClassVar[type[GraphSnapshot]] = GraphSnapshot

    def snapshot(self, view: GraphView | None = None, **asked: Any) -> GraphSnapshot:  # noqa: ANN401 - as in GraphStore
        found = super().snapshot(view, **asked)
        found.__class__ = self.searches
        return found

    def again(self) -> "Sound":
        fresh = type(self)(clock=self._clock)
        for entry in self.journal():
            fresh.apply(entry.delta)
        if self.embedder:
            fresh.bind_embedder(*self.embedder)
        for name in self.namespaces()[1:]:
            for entry in self.in_namespace(name).journal():
                fresh.in_namespace(name).apply(entry.delta)
        return fresh


class LosesAnEdge(Sound):
    def again(self) -> Sound:
        fresh = super().again()
        for edge in list(fresh.all_edges())[-1:]:
            GraphStore.remove_edge(fresh, edge)
        return fresh


class HalfMade(Sound):
    """Adds the nodes of a delta before it validates the rest."""

    def apply(self, delta: GraphDelta) -> int:
        try:
            return super().apply(delta)
        except NeurogatedError:
            if delta.nodes:
                super().apply(GraphDelta(nodes=delta.nodes[:1], at=delta.at))
            raise


class HalfSeen(Sound):
    """Adds nodes and edges in two steps, between which a reader may read."""

    def apply(self, delta: GraphDelta) -> int:
        if delta.nodes and delta.edges and all(map(self._unknown, delta.nodes)):
            super().apply(replace(delta, edges=(), nodes=delta.nodes))
            threading.Event().wait(1e-3)
            return super().apply(GraphDelta(edges=delta.edges, at=delta.at))
        return super().apply(delta)

    def _unknown(self, node: MemoryNode) -> bool:
        return not self.has_node(node.id)


class _LastTieFirstSearches(GraphSnapshot):
    def nearest(self, queries: Sequence[Vector], k: int) -> list[Hits]:
        ((rows, scores),) = super().nearest(queries, 10**6)
        names = self.view.names(rows)
        by_name = sorted(range(rows.size), key=names.__getitem__, reverse=True)
        order = sorted(by_name, key=lambda place: -scores[place])[:k]
        return [(rows[order], scores[order])]


class LastTieFirst(Sound):
    searches = _LastTieFirstSearches


class _ApproximateSearches(GraphSnapshot):
    def nearest(self, queries: Sequence[Vector], k: int) -> list[Hits]:
        nodes = self.nodes(self.view.live_nodes())
        newest = self.view.known_rows([node.id for node in nodes if node.embedding is not None][7:][-1:])
        ((rows, scores),) = super().nearest(queries, k + 1)
        kept = ~np.isin(rows, newest)
        return [(rows[kept][:k], scores[kept][:k])]


class Approximate(Sound):
    """Misses the newest vector of many."""

    searches = _ApproximateSearches


class ShowsThePresent(Sound):
    def as_of(self, moment: int | datetime) -> GraphStore:
        super().as_of(moment)
        return self.again()


class JustBefore(Sound):
    """Takes a time for the last delta before it and ignores a delta at it."""

    def as_of(self, moment: int | datetime) -> GraphStore:
        return super().as_of(moment - timedelta(microseconds=1) if isinstance(moment, datetime) else moment)


class LiveViews(Sound):
    """Returns views that change with the store."""

    def __init__(self, **settings: Any) -> None:  # noqa: ANN401 - those of a GraphStore
        super().__init__(**settings)
        self._shown: list[GraphView] = []

    def view(self, **asked: Any) -> GraphView:  # noqa: ANN401 - as in GraphStore
        self._shown.append(super().view(**asked))
        return self._shown[-1]

    def apply(self, delta: GraphDelta) -> int:
        number = super().apply(delta)
        now = super().view()
        for view in self._shown:
            object.__setattr__(view, "weight", now.weight)
            object.__setattr__(view, "alive", now.alive)
        return number


class NeverForgets(Sound):
    def apply(self, delta: GraphDelta) -> int:
        return super().apply(replace(delta, nodes=tuple(replace(node, expires_at=None) for node in delta.nodes)))


class FindsTheExpired(Sound):
    def snapshot(self, view: GraphView | None = None, **asked: Any) -> GraphSnapshot:  # noqa: ANN401 - as in GraphStore
        return super().snapshot(view, **{**asked, "whole": True})


class _KeepsOldWordsSearches(GraphSnapshot):
    def keyword_search(self, query: str, k: int) -> Hits:
        rows, scores = super().keyword_search(query, k)
        put = (node for entry in self._graph.log.entries() for node in entry.delta.nodes)
        old = self.view.known_rows([node.id for node in put if query and query in node.content])
        more = np.setdiff1d(old, rows)
        return np.concatenate((rows, more))[:k], np.concatenate((scores, np.ones(more.size)))[:k]


class KeepsOldWords(Sound):
    """Finds a replaced node by its old text."""

    searches = _KeepsOldWordsSearches


class _FindsAnyTermSearches(GraphSnapshot):
    def rows_with(self, terms: Collection[str], limit: int | None = None) -> Rows:
        rows = self.view.live_nodes()
        return rows[[not found.isdisjoint(terms) for found in self.terms_of(rows)]][:limit]


class FindsAnyTerm(Sound):
    searches = _FindsAnyTermSearches


class ShowsEveryUser(Sound):
    """Searches the memories of all users for every user."""

    def snapshot(self, view: GraphView | None = None, **asked: Any) -> GraphSnapshot:  # noqa: ANN401 - as in GraphStore
        filters = asked.get("filters")
        return super().snapshot(view, **{**asked, "filters": filters and replace(filters, scope=None)})


class _WeighsEverybodysWordsSearches(GraphSnapshot):
    def keyword_search(self, query: str, k: int) -> Hits:
        everybody = GraphSnapshot(self._graph, self._state, replace(self.view, among=None), self._now)
        rows, scores = everybody.keyword_search(query, self.view.node_count)
        kept = self.view.admitted(rows)
        return rows[kept][:k], scores[kept][:k]


class WeighsEverybodysWords(Sound):
    """Counts words in the texts of other users."""

    searches = _WeighsEverybodysWordsSearches


class KeepsOldScopes(Sound):
    """Keeps the first owner of a memory."""

    def apply(self, delta: GraphDelta) -> int:
        kept = (
            replace(one, scope=self.get_node(one.id).scope) if self.has_node(one.id) else one for one in delta.nodes
        )
        return super().apply(replace(delta, nodes=tuple(kept)))


# Each fault, with the test of the contract that must detect it.
FAULTS: dict[type[Sound], str] = {
    LosesAnEdge: "test_all_there_is_comes_back[reopen]",
    HalfMade: "test_a_delta_with_one_bad_part_changes_nothing[edge to nowhere]",
    HalfSeen: "test_a_view_holds_whole_deltas_whenever_it_is_taken",
    LastTieFirst: "test_equal_vectors_come_in_order_of_id",
    Approximate: "test_vector_search_is_exact_and_breaks_ties_by_id",
    ShowsThePresent: "test_the_past_is_searched_and_walked_as_it_was",
    JustBefore: "test_a_time_stands_for_the_last_delta_at_it_or_before",
    LiveViews: "test_a_view_does_not_change_with_later_writes",
    NeverForgets: "test_a_node_is_there_until_it_expires_and_hidden_from_then_on",
    FindsTheExpired: "test_what_has_expired_is_not_found_and_takes_no_place",
    KeepsOldWords: "test_what_is_replaced_is_found_by_its_new_text_alone",
    FindsAnyTerm: "test_nodes_with_all_terms_come_in_the_order_added",
    ShowsEveryUser: "test_a_filtered_search_finds_what_a_store_of_the_admitted_alone_would",
    WeighsEverybodysWords: "test_a_filtered_search_finds_what_a_store_of_the_admitted_alone_would",
    KeepsOldScopes: "test_a_memory_does_not_go_over_to_another_user",
}
# Faults that the state machine must find without a hint.
FOUND_BY_MACHINE = (LosesAnEdge, HalfMade, LastTieFirst, ShowsThePresent, JustBefore, LiveViews, NeverForgets)


class _Contract(GraphStoreContract):
    kind: ClassVar[type[Sound]]

    def open_store(self, folder: Path, *, clock: Clock) -> GraphStore:  # noqa: ARG002 - it writes nothing
        return self.kind(clock=clock)

    def reopen(self, store: GraphStorePort) -> GraphStorePort:
        return _again(store)


def _again(store: GraphStorePort) -> GraphStorePort:
    assert isinstance(store, Sound)
    return store.again()


def _machine(kind: type[Sound]) -> Any:  # noqa: ANN401 - Hypothesis makes the class
    def open_store(folder: Path, *, clock: Clock) -> GraphStore:  # noqa: ARG001 - it writes nothing
        return kind(clock=clock)

    case = store_machine(open_store=open_store, reopen=_again).TestCase
    # Detecting the fault is enough. Shrinking the example takes time.
    case.settings = settings(case.settings, phases=[Phase.generate], derandomize=True)
    return case


_KINDS: tuple[type[Sound], ...] = (Sound, *FAULTS)
for _kind in _KINDS:
    globals()[f"Test{_kind.__name__}"] = type(f"Test{_kind.__name__}", (_Contract,), {"kind": _kind})
for _kind in FOUND_BY_MACHINE:
    globals()[f"TestMachineOf{_kind.__name__}"] = _machine(_kind)
