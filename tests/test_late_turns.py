"""Turns that arrive after later turns of their session."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.compose import build
from neurogated.storage.graph_store import GraphStore
from neurogated.testing import ManualClock
from tests.sessions import NOON, message_of, order_of

CONFIG = MemoryConfig(storage="memory", embedding_name="hash")

hours = st.none() | st.integers(1, 9)


def _messages(hours: Sequence[int | None], first: int) -> list[dict[str, object]]:
    times = [{} if hour is None else {"timestamp": NOON + timedelta(hours=hour)} for hour in hours]
    return [message_of(f"Turn {number}.", **time) for number, time in enumerate(times, first)]


@given(st.lists(st.lists(hours, min_size=1, max_size=12), max_size=8))
def test_a_turn_follows_all_turns_that_are_not_later_and_one_without_time_is_said_now(
    batches: list[list[int | None]],
) -> None:
    expected: list[tuple[int | None, str]] = []
    count = 0
    with NeuroGraphMemory(CONFIG) as memory:
        for batch in batches:
            memory.add(_messages(batch, count), session_id="s")
            for hour in batch:
                later = [place for place, (other, _) in enumerate(expected) if hour and (not other or other > hour)]
                expected.insert(min(later, default=len(expected)), (hour, f"Turn {count}."))
                count += 1
        assert order_of(memory) == [text for _, text in expected]


@given(st.lists(st.integers(-30, 30), max_size=12))
def test_messages_keep_their_order_though_the_clock_jumps(jumps: list[int]) -> None:
    clock = ManualClock()
    with NeuroGraphMemory(CONFIG, parts=build(CONFIG, clock)) as memory:
        for number, jump in enumerate(jumps):
            clock.advance(timedelta(hours=jump))
            memory.add(_messages([None], number), session_id="s")
            assert memory.find(session_id="s", order_by="position")[-1].timestamp == clock()
        assert order_of(memory) == [f"Turn {number}." for number in range(len(jumps))]


def test_turns_in_reverse_order_read_as_few_turns_of_a_long_session_as_of_a_short_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read: list[int] = []
    real = GraphStore.get_nodes

    def get_nodes(store: GraphStore, node_ids: Any, **details: Any) -> Any:  # noqa: ANN401
        read.append(len(node_ids))
        return real(store, node_ids, **details)

    monkeypatch.setattr(GraphStore, "get_nodes", get_nodes)
    counts = []
    for length in (100, 1000):
        with NeuroGraphMemory(CONFIG) as memory:
            memory.add(_messages(range(length, 0, -1), 0), session_id="s")
            read.clear()
            for hour in (0, -1, length // 2):
                memory.add(_messages([hour], 0), session_id="s")
            counts.append(sum(read))
    # The writer has the turns that it stored last, which are all turns of the short session.
    assert max(counts) < 30
