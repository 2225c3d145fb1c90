"""The texts that contain each term match a dictionary of sets."""

from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from neurogated.storage.index.text import term_lookup
from neurogated.storage.index.text.lexical_store import LexicalStore, OverlaidLexicalStore

TERMS = ["a tag", "another tag", "red", "fox", "dog", "heron"]
terms = st.frozensets(st.sampled_from(TERMS), max_size=6)
puts = st.dictionaries(st.integers(0, 40), terms, max_size=6)
changes = st.lists(st.tuples(puts, st.sets(st.integers(0, 60), max_size=5)), max_size=8)
History = list[tuple[dict[int, frozenset[str]], set[int]]]


def rows(keys: object) -> np.ndarray:
    return np.array(sorted(keys), dtype=np.int64)  # type: ignore[call-overload]


def put(index: LexicalStore | OverlaidLexicalStore, held: dict[int, frozenset[str]]) -> None:
    texts = [" ".join(sorted(term for term in held[key] if " " not in term)) for key in sorted(held)]
    index.put(rows(held), texts, [{term for term in held[key] if " " in term} for key in sorted(held)])


def after(history: History, tail_texts: int = 512) -> tuple[LexicalStore, dict[int, frozenset[str]]]:
    """Return an index and its model after the same changes."""
    index, model = LexicalStore(tail_texts), dict[int, frozenset[str]]()
    for held, removed in history:
        put(index, held)
        index.remove(rows(removed))
        model = {key: own for key, own in {**model, **held}.items() if key not in removed}
    return index, model


@given(changes, terms, st.sampled_from([2, 512]), st.integers(0, 5), st.sampled_from([3, 1024]))
def test_any_terms_of_keys_and_all_terms_are_found(
    history: History, wanted: frozenset[str], tail_texts: int, limit: int, latest: int
) -> None:
    index, model = after(history, tail_texts)
    everything = np.arange(80)
    asked = sorted(wanted)
    assert index.having(asked, everything).tolist() == [
        [term in model.get(key, frozenset()) for key in everything.tolist()] for term in asked
    ]
    holders = sorted(key for key, own in model.items() if wanted and wanted <= own)
    assert index.keys_with(wanted).tolist() == holders
    assert index.keys_with(wanted, limit).tolist() == holders[:limit]
    assert index.existing(wanted) == wanted & frozenset().union(*model.values())
    even = {key: own for key, own in model.items() if key % 2 == 0}
    with patch.object(term_lookup, "_LATEST", latest):
        assert index.keys_with(wanted, among=everything[::2]).tolist() == [key for key in holders if key in even]
        assert index.existing(wanted, among=everything[::2]) == wanted & frozenset().union(*even.values())


@pytest.mark.parametrize("wanted", [[], ["never seen"]])
def test_no_text_contains_a_field_that_was_not_given(wanted: list[str]) -> None:
    index = LexicalStore()
    assert index.having(wanted, np.arange(3)).tolist() == [[False] * 3] * len(wanted)
    put(index, {1: frozenset({"a tag"})})
    assert index.having(wanted, np.arange(3)).tolist() == [[False] * 3] * len(wanted)


def test_keys_are_answered_in_their_own_order_and_as_often_as_they_are_asked() -> None:
    index = LexicalStore()
    put(index, {7: frozenset({"a tag", "red"}), 2: frozenset({"red"})})
    assert index.having(["a tag"], np.array([2, 7, 7, 0, 900])).tolist() == [[False, True, True, False, False]]
    assert index.having(["a tag"], np.empty(0, dtype=np.int64)).any(axis=0).size == 0


def test_no_keys_are_put_and_removed_without_effect() -> None:
    index = LexicalStore()
    put(index, {})
    index.remove(np.array([0, 5]))
    put(index, {0: frozenset()})
    assert index.having(["a tag"], np.array([0])).any(axis=0).tolist() == [False]


@given(changes, st.dictionaries(st.sampled_from([*TERMS, "unknown"]), st.integers(0, 8)), st.sets(st.integers(0, 40)))
def test_rare_terms_are_told_whole_and_others_not_at_all(
    history: History, limits: dict[str, int], hidden: set[int]
) -> None:
    index, model = after(history, 2)
    among = np.arange(0, 40, 3)
    with patch.object(term_lookup, "_LATEST", 3):
        few = index.rare_keys_with(limits, among)
    for rare, shown in (
        (index.rare_keys_with(limits), model.keys()),
        (index.overlaid(rows(hidden)).rare_keys_with(limits), model.keys() - hidden),
        (few, model.keys() & set(among.tolist())),
        (index.rare_keys_with(limits, among), model.keys() & set(among.tolist())),
    ):
        holders = {term: sorted(key for key in shown if term in model[key]) for term in limits}
        expected = {term: keys for term, keys in holders.items() if len(keys) <= limits[term]}
        assert {term: keys.tolist() for term, keys in rare.items()} == expected


@given(changes)
def test_tags_change_no_score(history: History) -> None:
    index, model = after(history, 2)
    bare = LexicalStore(2)
    put(bare, {key: frozenset(term for term in own if " " not in term) for key, own in model.items()})
    keys = rows(model)
    assert index.scores("red fox heron", keys) == pytest.approx(bare.scores("red fox heron", keys))
    assert index.search("a tag", 9)[0].tolist() == bare.search("a tag", 9)[0].tolist()
