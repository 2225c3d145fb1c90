"""Calls that get an answer within a time, or none."""

import threading

import pytest

from neurogated.core.deadline import answer_within


def test_an_answer_in_time_is_returned() -> None:
    assert answer_within(60, lambda: threading.current_thread().name, "the call") == "the call"


def test_the_error_of_a_call_is_raised_here() -> None:
    def fail() -> None:
        raise KeyError("gone")

    with pytest.raises(KeyError, match="gone"):
        answer_within(60, fail, "the call")


def test_a_late_call_goes_on_alone() -> None:
    goes_on, ended = threading.Event(), threading.Event()

    def work() -> None:
        goes_on.wait(60)
        ended.set()

    with pytest.raises(TimeoutError):
        answer_within(0.01, work, "the call")
    goes_on.set()
    assert ended.wait(60)
