"""A context marks the memories that are in conflict."""

from __future__ import annotations

from neurogated import MemoryConfig, NeuroGraphMemory


def test_both_sides_of_a_conflict_are_marked_until_it_is_resolved(tmp_path: object) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        lyon = memory.add_fact("Ana", "city", "Lyon", user_id="ana")
        rome = memory.add_fact("Ana", "city", "Rome", user_id="ana")
        memory.add_fact("Bob", "city", "Oslo", user_id="ana")
        context = memory.get_context("Where is Ana's city?", user_id="ana")
        (conflict,) = context.conflicts
        assert set(conflict.sides) == {lyon, rome}
        assert "Lyon" in conflict.question
        marked = [line for line in context.text.splitlines() if line.startswith("- [contested] ")]
        assert len(marked) == 2
        memory.resolve(conflict.id, keep=rome)
        lines = memory.get_context("Where is Ana's city?", user_id="ana").text.splitlines()
        assert [line for line in lines if line.startswith("- [")] == [
            next(line for line in lines if line.startswith("- [wrong] Ana city: Lyon"))
        ]
