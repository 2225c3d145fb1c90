"""Stated facts about one subject: which of them are in conflict."""

from __future__ import annotations

from neurogated import MemoryConfig, NeuroGraphMemory


def opened(**changes: object) -> NeuroGraphMemory:
    return NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash").replace(**changes))


def test_attributes_with_different_numbers_are_different_attributes() -> None:
    with opened() as memory:
        for number in range(3):
            memory.facts.add("Ana", f"phone {number}", "0113 496", user_id="ana")
        assert memory.conflicts.list(None, user_id="ana") == []


def test_one_may_have_several_sons() -> None:
    with opened() as memory:
        for name in ("Tom", "Max"):
            memory.facts.add("Ana", "son", name, user_id="ana")
        assert memory.conflicts.list(None, user_id="ana") == []


def test_a_fact_meets_those_of_its_attribute_however_many_others_came_since() -> None:
    with opened() as memory:
        old = memory.facts.add("Ana", "lives in", "Lyon", user_id="ana")
        for hobby in range(40):
            memory.facts.add("Ana", "hobby", f"game {hobby}", user_id="ana")
        new = memory.facts.add("Ana", "home", "Paris", user_id="ana")
        assert [one.sides for one in memory.conflicts.list(None, user_id="ana")] == [(old, new)]
