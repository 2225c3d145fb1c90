"""Marks against a dictionary of sets."""

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from neurogated.storage.index.text.mark_index import MarkIndex

marks = st.frozensets(st.sampled_from("abcdef"), max_size=6)
puts = st.dictionaries(st.integers(0, 40), marks, max_size=6)
changes = st.lists(st.tuples(puts, st.sets(st.integers(0, 60), max_size=5)), max_size=8)


def rows(keys: object) -> np.ndarray:
    return np.array(sorted(keys), dtype=np.int64)  # type: ignore[call-overload]


@given(changes, marks)
def test_carriers_are_those_whose_latest_marks_hold_one_of_the_wanted(
    history: list[tuple[dict[int, frozenset[str]], set[int]]], wanted: frozenset[str]
) -> None:
    index, model = MarkIndex(), dict[int, frozenset[str]]()
    everything = np.arange(80)
    for put, removed in history:
        index.put(rows(put), [put[key] for key in sorted(put)])
        index.remove(rows(removed))
        model = {key: held for key, held in {**model, **put}.items() if key not in removed}
        expected = [bool(model.get(key, frozenset()) & wanted) for key in everything.tolist()]
        assert index.carriers(wanted, everything).tolist() == expected


@pytest.mark.parametrize("wanted", [[], ["never seen"]])
def test_nobody_carries_what_no_one_was_given(wanted: list[str]) -> None:
    index = MarkIndex()
    assert index.carriers(wanted, np.arange(3)).tolist() == [False] * 3
    index.put(np.array([1]), [{"a"}])
    assert index.carriers(wanted, np.arange(3)).tolist() == [False] * 3


def test_keys_are_answered_in_their_own_order_and_as_often_as_they_are_asked() -> None:
    index = MarkIndex()
    index.put(np.array([7, 2]), [{"a", "b", "c"}, {"b"}])
    assert index.carriers(["a"], np.array([2, 7, 7, 0, 900])).tolist() == [False, True, True, False, False]
    assert index.carriers(["a"], np.empty(0, dtype=np.int64)).size == 0


def test_no_keys_are_put_and_removed_without_effect() -> None:
    index = MarkIndex()
    index.put(np.empty(0, dtype=np.int64), [])
    index.remove(np.array([0, 5]))
    index.put(np.array([0]), [set()])
    assert index.carriers(["a"], np.array([0])).tolist() == [False]


@given(changes, marks)
def test_a_mark_is_carried_as_long_as_some_key_carries_it(
    history: list[tuple[dict[int, frozenset[str]], set[int]]], asked: frozenset[str]
) -> None:
    index, model = MarkIndex(), dict[int, frozenset[str]]()
    for put, removed in history:
        index.put(rows(put), [put[key] for key in sorted(put)])
        index.remove(rows(removed))
        model = {key: held for key, held in {**model, **put}.items() if key not in removed}
        assert index.carried(asked) == asked & frozenset().union(*model.values())


@given(changes, st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 8)), st.sets(st.integers(0, 40)))
def test_few_holders_are_told_whole_and_many_not_at_all(
    history: list[tuple[dict[int, frozenset[str]], set[int]]], limits: dict[str, int], hidden: set[int]
) -> None:
    index, model = MarkIndex(tail_texts=2), dict[int, frozenset[str]]()
    for put, removed in history:
        index.put(rows(put), [put[key] for key in sorted(put)])
        index.remove(rows(removed))
        model = {key: held for key, held in {**model, **put}.items() if key not in removed}
    for few, left_out in (
        (index.few_holders(limits), frozenset[int]()),
        (index.overlaid(rows(hidden)).few_holders(limits), hidden),
    ):
        holders = {mark: sorted(key for key in model.keys() - left_out if mark in model[key]) for mark in limits}
        expected = {mark: keys for mark, keys in holders.items() if len(keys) <= limits[mark]}
        assert {mark: keys.tolist() for mark, keys in few.items()} == expected
