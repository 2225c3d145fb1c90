"""The contract of views and searches: immutable snapshots, and searches that agree with brute force."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import product
from random import Random

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from graph_store_kit.contract.base import ContractBase, NewStore, apply, assert_shows, shown_by
from graph_store_kit.contract.writing import PROPERTY, three_nodes
from graph_store_kit.histories import QUERIES, edge, history_of, node
from graph_store_kit.reads import keyword_search, nearest, nodes_with, terms_of
from neurogated.core.clock import from_micros
from neurogated.core.delta import Decay, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import NOTHING_FOUND, Found
from neurogated.core.model import EdgeKey, MemoryNode
from neurogated.core.ports import SCORE_TOLERANCE, GraphStorePort
from neurogated.core.rendering import DOCUMENT, SPEAKER, SUBJECT, TIME, TRAIT, keyword_text, tags
from neurogated.core.view import GraphView
from neurogated.errors import InputError, UnknownIdError
from neurogated.testing import ManualClock
from neurogated.text.keywords import search_terms

_TIMED = TRAIT + TIME
_TAGS = (SUBJECT + "lyon", SPEAKER + "ann", _TIMED, "unknown")


def most_alike(nodes: Collection[MemoryNode], query: Sequence[float]) -> dict[str, float]:
    """Return the cosine of every node with a vector, by brute force in double precision."""
    asked = np.asarray(query, dtype=np.float64)
    found: dict[str, float] = {}
    for one in nodes:
        if one.embedding is not None:
            vector = np.asarray(one.embedding, dtype=np.float64)
            norms = float(np.linalg.norm(vector) * np.linalg.norm(asked))
            found[one.id] = float(vector @ asked) / norms if norms else 0.0
    return found


def assert_searches_agree(store: GraphStorePort, query: Sequence[float], view: GraphView | None = None) -> None:
    """Compare vector search with brute force: scores, order and ties for every `k`, and the scores by row."""
    shown = view or store.view()
    rows = shown.live_nodes()
    nodes = store.get_nodes([shown.ids[row] for row in rows.tolist()], missing_ok=True)
    cosines = most_alike(nodes, query)
    best = sorted(cosines.values(), reverse=True)
    everything = nearest(store, query, len(nodes) + 1, view)
    assert dict(everything) == pytest.approx({name: cosines[name] for name, _ in everything}, abs=SCORE_TOLERANCE)
    assert len(everything) == len(cosines)
    for k in (0, 1, 2, len(nodes) // 2, len(nodes)):
        found = nearest(store, query, k, view)
        assert found == everything[:k]
        assert [score for _, score in found] == pytest.approx(best[:k], abs=SCORE_TOLERANCE)
    assert everything == sorted(everything, key=lambda pair: (-pair[1], pair[0]))
    if nodes:
        by_row = dict(
            zip([shown.ids[row] for row in rows.tolist()], store.snapshot(shown).similarities(query, rows), strict=True)
        )
        expected = {one.id: cosines.get(one.id, 0.0) for one in nodes}
        assert {one.id: by_row[one.id] for one in nodes} == pytest.approx(expected, abs=SCORE_TOLERANCE)


def keyword_scores(store: GraphStorePort, query: str, view: GraphView | None = None) -> dict[str, float]:
    """Return the scores of a keyword search, after comparing it with brute force and with the scores by row."""
    shown = view or store.view()
    rows = shown.live_nodes()
    names = [shown.ids[row] for row in rows.tolist()]
    everything = keyword_search(store, query, len(names) + 1, view)
    wanted = set(search_terms(query))
    sharing = {
        one.id for one in store.get_nodes(names, missing_ok=True) if wanted & set(search_terms(keyword_text(one)))
    }
    assert dict(everything).keys() == sharing
    assert all(score > 0 for _, score in everything)
    assert everything == sorted(everything, key=lambda pair: (-pair[1], pair[0]))
    by_row = dict(zip(names, store.snapshot(shown).keyword_scores(query, rows).tolist(), strict=True))
    assert {name: score for name, score in by_row.items() if score} == pytest.approx(dict(everything))
    for k in (0, 1, 2):
        assert keyword_search(store, query, k, view) == everything[:k]
    return dict(everything)


def _tagged(store: GraphStorePort, wanted: Sequence[str]) -> set[str]:
    view = store.view()
    rows = view.live_nodes()
    found = {view.ids[row] for row in rows[store.snapshot(view).has_tags(wanted, rows).any(axis=0)].tolist()}
    assert found == {one.id for one in store.all_nodes() if tags(one) & set(wanted)}
    held = np.unpackbits(store.snapshot(view).marks(wanted, rows)[:, None], axis=1, bitorder="little")[:, : len(wanted)]
    assert np.array_equal(held.T, store.snapshot(view).has_tags(wanted, rows))
    return found


class ReadingContract(ContractBase):
    """Views are snapshots; searches are exact, and ties are in order of id."""

    # Views

    def test_a_view_does_not_change_with_later_writes(self, store: GraphStorePort, clock: ManualClock) -> None:
        model = three_nodes(store)
        view = store.view()
        before = shown_by(view)
        clock.advance(timedelta(days=1))
        apply(store, clock, edges=(edge("a", "c"),))
        assert shown_by(view) == before
        apply(store, clock, weights=(WeightChange(EdgeKey("a", "b", EdgeType.SEQ), 0.75),))
        assert shown_by(view) == before
        apply(store, clock, nodes=(node("z"), node("a", base_energy=0.25)), edges=(edge("z", "a"),))
        assert shown_by(view) == before
        apply(store, clock, operators=(Decay(0.5, clock() + timedelta(days=1), 0.9),))
        apply(store, clock, removed_nodes=("c",))
        assert shown_by(view) == before
        assert_shows(view, model)
        assert view.find("z") is None
        assert view.find("c") is not None
        assert store.view().find("c") is None

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(1, 10))
    @PROPERTY
    def test_every_view_ever_taken_shows_what_it_showed(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int
    ) -> None:
        store = new_store()
        taken = [(store.view(), shown_by(store.view()))]
        for delta, model in history_of(random, clock, deltas):
            store.apply(delta)
            taken.append((store.view(), shown_by(store.view())))
            assert_shows(taken[-1][0], model)
        for view, before in taken:
            assert shown_by(view) == before

    def test_a_view_tells_its_delta_and_names_what_it_lacks(self, store: GraphStorePort, clock: ManualClock) -> None:
        empty = store.view()
        assert empty.live_nodes().size == empty.live_edges().size == 0
        number = apply(store, clock, nodes=(node("a"), node("b")))
        view = store.view()
        assert view.sequence == number > empty.sequence
        assert [view.ids[row] for row in view.rows(["b", "a"]).tolist()] == ["b", "a"]
        assert [view.ids[row] for row in view.known_rows(["b", "ghost", "a", "b"]).tolist()] == ["a", "b"]
        with pytest.raises(UnknownIdError, match="ghost"):
            view.rows(["a", "ghost"])
        assert view.edge_rows(view.rows(["a"]), view.rows(["b"]), EdgeType.SEQ).tolist() == [-1]

    def test_edges_are_read_by_rows_of_a_view(self, store: GraphStorePort, clock: ManualClock) -> None:
        three_nodes(store)
        mortal = node("m", expires_at=clock() + timedelta(hours=1))
        apply(store, clock, nodes=(mortal,), edges=(edge("m", "a", relation="用"),))
        view, whole = store.view(), store.snapshot(whole=True)
        every = view.live_edges()
        assert [one.key for one in store.snapshot(view).edges(every)] == list(map(view.edge_key, every.tolist()))
        assert [one.relation for one in whole.edges(every[-1:])] == ["用"]
        assert whole.edges(every[:0]) == []
        apply(store, clock, removed_edges=(view.edge_key(int(every[0])),))
        clock.advance(timedelta(hours=1))
        assert store.snapshot().view.live_edges().tolist() == every[1:-1].tolist()
        assert store.snapshot(whole=True).view.live_edges().tolist() == every[1:].tolist()
        assert [one.key for one in store.snapshot(view).edges(every)] == list(map(view.edge_key, every[1:].tolist()))

    def test_arcs_leave_the_whole_frontier_oldest_edge_first(self, store: GraphStorePort, clock: ManualClock) -> None:
        apply(store, clock, nodes=tuple(map(node, "abcd")))
        for source, target in ("ab", "ca", "ad", "ac", "ba"):
            apply(store, clock, edges=(edge(source, target),))
        view = store.view()
        frontier = view.rows(["c", "a"])
        arcs = view.arcs(frontier, EdgeType.SEQ)
        walked = [(origin, view.ids[target]) for origin, target in zip(arcs.origin, arcs.target, strict=True)]
        assert walked == [(0, "a"), (1, "b"), (1, "d"), (1, "c")]
        backwards = view.arcs(view.rows(["a"]), inwards=True)
        assert [view.ids[target] for target in backwards.target.tolist()] == ["c", "b"]
        assert view.arcs(frontier, EdgeType.ASSOC).edge.size == 0

    # Vector search

    def test_vector_search_is_exact_and_breaks_ties_by_id(self, store: GraphStorePort, clock: ManualClock) -> None:
        draws = np.random.default_rng(7)
        vectors = draws.integers(-2, 3, (40, 3)).astype(np.float32)
        names = [f"n{(place * 7) % 40:02}" for place in range(40)]
        nodes = [node(name, embedding=vector) for name, vector in zip(names, vectors, strict=True)]
        apply(store, clock, nodes=(*nodes, node("tag", embedding=None)))
        for query in ([1.0, 2.0, -1.0], [0.0, 0.0, 0.0], [2.0, 0.0, 0.0]):
            assert_searches_agree(store, query)
        apply(store, clock, removed_nodes=tuple(names[::3]))
        assert_searches_agree(store, [1.0, 2.0, -1.0])

    def test_equal_vectors_come_in_order_of_id(self, store: GraphStorePort, clock: ManualClock) -> None:
        for name in "dbca":
            apply(store, clock, nodes=(node(name, 3.0, 4.0),))
        assert [name for name, _ in nearest(store, [1.0, 1.0], 3)] == ["a", "b", "c"]

    def test_search_refuses_what_is_no_vector_of_its_dimension(self, store: GraphStorePort) -> None:
        assert nearest(store, [1.0], 3) == []
        three_nodes(store)
        with pytest.raises(InputError, match=r"dimension 3.*dimension 2"):
            nearest(store, [1.0, 2.0, 3.0], 1)
        with pytest.raises(InputError, match="finite"):
            nearest(store, [1.0, float("nan")], 1)

    # Keyword search

    def test_what_is_put_is_found_by_text_title_speaker_and_date(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        apply(store, clock, nodes=(text_node("a", "A grey heron.", title="Lyon", found=Found(times=["today"])),))
        apply(store, clock, nodes=(text_node("b", "A stone.", speaker="Ann", timestamp=from_micros(0)),))
        apply(store, clock, nodes=(text_node("c", "我住在苏州。 Herons!", metadata={"context": ["Lyon"]}),))
        assert keyword_scores(store, "heron").keys() == {"a", "c"}
        assert keyword_scores(store, "LYON").keys() == {"a"}
        assert keyword_scores(store, "1970").keys() == keyword_scores(store, "ann").keys() == {"b"}
        assert keyword_scores(store, "苏州").keys() == {"c"}
        assert keyword_scores(store, "the of") == keyword_scores(store, "") == {}
        assert keyword_scores(store, 'heron" OR * AND (NEAR').keys() == {"a", "c"}
        assert _tagged(store, [SUBJECT + "lyon"]) == _tagged(store, [_TIMED]) == {"a"}
        assert _tagged(store, [SPEAKER + "ann", _TIMED]) == {"a", "b"}
        assert _tagged(store, []) == set()
        assert store.snapshot().existing_tags(_TAGS) == frozenset(_TAGS[:3])

    def test_what_is_replaced_is_found_by_its_new_text_alone(self, store: GraphStorePort, clock: ManualClock) -> None:
        apply(store, clock, nodes=(text_node("a", "A grey heron.", title="Lyon"),))
        assert keyword_scores(store, "heron")
        apply(store, clock, nodes=(text_node("a", "A stone.", speaker="Ann"),))
        assert keyword_scores(store, "heron") == keyword_scores(store, "Lyon") == {}
        assert _tagged(store, [SUBJECT + "lyon"]) == set()
        assert _tagged(store, [SPEAKER + "ann"]) == keyword_scores(store, "stone").keys() == {"a"}
        # Only title and metadata change, the content stays.
        apply(store, clock, nodes=(text_node("a", "A stone.", title="Lyon", found=Found(times=["today"])),))
        assert keyword_scores(store, "Lyon").keys() == _tagged(store, [_TIMED]) == {"a"}

    def test_what_is_removed_is_found_no_more_until_it_comes_back(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        heron = text_node("a", "A grey heron.", title="Lyon")
        apply(store, clock, nodes=(heron, text_node("b", "heron")))
        assert keyword_scores(store, "heron").keys() == {"a", "b"}
        view, rows = store.view(), store.view().rows(["a"])
        apply(store, clock, removed_nodes=("a",))
        assert keyword_scores(store, "heron").keys() == {"b"}
        assert store.snapshot(view).keyword_scores("heron", rows).tolist() == [0.0]
        assert store.snapshot(view).similarities([1.0, 0.0], rows).tolist() == [0.0]
        assert store.snapshot(view).has_tags([SUBJECT + "lyon"], rows).tolist() == [[False]]
        assert store.snapshot().existing_tags([SUBJECT + "lyon"]) == frozenset()
        apply(store, clock, nodes=(heron,))
        assert keyword_scores(store, "heron").keys() == {"a", "b"}
        assert _tagged(store, [SUBJECT + "lyon"]) == {"a"}

    # Tags and keywords

    def test_nodes_with_all_terms_come_in_the_order_added(self, store: GraphStorePort, clock: ManualClock) -> None:
        herons = (
            text_node("b", "A grey heron."),
            text_node("a", "Grey stones.", found=Found(document_id="doc-1")),
            text_node("c", "Heron, grey."),
        )
        apply(store, clock, nodes=herons)
        assert nodes_with(store, ["grey"]) == nodes_with(store, ["grey", "grey"]) == ["b", "a", "c"]
        assert nodes_with(store, ["grey"], 2) == ["b", "a"]
        assert nodes_with(store, ["heron", "grey"]) == ["b", "c"]
        assert nodes_with(store, ["heron", "grey"], 1) == ["b"]
        document = DOCUMENT + "doc-1"
        assert nodes_with(store, [document]) == nodes_with(store, ["stone"]) == ["a"]
        assert nodes_with(store, ["grey", document]) == ["a"]
        assert nodes_with(store, ["grey", "unknown"]) == nodes_with(store, ["unknown"]) == nodes_with(store, []) == []
        assert nodes_with(store, ["grey"], 0) == []
        assert nodes_with(store, ["grey"], view=store.view()) == ["b", "a", "c"]

    def test_tags_and_keywords_follow_what_is_replaced_and_removed(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        apply(store, clock, nodes=(text_node("a", "A grey heron.", title="Lyon"), text_node("b", "heron")))
        lyon = tags(text_node("a", "A grey heron.", title="Lyon"))
        assert terms_of(store, ["b", "a"]) == [{"heron"}, lyon | {"lyon", "grey", "heron"}]
        apply(store, clock, nodes=(text_node("a", "A stone."),))
        assert terms_of(store, ["a"]) == [{"stone"}]
        assert nodes_with(store, ["heron"]) == ["b"]
        assert nodes_with(store, [SUBJECT + "lyon"]) == []
        apply(store, clock, removed_nodes=("b",))
        assert nodes_with(store, ["heron"]) == []
        for unknown in ("b", "nobody"):
            with pytest.raises(UnknownIdError):
                terms_of(store, ["a", unknown])
        assert terms_of(store, []) == []

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(1, 12))
    @PROPERTY
    def test_terms_in_any_graph_are_those_of_its_texts(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int
    ) -> None:
        store = new_store()
        for delta, _ in history_of(random, clock, deltas):
            store.apply(delta)
            held = {one.id: tags(one).union(search_terms(keyword_text(one))) for one in store.all_nodes()}
            assert terms_of(store, list(held)) == list(held.values())
            known = sorted(frozenset[str]().union(*held.values()))
            one_by_one = {term: nodes_with(store, [term]) for term in known}
            for most in range(len(held) + 1):
                rare = {term: names for term, names in one_by_one.items() if len(names) <= most}
                assert terms_of(store, list(held), most) == [own & rare.keys() for own in held.values()]
            for first, second in product(known, repeat=2):
                names = [name for name, own in held.items() if own >= {first, second}]
                assert nodes_with(store, [first, second]) == names
                assert nodes_with(store, [first, second], 1) == names[:1]

    def test_equal_texts_come_in_order_of_id(self, store: GraphStorePort, clock: ManualClock) -> None:
        for name in "dbca":
            apply(store, clock, nodes=(text_node(name, "a heron and a stone"),))
        assert [name for name, _ in keyword_search(store, "heron", 3)] == ["a", "b", "c"]

    def test_a_rare_word_counts_for_more_than_a_common_one(self, store: GraphStorePort, clock: ManualClock) -> None:
        texts = ["grey heron", "grey stone", "grey river", "grey tower"]
        apply(store, clock, nodes=tuple(text_node(name, text) for name, text in zip("dcba", texts, strict=True)))
        assert keyword_search(store, "grey heron", 1)[0][0] == "d"

    # Searches within a view

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(1, 12), seen=st.integers(0, 12))
    @PROPERTY
    def test_searches_in_a_view_are_those_of_all_without_the_rest(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int, seen: int
    ) -> None:
        store, view = new_store(), None
        for place, (delta, _) in enumerate(history_of(random, clock, deltas)):
            if place == seen:
                view = store.view()
            store.apply(delta)
        assert_searches_agree(store, [1.0, 0.5])
        shown = view or store.view()
        assert_searches_agree(store, [1.0, 0.5], shown)
        for query in QUERIES:
            scores = keyword_scores(store, query)
            within = {name: score for name, score in scores.items() if shown.find(name) is not None}
            assert dict(keyword_search(store, query, 99, shown)) == pytest.approx(within)

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(1, 12))
    @PROPERTY
    def test_any_graph_is_searched_as_brute_force_searches_it(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int
    ) -> None:
        store = new_store()
        for delta, _ in history_of(random, clock, deltas):
            store.apply(delta)
        for view in (None, store.view()):
            assert_searches_agree(store, [1.0, 0.5], view)
            for query in QUERIES:
                keyword_scores(store, query, view)


def text_node(
    name: str,
    content: str,
    *,
    title: str | None = None,
    speaker: str | None = None,
    timestamp: datetime | None = None,
    found: Found = NOTHING_FOUND,
    metadata: Mapping[str, object] | None = None,
) -> MemoryNode:
    """Return a node without a vector."""
    return node(
        name,
        content=content,
        embedding=None,
        title=title,
        speaker=speaker,
        timestamp=timestamp,
        found=found,
        metadata=metadata or {},
    )
