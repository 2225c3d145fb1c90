"""The texts that contain each term match a dictionary of sets."""

from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
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
