"""`record_event`: an event, its links to the memories it used, and the effects of its outcome, in one change."""

import pytest

from neurogated import NeuroGraphMemory


@pytest.fixture
def used(memory: NeuroGraphMemory) -> list[str]:
    return [
        *memory.add("The pump stands by the river.", user_id="ana"),
        *memory.add("The pump needs oil every week.", user_id="ana"),
    ]


def test_an_event_is_a_memory_with_its_outcome(memory: NeuroGraphMemory, used: list[str]) -> None:
    (event,) = memory.record_event(
        "I oiled the pump.", outcome="success", used=used, user_id="ana", metadata={"by": "robot"}
    )
    node = memory.get(event)
    assert (node.kind, node.content) == ("event", "I oiled the pump.")
    assert (node.metadata, node.found.outcome) == ({"by": "robot"}, 1.0)
    assert memory.recall("Who oiled the pump?", user_id="ana", kinds=["event"]).ids == (event,)


@pytest.mark.parametrize(("outcome", "sign"), [("success", 1), ("fail", -1), (0.5, 1), (-0.5, -1)])
def test_the_outcome_changes_the_energy_and_importance_of_the_used_memories(
    memory: NeuroGraphMemory, used: list[str], outcome: float, sign: int
) -> None:
    before = [(memory.energy.of(name), memory.get(name).importance) for name in used]
    memory.record_event("I oiled the pump.", outcome=outcome, used=used, user_id="ana")
    for name, (energy, importance) in zip(used, before, strict=True):
        assert sign * (memory.energy.of(name) - energy) > 0
        assert sign * (memory.get(name).importance - importance) > 0


def test_an_event_is_one_change_that_undo_takes_back(memory: NeuroGraphMemory, used: list[str]) -> None:
    before, count = memory.history.list(), memory.count(user_id="ana")
    importance = [memory.get(name).importance for name in used]
    memory.record_event("I oiled the pump.", outcome="fail", used=used, user_id="ana")
    assert len(memory.history.list()) == len(before) + 1
    memory.undo(user_id="ana")
    assert memory.count(user_id="ana") == count
    assert [memory.get(name).importance for name in used] == importance


def test_a_frozen_memory_stores_the_event_and_learns_nothing(memory: NeuroGraphMemory, used: list[str]) -> None:
    memory.learning.freeze()
    importance = [memory.get(name).importance for name in used]
    assert memory.record_event("I oiled the pump.", outcome="success", used=used, user_id="ana")
    assert [memory.get(name).importance for name in used] == importance


def test_an_outcome_stays_when_the_event_is_reworded_and_changes_when_it_is_recorded_again(
    memory: NeuroGraphMemory,
) -> None:
    memory.record_event("I oiled the pump.", outcome="success", id="oil")
    assert memory.update("oil", "I greased the pump.").found.outcome == 1
    memory.record_event("I greased the pump.", outcome="fail", id="oil")
    assert memory.get("oil").found.outcome == -1


def test_an_event_contradicts_nothing_that_the_user_said(memory: NeuroGraphMemory) -> None:
    memory.add({"role": "user", "content": "I live in Leeds."}, user_id="ana", session_id="one")
    memory.record_event({"role": "user", "content": "I live in York."}, user_id="ana")
    assert memory.conflicts.list(None, user_id="ana") == []


def test_an_outcome_leaves_the_memories_of_other_users_as_they_are(memory: NeuroGraphMemory) -> None:
    ids = [memory.add(f"The pump of {name} leaks.", user_id=name)[0] for name in ("bob", "ana")]
    (shared,) = memory.add("A pump needs oil.")
    told: list[object] = []
    memory.on("learned", lambda learned, _: told.extend(learned))
    before = [memory.get(name).importance for name in (*ids, shared)]
    memory.record_event("I oiled the pump.", used=[*ids, shared], outcome=-1, user_id="ana")
    bob, ana, common = (memory.get(name).importance for name in (*ids, shared))
    assert bob == before[0]
    assert ana < before[1]
    assert common < before[2]
    assert told == [ids[1], shared]
