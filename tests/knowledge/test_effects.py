"""`effects` tells each change that an answer to a conflict would make, and writes nothing."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import ANY_USER, Effect, GraphDelta, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.core.conflicts import CONFLICT, Validity
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Filter
from neurogated.core.scope import Scope, ScopeFilter
from neurogated.errors import UnknownIdError
from neurogated.testing import ManualClock
from tests.knowledge.stated import lives, opened

START = datetime(2020, 1, 1, tzinfo=UTC)
YEAR = timedelta(days=365)


def state_of(memory: NeuroGraphMemory) -> dict[str, Validity]:
    """Return the valid times of all memories."""
    nodes = memory.store.snapshot(filters=Filter(scope=ScopeFilter(ANY_USER))).find()
    return {node.id: (node.valid_from, node.valid_to) for node in nodes if node.kind != CONFLICT}


def derive(memory: NeuroGraphMemory, source: str) -> str:
    """Store a fact that was made from a memory, and return its id."""
    fact = MemoryNode("derived", "Ana lives in a city.", kind="fact", scope=Scope("ana"))
    edge = MemoryEdge(fact.id, source, EdgeType.DERIVED_FROM)
    memory.store.apply(GraphDelta(nodes=(fact,), edges=(edge,), reason="consolidate", at=ManualClock().now))
    return fact.id


@given(
    years=st.lists(st.none() | st.integers(0, 4), min_size=2, max_size=4),
    answers=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=4),
)
def test_each_answer_changes_all_that_its_effect_tells_and_nothing_else(
    years: list[int | None], answers: list[tuple[int, int]]
) -> None:
    with opened() as memory:
        for number, year in enumerate(years):
            begin = None if year is None else START + year * YEAR
            memory.facts.add("Ana", "city", f"City{number}", user_id="ana", valid_from=begin)
        for place, answer in answers:
            conflicts = memory.conflicts.list(None, user_id="ana")
            conflict = conflicts[place % len(conflicts)]
            before, written = state_of(memory), len(memory.history.list())
            effects = memory.conflicts.effects(conflict.id)
            assert [effect.keep for effect in effects] == [*conflict.sides, "both", "supersede"]
            assert len(memory.history.list()) == written
            assert all(set(conflict.sides) <= set(effect.times) for effect in effects)
            effect = effects[answer]
            resolved = memory.conflicts.resolve(conflict.id, effect.keep)
            assert (resolved.outcome, resolved.loser) == (effect.outcome, effect.loser)
            after = state_of(memory)
            changed = {name for name in before if before[name] != after.get(name)}
            assert changed == set(effect.changed)
            assert {name: (before[name], after[name]) for name in effect.times} == dict(effect.times)
            present = memory.conflicts.list(None, user_id="ana")
            were_open = {one.id for one in conflicts if one.status == "open"}
            reopened = {one.id for one in present if one.status == "open"} - were_open
            assert reopened == set(effect.opened)
            touched = {one.id for one in present if changed & set(one.sides)}
            assert touched - {conflict.id} - reopened == set(effect.touched)


def test_facts_made_from_a_memory_that_changes_are_told(memory: NeuroGraphMemory) -> None:
    first, second = (lives(memory, city, None) for city in ("Lyon", "Paris"))
    fact = derive(memory, first)
    (conflict,) = memory.conflicts.list(user_id="ana")
    effects: dict[str, Effect] = {effect.keep: effect for effect in memory.conflicts.effects(conflict.id)}
    assert effects[second].removed == (fact,)
    assert effects[first].removed == effects["both"].removed == ()
    memory.conflicts.resolve(conflict.id, second)
    with pytest.raises(UnknownIdError):
        memory.get(fact)
