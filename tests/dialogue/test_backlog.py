"""Work on users in the background: what is asked for while work fails is done."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from neurogated.dialogue.updater import PageBacklog


def test_work_that_is_asked_for_while_it_fails_runs_again() -> None:
    began, goes_on, runs = threading.Event(), threading.Event(), list[str]()

    def run(user_id: str, _stop: Callable[[], bool]) -> None:
        runs.append(user_id)
        if len(runs) == 1:
            began.set()
            goes_on.wait()
            raise RuntimeError("no network")

    backlog = PageBacklog(run)
    backlog.add("ana")
    began.wait()
    backlog.add("ana")
    goes_on.set()
    backlog.flush()
    assert runs == ["ana", "ana"]


def test_work_that_fails_waits_until_it_is_asked_for() -> None:
    runs = list[str]()

    def run(user_id: str, _stop: Callable[[], bool]) -> None:
        runs.append(user_id)
        if len(runs) == 1:
            raise RuntimeError("no network")

    backlog = PageBacklog(run)
    backlog.add("ana")
    with pytest.raises(RuntimeError, match="no network"):
        backlog.flush()
    backlog.flush()
    assert runs == ["ana"]
    backlog.add("ana")
    backlog.flush()
    assert runs == ["ana", "ana"]
