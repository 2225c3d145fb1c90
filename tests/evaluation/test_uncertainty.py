"""Bootstrap intervals against exact and slow references, and spread against values computed by hand."""

from __future__ import annotations

import itertools
import random
from statistics import fmean, stdev

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.errors import InputError
from neurogated.evaluation import uncertainty
from neurogated.evaluation.uncertainty import Interval, paired_bootstrap, spread_over

RECALLS = st.floats(0, 100).map(lambda value: round(value, 1))
PAIRS = st.lists(st.tuples(RECALLS, RECALLS), min_size=1, max_size=40)
FEW_ROUNDS = 300


def _slow_bootstrap(a: list[float], b: list[float], rounds: int, level: float) -> tuple[float, float]:
    """Return the interval by drawing pair after pair with another generator."""
    chance = random.Random(7)
    pairs = list(zip(a, b, strict=True))
    means = sorted(fmean(x - y for x, y in chance.choices(pairs, k=len(pairs))) for _ in range(rounds))
    tail = (1 - level) / 2
    return means[int(tail * rounds)], means[int((1 - tail) * rounds) - 1]


@given(PAIRS, st.integers(0, 5))
def test_interval_holds_the_mean_difference(pairs: list[tuple[float, float]], seed: int) -> None:
    a, b = zip(*pairs, strict=True)
    interval = paired_bootstrap(a, b, rounds=FEW_ROUNDS, seed=seed)
    assert interval.mean == pytest.approx(fmean(x - y for x, y in pairs), abs=1e-9)
    assert interval.low <= interval.mean <= interval.high


@given(PAIRS)
def test_exchanging_the_two_turns_the_interval_over(pairs: list[tuple[float, float]]) -> None:
    a, b = zip(*pairs, strict=True)
    one, other = -paired_bootstrap(a, b, rounds=FEW_ROUNDS), paired_bootstrap(b, a, rounds=FEW_ROUNDS)
    assert (one.mean, one.low, one.high) == pytest.approx((other.mean, other.low, other.high), abs=1e-9)


@given(st.lists(RECALLS, min_size=1, max_size=40))
def test_equal_figures_differ_by_nothing_for_certain(figures: list[float]) -> None:
    interval = paired_bootstrap(figures, figures, rounds=FEW_ROUNDS)
    assert interval == Interval(0, 0, 0)
    assert not interval.certain


@given(st.lists(RECALLS, min_size=1, max_size=40), st.integers(-50, 50).filter(bool))
def test_a_difference_that_is_the_same_everywhere_is_certain(figures: list[float], shift: int) -> None:
    interval = paired_bootstrap([figure + shift for figure in figures], figures, rounds=FEW_ROUNDS)
    assert (interval.low, interval.high) == pytest.approx((shift, shift))
    assert interval.certain


def test_interval_is_near_that_of_a_slow_bootstrap_with_another_generator() -> None:
    chance = np.random.default_rng(3)
    a = chance.choice([0.0, 50.0, 100.0], size=120)
    b = np.where(chance.random(120) < 0.2, chance.choice([0.0, 50.0, 100.0], size=120), a)
    low, high = _slow_bootstrap(a.tolist(), b.tolist(), 4000, 0.95)
    interval = paired_bootstrap(a, b)
    assert (interval.low, interval.high) == pytest.approx((low, high), abs=0.6)


def test_interval_of_three_questions_has_the_quantiles_of_all_their_resamples() -> None:
    differences = [0.0, 30.0, 90.0]
    resamples = sorted(fmean(drawn) for drawn in itertools.product(differences, repeat=3))
    interval = paired_bootstrap(differences, [0.0] * 3, level=0.8)
    assert interval.low == pytest.approx(resamples[int(0.1 * 27)])
    assert interval.high == pytest.approx(resamples[int(0.9 * 27)])


def test_the_same_seed_gives_the_same_interval_however_the_draws_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = np.arange(50.0), np.arange(50.0)[::-1]
    whole = paired_bootstrap(a, b, rounds=FEW_ROUNDS)
    monkeypatch.setattr(uncertainty, "_DRAWS_AT_ONCE", 120)
    assert paired_bootstrap(a, b, rounds=FEW_ROUNDS) == whole
    assert paired_bootstrap(a, b, rounds=FEW_ROUNDS, seed=1) != whole


def test_a_higher_level_gives_a_wider_interval() -> None:
    a, b = np.arange(50.0), np.arange(50.0)[::-1] ** 1.1
    narrow, wide = (paired_bootstrap(a, b, level=level) for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.high < wide.high


@pytest.mark.parametrize(("a", "b"), [([], []), ([1.0], [1.0, 2.0]), ([[1.0]], [[2.0]])])
def test_figures_that_do_not_pair_are_refused(a: list[float], b: list[float]) -> None:
    with pytest.raises(InputError, match="do not pair"):
        paired_bootstrap(a, b)


@pytest.mark.parametrize(("rounds", "level"), [(0, 0.95), (10, 0.0), (10, 1.0)])
def test_rounds_and_level_out_of_range_are_refused(rounds: int, level: float) -> None:
    with pytest.raises(InputError, match="rounds"):
        paired_bootstrap([1.0], [2.0], rounds=rounds, level=level)


# Spread


def test_spread_over_collections_is_that_of_their_means() -> None:
    figures = np.array([[0.0, 10], [100, 10], [40, 20], [10, 60]])
    spread = spread_over(figures, ["a", "b", "a", "c"])
    assert spread is not None
    assert spread.over == "3 collections"
    assert spread.mean.tolist() == pytest.approx([fmean([20, 100, 10]), fmean([15, 10, 60])])
    assert spread.deviation.tolist() == pytest.approx([stdev([20, 100, 10]), stdev([15, 10, 60])])


@given(st.lists(RECALLS, min_size=2, max_size=30), st.integers(0, 3))
def test_folds_of_one_collection_hold_every_question_once(figures: list[float], seed: int) -> None:
    column = np.array(figures)[:, None]
    folds = min(5, len(figures))
    spread = spread_over(column, [0] * len(figures), seed=seed)
    assert spread is not None
    assert spread.over == f"{folds} random folds"
    assert min(figures) - 1e-9 <= spread.mean[0] <= max(figures) + 1e-9
    if len(figures) % folds == 0:
        assert spread.mean[0] == pytest.approx(fmean(figures))


def test_folds_are_the_same_for_the_same_seed_and_others_for_another() -> None:
    figures = np.arange(23.0)[:, None]
    first, again, other = (spread_over(figures, [0] * 23, seed=seed) for seed in (0, 0, 1))
    assert first is not None
    assert again is not None
    assert other is not None
    assert (first.mean, first.deviation) == (again.mean, again.deviation)
    assert first.deviation != other.deviation


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_questions_have_no_spread(count: int) -> None:
    assert spread_over(np.zeros((count, 3)), [0] * count) is None
