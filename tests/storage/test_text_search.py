"""Keywords and tags of nodes: scores match a rebuilt index. The kit also tests the results."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from neurogated import GraphDelta, GraphStore
from neurogated.core.clock import from_micros
from neurogated.core.found import NOTHING_FOUND, Found
from neurogated.core.rendering import TIME, speaker_tag, subject_tag, trait_tag
from neurogated.storage.index.graph_index import put_texts
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock
from neurogated.testing.contract.reading import text_node

QUERIES = ["heron", "stone heron", "Lyon", "1970", "Ann said", "苏州", "unknown", "the", ""]
TIMED = trait_tag(TIME)
TAGS = [subject_tag("lyon"), speaker_tag("ann"), TIMED, "unknown"]


def found(store: GraphStore, query: str) -> dict[str, float]:
    """Return every id and score, after comparing the search with the scores by rows."""
    view = store.view()
    pairs = store.keyword_search(query, 100)
    scores = store.keyword_scores(query, view, view.live_nodes())
    ids = [view.ids[row] for row in view.live_nodes().tolist()]
    assert dict(pairs) == {name: score for name, score in zip(ids, scores.tolist(), strict=True) if score > 0}
    assert pairs == sorted(pairs, key=lambda pair: (-pair[1], pair[0]))
    for k in (0, 1, 2):
        assert store.keyword_search(query, k) == pairs[:k]
    return dict(pairs)


def tagged(store: GraphStore, tags: Sequence[str]) -> set[str]:
    view = store.view()
    rows = view.live_nodes()
    return {view.ids[row] for row in rows[store.has_tags(tags, view, rows).any(axis=0)].tolist()}


def rebuilt(store: GraphStore, query: str, tags: Sequence[str]) -> tuple[dict[str, float], set[str]]:
    """Return the results of a fresh index over the store's nodes."""
    nodes = list(store.all_nodes())
    index, rows = LexicalStore(), np.arange(len(nodes))
    put_texts(index, rows, nodes)
    scores = index.scores(query, rows).tolist()
    has = np.logical_or.reduce(index.having(tags, rows)).tolist()
    return (
        {one.id: score for one, score in zip(nodes, scores, strict=True) if score > 0},
        {one.id for one, does in zip(nodes, has, strict=True) if does},
    )


def assert_as_anew(store: GraphStore) -> None:
    for query in QUERIES:
        assert found(store, query) == pytest.approx(rebuilt(store, query, [])[0])
    for tags in [*([tag] for tag in TAGS), TAGS, []]:
        assert tagged(store, tags) == rebuilt(store, "", tags)[1]


def test_what_is_put_is_found_by_text_title_speaker_and_date(store: GraphStore) -> None:
    store.add_node(text_node("a", "A grey heron.", title="Lyon", found=Found(times=["today"])))
    store.add_node(text_node("b", "A stone.", speaker="Ann", timestamp=from_micros(0)))
    store.add_node(text_node("c", "我住在苏州。 Herons!", metadata={"context": ["Lyon"]}))
    assert found(store, "heron").keys() == {"a", "c"}
    assert found(store, "LYON").keys() == {"a"}
    assert found(store, "1970").keys() == found(store, "ann").keys() == {"b"}
    assert found(store, "苏州").keys() == {"c"}
    assert found(store, "the of") == found(store, "") == {}
    assert tagged(store, [subject_tag("lyon")]) == tagged(store, [TIMED]) == {"a"}
    assert tagged(store, [speaker_tag("ann"), TIMED]) == {"a", "b"}
    assert_as_anew(store)


def test_a_removed_node_is_not_found_until_it_is_restored(store: GraphStore) -> None:
    heron = text_node("a", "A grey heron.", title="Lyon")
    store.apply(GraphDelta(nodes=(heron, text_node("b", "heron"))))
    assert found(store, "heron").keys() == {"a", "b"}
    view, rows = store.view(), store.view().rows(["a"])
    store.remove_node("a")
    assert found(store, "heron").keys() == {"b"}
    assert store.keyword_scores("heron", view, rows).tolist() == [0.0]
    assert store.has_tags([subject_tag("lyon")], view, rows).tolist() == [[False]]
    store.add_node(heron)
    assert found(store, "heron").keys() == {"a", "b"}
    assert tagged(store, [subject_tag("lyon")]) == {"a"}


def test_namespaces_never_find_each_others_texts(store: GraphStore) -> None:
    other = store.in_namespace("other")
    store.apply(GraphDelta(nodes=(text_node("a", "A grey heron.", title="Lyon"), text_node("b", "stone"))))
    other.add_node(text_node("a", "A stone.", speaker="Ann"))
    assert found(store, "heron").keys() == {"a"}
    assert found(other, "heron") == found(other, "Lyon") == {}
    assert found(other, "stone").keys() == {"a"}
    assert tagged(other, TAGS) == tagged(other, [speaker_tag("ann")]) == {"a"}
    # The weight of a word counts the texts of its own namespace only.
    for one in (store, other):
        assert_as_anew(one)


def test_the_graph_of_the_past_is_searched_as_it_was(store: GraphStore) -> None:
    store.add_node(text_node("a", "A grey heron.", title="Lyon"))
    store.add_node(text_node("b", "Another heron."))
    store.apply(GraphDelta(removed_nodes=("a",), nodes=(text_node("b", "A stone.", speaker="Ann"),)))
    past = store.as_of(2)
    assert found(past, "heron").keys() == {"a", "b"}
    assert tagged(past, TAGS) == {"a"}
    assert found(store, "heron") == {}
    assert_as_anew(past)
    assert_as_anew(store)
    assert found(store.as_of(0), "heron") == {}


names = st.sampled_from("abcde")
contents = st.lists(st.sampled_from(["heron", "the", "stone", "Lyon", "苏州的", ""]), max_size=5).map(" ".join)
metadata = st.fixed_dictionaries(
    {},
    optional={
        "title": st.sampled_from(["Lyon", "Lyon (city)", "Ann"]),
        "speaker": st.sampled_from(["Ann", None]),
        "found": st.sampled_from([Found(times=["today"]), NOTHING_FOUND]),
        "timestamp": st.sampled_from([from_micros(0), None]),
    },
)
steps = st.lists(
    st.tuples(st.just("put"), names, contents, metadata)
    | st.tuples(st.just("remove"), names, contents, metadata)
    | st.tuples(st.sampled_from(["search", "reopen"]), names, contents, metadata),
    max_size=14,
)


@given(steps=steps)
@settings(max_examples=40)
def test_any_history_is_searched_like_a_rebuilt_index(
    steps: list[tuple[str, str, str, dict[str, Any]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path: Path = tmp_path_factory.mktemp("history") / "memory.db"
    in_memory, on_disk = GraphStore(clock=ManualClock()), SqliteStore.open(path, clock=ManualClock())
    for step, name, content, about in steps:
        for store in (in_memory, on_disk):
            if step == "put":
                store.add_node(text_node(name, content, **about))
            elif step == "remove" and store.has_node(name):
                store.remove_node(name)
            elif step == "search":
                assert_as_anew(store)
        if step == "reopen":
            on_disk.close()
            on_disk = SqliteStore.open(path, clock=ManualClock())
    for store in (in_memory, on_disk):
        assert_as_anew(store)
    for query in QUERIES:
        assert found(in_memory, query) == pytest.approx(found(on_disk, query))
    on_disk.close()
