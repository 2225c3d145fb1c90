"""An index laid over another answers like one index with the same entries."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from neurogated import MemoryNode
from neurogated.core.rendering import subject_tag
from neurogated.core.view import GraphView, Rows
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.index.text.lexical_store import LexicalStore, OverlaidLexicalStore
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore, OverlaidEmbeddingStore
from neurogated.storage.sqlite_store import SqliteStore

NAMES = [f"n{place}" for place in range(9)]

KEYS = np.arange(12)
WORDS = ("red", "blue", "fox", "dog", "house")

keys = st.integers(0, 9)
texts = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)
vectors = st.tuples(st.integers(-2, 2), st.integers(-2, 2))
tags = st.frozensets(st.sampled_from([f"is {word}" for word in WORDS]), max_size=3)


def _rows(found: Any) -> Rows:  # noqa: ANN401
    return np.array(sorted(found), dtype=np.int64)


def _put(index: Any, entries: dict[int, Any]) -> None:  # noqa: ANN401
    if entries:
        values = [entries[key] for key in sorted(entries)]
        rows = np.array(values, dtype=np.float32) if isinstance(values[0], tuple) else values
        index.put(_rows(entries), rows)


def _tag(index: LexicalStore | OverlaidLexicalStore, entries: dict[int, frozenset[str]]) -> None:
    index.put(_rows(entries), ["text"] * len(entries), [entries[key] for key in sorted(entries)])


def _expected(below: dict[int, Any], above: dict[int, Any], changed: set[int]) -> dict[int, Any]:
    return {key: value for key, value in below.items() if key not in changed} | above


def _layers(values: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return the entries below, the changed keys, and the new values of some of these."""

    def with_above(changed: set[int]) -> st.SearchStrategy[Any]:
        above = st.dictionaries(st.sampled_from(sorted(changed)), values) if changed else st.just({})
        return st.tuples(st.dictionaries(keys, values), st.just(changed), above)

    return st.sets(keys).flatmap(with_above)


@settings(max_examples=80)
@given(_layers(texts), texts, st.integers(0, 5), st.sets(keys), st.integers(0, 9), st.booleans())
def test_keywords_over_keywords(  # noqa: PLR0917 - drawn
    layers: tuple[dict[int, str], set[int], dict[int, str]],
    query: str,
    k: int,
    without: set[int],
    gone: int,
    long: bool,  # noqa: FBT001 - drawn
) -> None:
    below, changed, above = layers
    base = LexicalStore(memtable_texts=1000 if long else 1)
    _put(base, below)
    _put(base, below)
    overlaid = base.overlaid(_rows(changed))
    _put(overlaid, above)
    if gone in changed:
        overlaid.remove(np.array([gone]))
        above.pop(gone, None)
    whole = LexicalStore()
    _put(whole, _expected(below, above, changed))
    assert len(overlaid) == len(whole)
    for key in range(10):
        assert overlaid.terms_of(key) == whole.terms_of(key)
    assert np.allclose(overlaid.scores(query, KEYS), whole.scores(query, KEYS), rtol=0, atol=1e-12)
    found, expected = (index.search(query, k, _rows(without)) for index in (overlaid, whole))
    # Words have other numbers, so sums and ties may differ in the last bit.
    assert np.allclose(found[1][:k], expected[1][:k], rtol=0, atol=1e-12)
    assert len(found[1]) >= min(k, len(expected[1]))
    assert not set(found[0].tolist()) & without
    assert np.allclose(whole.scores(query, found[0]), found[1], rtol=0, atol=1e-12)
    assert len(base) == len(below), "the base index has changed"


@settings(max_examples=80)
@given(_layers(vectors), vectors, st.integers(0, 12), st.sets(keys))
def test_vectors_over_vectors(
    layers: tuple[dict[int, Any], set[int], dict[int, Any]], query: tuple[int, int], k: int, without: set[int]
) -> None:
    below, changed, above = layers
    base = EmbeddingStore()
    _put(base, below)
    overlaid = OverlaidEmbeddingStore(base, _rows(changed))
    _put(overlaid, above)
    entries = _expected(below, above, changed)
    whole = EmbeddingStore()
    _put(whole, entries)
    assert (overlaid.size, overlaid.dimension is None) == (whole.size, not below and not above)
    for key in range(10):
        vector = overlaid.get(key)
        assert (None if vector is None else tuple(vector.tolist())) == entries.get(key)
    assert np.array_equal(overlaid.similarities(query, KEYS), whole.similarities(query, KEYS))
    found, expected = (
        sorted(zip(*(-scores, keys), strict=True))[:k]
        for keys, scores in (index.search(query, k, _rows(without)) for index in (overlaid, whole))
    )
    assert found == expected
    assert base.size == len(below)


@settings(max_examples=80)
@given(_layers(tags), tags, st.sets(keys), st.integers(0, 4))
def test_tags_over_tags(
    layers: tuple[dict[int, frozenset[str]], set[int], dict[int, frozenset[str]]],
    asked: frozenset[str],
    without: set[int],
    limit: int,
) -> None:
    below, changed, above = layers
    base = LexicalStore(1)
    _tag(base, below)
    overlaid = base.overlaid(_rows(changed))
    _tag(overlaid, above)
    entries = _expected(below, above, changed)
    holders = {tag: [key for key, held in sorted(entries.items()) if tag in held] for tag in asked}
    for key in range(10):
        held = entries.get(key, frozenset())
        assert overlaid.terms_of(key).keys() - {"text"} == held
        rare = {tag for tag in held if sum(tag in other for other in entries.values()) <= limit}
        assert overlaid.terms_of(key, limit).keys() - {"text"} == rare
    assert overlaid.having(asked, KEYS).any(axis=0).tolist() == [
        bool(asked & entries.get(key, frozenset())) for key in KEYS.tolist()
    ]
    shown = frozenset().union(*(held for key, held in entries.items() if key not in without))
    assert overlaid.existing(iter(asked), _rows(without)) == asked & shown
    found = overlaid.rare_keys_with(dict.fromkeys(asked, limit))
    assert {tag: rows.tolist() for tag, rows in found.items()} == {
        tag: names for tag, names in holders.items() if len(names) <= limit
    }
    all_of_them = [key for key, held in sorted(entries.items()) if asked and asked <= held]
    assert overlaid.keys_with(asked).tolist() == all_of_them
    assert overlaid.keys_with(asked, limit).tolist() == all_of_them[:limit]


Ask = Callable[[GraphStore, GraphView], list[str]]


@pytest.mark.parametrize(
    "ask",
    [
        lambda past, view: [str(x) for x in past.similarities([1.0, 4.0], view, view.rows(NAMES)).tolist()],
        lambda past, view: [name for name in NAMES if past.keyword_scores(name, view, view.rows([name]))[0] > 0],
        lambda past, view: [
            name for name in NAMES if past.has_tags([subject_tag(name)], view, view.rows([name])).any()
        ],
        lambda past, view: [name for name, _ in past.nearest([0.0, 1.0], 3, view)],
        lambda past, view: [name for name, _ in past.keyword_search("flood", 9, view)],
        lambda past, view: sorted(past.existing_tags([subject_tag(name) for name in NAMES], view)),
    ],
)
def test_a_question_about_the_past_is_answered_alike_when_a_compaction_comes_between_its_steps(
    tmp_path: Path, ask: Ask
) -> None:
    with SqliteStore.open(tmp_path / "memory.db") as store:
        store.add_node(MemoryNode(id="gone", content="gone", embedding=[1.0, 1.0]))
        for place, name in enumerate(NAMES):
            store.add_node(MemoryNode(name, f"flood {name}", embedding=[1.0, place], title=name))
        past = store.as_of(store.view().sequence)
        store.remove_node("gone")
        view = past.view()
        before = ask(past, view)
        store.compact()
        # The rows are renumbered, and this call is the first to notice.
        assert ask(past, view) == before
        assert before
