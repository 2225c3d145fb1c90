"""Timing functions by stage."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from neurogated.errors import InputError
from neurogated.evaluation.profiling import Stage, StageTimer

PAUSE = 0.02


class _Work:
    def inner(self) -> str:
        time.sleep(PAUSE)
        return "done"

    def outer(self) -> str:
        time.sleep(PAUSE)
        return self.inner()

    def several(self) -> Iterator[int]:
        for number in range(2):
            time.sleep(PAUSE)
            yield number

    def failing(self) -> None:
        raise InputError("refused")


class _Special(_Work):
    """Inherits the timed method."""


def test_a_stage_within_another_counts_once() -> None:
    timer, work = StageTimer(), _Work()
    begin = time.perf_counter()
    with timer.watching([Stage("inner", _Work, "inner"), Stage("outer", _Work, "outer")]):
        assert work.outer() == "done"
    took = time.perf_counter() - begin
    assert timer.seconds["inner"] >= PAUSE
    assert timer.seconds["outer"] >= PAUSE
    assert timer.seconds["inner"] + timer.seconds["outer"] <= took


def test_a_generator_counts_to_its_own_stage() -> None:
    timer = StageTimer()
    with timer.watching([Stage("several", _Work, "several")]):
        assert list(_Work().several()) == [0, 1]
    assert timer.seconds["several"] >= 2 * PAUSE


def test_functions_are_as_before_when_the_block_ends() -> None:
    before = dict(vars(_Work))
    timer = StageTimer()
    with timer.watching([Stage("failing", _Work, "failing"), Stage("inner", _Special, "inner")]):
        assert "inner" in vars(_Special)
        assert _Special().inner() == "done"
        with pytest.raises(InputError, match="refused"):
            _Work().failing()
    assert dict(vars(_Work)) == before
    assert "inner" not in vars(_Special)
    assert timer.seconds["failing"] > 0


def test_a_stage_that_never_ran_took_no_time() -> None:
    timer = StageTimer()
    with timer.watching([Stage("inner", _Work, "inner")]):
        pass
    assert dict(timer.seconds) == {"inner": 0.0}
