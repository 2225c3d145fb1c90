"""The present task moves the scores of a canvas, and dormant memories are not on it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, compose
from neurogated.testing import ManualClock


@pytest.fixture
def memory(clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    config = MemoryConfig(storage="memory")
    with NeuroGraphMemory(config, parts=compose.build(config, clock)) as opened:
        yield opened


def test_the_present_task_moves_the_scores_of_a_canvas(memory: NeuroGraphMemory) -> None:
    told = ["The tax return is due on Friday.", "The garden needs tulips and roses.", "The bus was late."]
    tax, garden, bus = (memory.add(text, user_id="ana", session_id="s")[0] for text in told)
    before = {one.id: one.score for one in memory.energy.canvas(user_id="ana")}
    for task, about in (("Plant flowers in the garden", garden), ("Finish the taxes", tax)):
        memory.energy.focus(task, user_id="ana")
        after = memory.energy.canvas(user_id="ana", session_id="s")
        assert after[0].id == about
        assert all(0 < one.score <= before[one.id] for one in after)
        assert {one.id for one in after} == {tax, garden, bus}
    memory.energy.focus(None, user_id="ana")
    assert {one.id: one.score for one in memory.energy.canvas(user_id="ana")} == pytest.approx(before)


def test_the_task_of_another_user_moves_nothing(memory: NeuroGraphMemory) -> None:
    memory.add(["The bus was late.", "The garden needs tulips."], user_id="ana")
    before = [one.score for one in memory.energy.canvas(user_id="ana")]
    memory.energy.focus("Plant flowers in the garden", user_id="ben")
    assert [one.score for one in memory.energy.canvas(user_id="ana")] == pytest.approx(before)


def test_dormant_memories_are_not_on_the_canvas(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (kept,) = memory.add({"role": "user", "content": "I like tea."}, importance=0.9, user_id="ana")
    (slept,) = memory.add({"role": "user", "content": "The bus was late."}, importance=0.1, user_id="ana")
    assert {one.id for one in memory.energy.canvas(user_id="ana")} == {kept, slept}
    clock.advance(timedelta(days=90))
    assert [one.id for one in memory.energy.canvas(user_id="ana")] == [kept]


def test_an_energy_has_the_uses_that_are_not_written_yet(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (name,) = memory.add({"role": "user", "content": "The bus was late."}, user_id="ana")
    clock.advance(timedelta(days=20))
    before = memory.energy.of(name)
    memory.recall("Was the bus late?", user_id="ana")
    assert memory.energy.of(name) > before
