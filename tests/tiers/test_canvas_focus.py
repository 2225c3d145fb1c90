"""The present task moves the scores of a canvas, and dormant memories are not on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.session import compose
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
