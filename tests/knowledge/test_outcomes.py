"""Conflicts between stated facts: outcomes, records and valid times, and what an answer would change."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neurogated import (
    ANY_USER,
    Conflict,
    EdgeType,
    Effect,
    GraphDelta,
    MemoryConfig,
    MemoryEdge,
    MemoryNode,
    NeuroGraphMemory,
)
from neurogated.core.conflicts import CONFLICT, Validity
from neurogated.core.delta import Owner
from neurogated.core.filters import Filter
from neurogated.core.scope import Scope, ScopeFilter
from neurogated.errors import InputError, UnknownIdError
from neurogated.session.administration import import_memory
from neurogated.session.compose import build
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.verify import disagreements
from neurogated.testing import ManualClock
from tests.knowledge.model_server import erased
from tests.knowledge.stated import lives, only, opened, timed, values_at, year, years


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with opened() as memory:
        yield memory


def test_a_later_value_supersedes_the_earlier_one_and_both_stay(memory: NeuroGraphMemory) -> None:
    old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    conflict = only(memory)
    assert (conflict.first, conflict.second, conflict.loser) == (old, new, old)
    assert (conflict.status, conflict.outcome, conflict.instruction) == ("resolved", "superseded", "restructure")
    assert memory.get(old).valid_to == year(2022)
    assert memory.get(new).valid_to is None
    assert [values_at(memory, year(at)) for at in (2021, 2023)] == [["Lyon"], ["Paris"]]
    assert [entry.reason for entry in memory.history.list()] == ["add", "add"]


def test_values_of_the_same_day_are_contested_and_nothing_changes(memory: NeuroGraphMemory) -> None:
    first, second = (lives(memory, city, None) for city in ("Lyon", "Paris"))
    conflict = only(memory)
    assert (conflict.status, conflict.outcome, conflict.loser) == ("open", "contested", None)
    assert conflict.instruction == "confirm"
    assert "Lyon" in conflict.question
    assert "Paris" in conflict.question
    assert [memory.get(one).valid_to for one in (first, second)] == [None, None]


def test_users_never_conflict_and_see_their_own_conflicts_only(memory: NeuroGraphMemory) -> None:
    for city, user in (("Lyon", "ana"), ("Paris", "ben"), ("Rome", None)):
        lives(memory, city, None, user)
    assert memory.conflicts.list(None, user_id=ANY_USER) == []
    lives(memory, "Nice", None, "ana")
    assert memory.conflicts.list(None) == []
    assert memory.conflicts.list(None, user_id="ben") == []
    assert len(memory.conflicts.list(None, user_id="ana")) == 1
    memory.delete(user_id="ana")
    assert memory.conflicts.list(None, user_id=ANY_USER) == []


def test_conflicts_are_listed_with_the_latest_first_up_to_a_limit() -> None:
    clock, ids = ManualClock(), list[str]()
    with timed(clock) as memory:
        for attribute in ("city", "job", "car"):
            for value in ("one", "other"):
                clock.advance(timedelta(minutes=1))
                memory.facts.add("Ana", attribute, value, user_id="ana")
            ids += [one.id for one in memory.conflicts.list(user_id="ana") if one.id not in ids]
        memory.conflicts.resolve(ids[1], "both")
        for status, wanted in ((None, ids[::-1]), ("open", [ids[2], ids[0]])):
            for limit in (None, 1):
                found = memory.conflicts.list(status, user_id="ana", limit=limit)  # type: ignore[arg-type]
                assert [one.id for one in found] == wanted[:limit]
        with pytest.raises(InputError, match="limit"):
            memory.conflicts.list(user_id="ana", limit=-1)


def test_a_conflict_is_no_memory(memory: NeuroGraphMemory) -> None:
    for city in ("Lyon", "Paris"):
        lives(memory, city, None)
    kinds = {node.kind for node in memory.list(user_id="ana")} | {node.kind for node in memory.find(user_id="ana")}
    assert kinds == {"fact"}
    assert memory.count(user_id="ana") == sum(memory.energy.tiers(user_id="ana").counts.values()) == 2
    assert {one.node.kind for one in memory.recall("Ana city conflict", top_n=9, user_id="ana")} == {"fact"}
    assert {one.node.kind for one in memory.energy.canvas(user_id="ana")} == {"fact"}
    assert memory.count(user_id="ana", kinds=[CONFLICT]) == 0
    memory.conflicts.resolve(only(memory).id, "both")
    assert memory.count(user_id="ana", kinds=[CONFLICT]) == 1
    assert memory.count(user_id="ana") == 2


def test_an_outcome_can_be_given_again_and_undone(memory: NeuroGraphMemory) -> None:
    old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    conflict = only(memory)
    before = [memory.get(one) for one in (old, new)]
    wrong = memory.conflicts.resolve(conflict.id, old, because="She never left.")
    assert (wrong.outcome, wrong.loser, wrong.because) == ("wrong", new, "She never left.")
    assert memory.get(old).valid_to is None
    assert memory.facts.list(valid_at=year(2030), user_id="ana")[0].value == "Lyon"
    assert memory.conflicts.resolve(conflict.id, "both").outcome == "contested"
    assert [memory.get(one).valid_to for one in (old, new)] == [None, None]
    assert memory.get(new).valid_from == year(2022)
    memory.conflicts.resolve(conflict.id, "supersede")
    assert [memory.get(one) for one in (old, new)] == before
    memory.undo(to=2)
    assert [memory.get(one) for one in (old, new)] == before
    assert only(memory) == conflict
    memory.undo(to=1)
    assert memory.conflicts.list(None, user_id=ANY_USER) == []
    assert memory.get(old).valid_to is None


def between(memory: NeuroGraphMemory, *sides: str) -> Conflict:
    (conflict,) = [one for one in memory.conflicts.list(None, user_id="ana") if set(one.sides) == set(sides)]
    return conflict


@pytest.mark.parametrize("lifetimes", [(1,), (9, 1), (1, 9, 1), (1, 9)])
@pytest.mark.parametrize("cleanup", ["add", "compact"])
def test_a_conflict_ends_when_a_side_expires_and_not_before(lifetimes: tuple[int, ...], cleanup: str) -> None:
    clock = ManualClock()
    with timed(clock) as memory:
        old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
        for days in lifetimes:
            memory.update(new, ttl=timedelta(days=days))
        clock.advance(timedelta(days=2))
        memory.add("The sun is out.") if cleanup == "add" else memory.admin.compact()
        is_over = lifetimes[-1] == 1
        assert years(memory, old) == [(2020, None if is_over else 2022)]
        assert bool(memory.conflicts.list(None, user_id="ana")) is not is_over
        assert memory.store.snapshot(filters=Filter(kinds=(CONFLICT,))).find() == []


_STATED = st.lists(st.tuples(st.integers(2000, 2020), st.none() | st.integers(1, 3)), min_size=2, max_size=6)


@given(_STATED, st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=2))
@example([(2020, None), (2022, 1)], [])
@example([(2020, None), (2022, 1), (2024, None)], [])
@example([(2020, None), (2022, None), (2024, 1)], [(1, True)])
@example([(2000, None), (2001, 1), (2001, None)], [(0, False)])
@example([(2000, None), (2000, None), (2002, 1), (2001, None)], [(0, False)])
def test_what_has_expired_has_no_effect_before_it_is_removed(
    stated: list[tuple[int, int | None]], answers: list[tuple[int, bool]]
) -> None:
    """The reference is the memory after the removal."""
    clock = ManualClock()
    with timed(clock) as memory:
        ids = []
        for place, (since, days) in enumerate(stated):
            clock.advance(timedelta(minutes=1))
            ids.append(lives(memory, f"City{place}", since))
            if days is not None:
                memory.update(ids[-1], ttl=timedelta(days=days))
        for place, is_first in answers:
            if conflicts := memory.conflicts.list(None, user_id="ana"):
                one = conflicts[place % len(conflicts)]
                memory.conflicts.resolve(one.id, one.first if is_first else one.second)
        for _ in range(3):
            clock.advance(timedelta(days=1))
            left = [node.id for node in memory.list(user_id="ana")]
            read = years(memory, *left), [values_at(memory, year(n)) for n in range(2000, 2021)]
            memory.admin.compact()
            assert read == (years(memory, *left), [values_at(memory, year(n)) for n in range(2000, 2021)])


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_an_undo_does_not_bring_back_the_outcome_of_an_erased_conflict(tmp_path: Path, storage: str) -> None:
    with opened(storage=storage, save_dir=str(tmp_path)) as memory:
        old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
        latest = lives(memory, "Rome", 2024)
        before = memory.history.list()[-1].sequence
        memory.delete(new)
        memory.admin.compact()
        memory.undo(to=before)
        assert years(memory, old, latest) == [(2020, 2024), (2024, None)]
        memory.delete(latest)
        memory.admin.compact()
        memory.undo(to=before)
        assert years(memory, old) == [(2020, None)]
        assert values_at(memory, year(2025)) == ["Lyon"]


@pytest.mark.parametrize(
    ("keep", "because"), [(None, None), *((keep, why) for keep in ("first", "both") for why in ("She stayed.", None))]
)
@pytest.mark.parametrize("since", [2022, None])
def test_a_fact_stated_again_overturns_neither_an_outcome_nor_what_the_user_said(
    memory: NeuroGraphMemory, keep: str | None, because: str | None, since: int | None
) -> None:
    old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", since)
    conflict = only(memory)
    if keep is not None:
        conflict = memory.conflicts.resolve(conflict.id, getattr(conflict, keep, keep), because=because)
    times = years(memory, old, new)
    for city, again in (("Lyon", 2020), ("Paris", since)):
        lives(memory, city, again)
        assert only(memory) == conflict
        assert years(memory, old, new) == times


def test_a_wrong_memory_ends_no_other(memory: NeuroGraphMemory) -> None:
    ids = [lives(memory, city, since) for city, since in (("Lyon", 2020), ("Paris", 2022), ("Rome", 2024))]
    conflict = between(memory, *ids[1:])
    memory.conflicts.resolve(conflict.id, ids[2])
    assert years(memory, *ids) == [(2020, 2024), (2022, 2022), (2024, None)]
    assert values_at(memory, year(2023)) == ["Lyon"]
    memory.conflicts.resolve(conflict.id, "supersede")
    assert years(memory, *ids) == [(2020, 2022), (2022, 2024), (2024, None)]
    memory.conflicts.resolve(conflict.id, ids[2])
    memory.delete(ids[2])
    assert years(memory, *ids[:2]) == [(2020, 2022), (2022, None)]


def test_the_end_of_a_memory_moves_with_the_one_that_replaced_it(memory: NeuroGraphMemory) -> None:
    old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    memory.update(new, valid_from=year(2024))
    assert years(memory, old, new) == [(2020, 2024), (2024, None)]
    memory.update(old, valid_from=year(2023), metadata={"seen": True})
    assert years(memory, old, new) == [(2023, 2024), (2024, None)]
    memory.update(old, valid_from=year(2025))
    assert years(memory, old, new) == [(2025, None), (2024, 2025)]
    memory.update(new, metadata={"seen": True})
    memory.delete(old)
    assert years(memory, new) == [(2024, None)]


def test_wrong_arguments_change_nothing(memory: NeuroGraphMemory) -> None:
    first, _ = lives(memory, "Lyon", None), lives(memory, "Paris", None)
    conflict = only(memory)
    for wrong in ("neither", "", conflict.id):
        with pytest.raises(InputError):
            memory.conflicts.resolve(conflict.id, wrong)
    for missing in ("conflict-x", first):
        with pytest.raises(UnknownIdError):
            memory.conflicts.resolve(missing, "both")
    with pytest.raises(InputError):
        memory.conflicts.list("closed")  # type: ignore[arg-type]
    assert only(memory) == conflict


def test_exports_keep_conflicts_and_compaction_erases_them(tmp_path: Path) -> None:
    config = MemoryConfig(save_dir=str(tmp_path / "one"), embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        old, _ = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
        memory.conflicts.resolve(only(memory).id, old, because="secret reason")
        found = memory.conflicts.list(None, user_id="ana")
        memory.admin.export(tmp_path / "export")
        memory.delete(user_id="ana")
        memory.admin.compact()
        assert erased(config.save_dir, b"secret reason")
    copy = config.replace(save_dir=str(tmp_path / "two"))
    import_memory(copy, tmp_path / "export")
    with NeuroGraphMemory(copy) as other:
        assert other.conflicts.list(None, user_id="ana") == found


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


def settings(storage: str, folder: Path) -> MemoryConfig:
    return MemoryConfig(storage=storage, embedding_name="hash", save_dir=str(folder))


@pytest.fixture(params=["memory", "sqlite"])
def kept(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NeuroGraphMemory]:
    config = settings(request.param, tmp_path / "memory")
    with NeuroGraphMemory(config, parts=build(config, clock=ManualClock())) as kept:
        yield kept


def test_no_outcome_is_stored_in_the_times_that_the_caller_gives(kept: NeuroGraphMemory) -> None:
    old, new = lives(kept, "Leeds", 2020), lives(kept, "York", 2022)
    kept.conflicts.resolve(only(kept).id, new)
    stored = [node for entry in kept.store.journal() for node in entry.delta.nodes if node.id in {old, new}]
    assert {(node.id, node.valid_from, node.valid_to, node.found.given) for node in stored} == {
        (old, year(2020), None, None),
        (new, year(2022), None, None),
    }
    assert values_at(kept, year(2021)) == []


def test_a_winner_that_begins_earlier_ends_the_loser_when_the_conflict_was_found(kept: NeuroGraphMemory) -> None:
    old, new = lives(kept, "Leeds", 2020), lives(kept, "York", 2022)
    found = kept.conflicts.resolve(only(kept).id, "supersede").created_at
    kept.update(new, valid_from=year(2019))
    assert kept.get(old).valid_to == found
    assert values_at(kept, year(2021)) == ["Leeds", "York"]
    kept.update(new, valid_from=year(2023))
    assert kept.get(old).valid_to == year(2023)


def test_of_two_values_that_begin_together_the_superseded_one_held_until_it_was_replaced(
    kept: NeuroGraphMemory,
) -> None:
    old, _ = lives(kept, "Leeds", 2020), lives(kept, "York", 2020)
    conflict = kept.conflicts.resolve(only(kept).id, "supersede")
    assert conflict.loser == old
    assert kept.get(old).valid_to == conflict.created_at
    assert values_at(kept, year(2021)) == ["Leeds", "York"]
    assert conflict.created_at is not None
    assert values_at(kept, conflict.created_at + timedelta(days=1)) == ["York"]


def test_a_file_that_stores_outcomes_beside_given_times_is_read(tmp_path: Path) -> None:
    config = settings("sqlite", tmp_path / "memory")
    with NeuroGraphMemory(config) as kept:
        old, new = lives(kept, "Leeds", 2020), lives(kept, "York", 2022)
    path = tmp_path / "memory" / "memory" / "memory.db"
    with closing(apsw.Connection(str(path))) as file:
        query = "SELECT v.rowid, v.found FROM node_versions v JOIN nodes n ON n.node = v.node WHERE n.id = ?"
        for version, found in list(file.execute(query, (old,))):
            given = json.dumps({**json.loads(found), "given": [year(2020).isoformat(), None]})
            end = int(year(2022).timestamp()) * 10**6
            file.execute("UPDATE node_versions SET found = ?, valid_to = ? WHERE rowid = ?", (given, end, version))
    with NeuroGraphMemory(config) as kept:
        assert kept.get(old).valid_to == year(2022)
        kept.delete(new)
        assert kept.get(old).valid_to is None
        assert values_at(kept, year(2025)) == ["Leeds"]


@pytest.fixture
def conflict(kept: NeuroGraphMemory) -> Conflict:
    for city in ("Leeds", "York"):
        kept.facts.add("Ana", "city", city, user_id="ana")
    (conflict,) = kept.conflicts.list(None, user_id="ana")
    return kept.conflicts.resolve(conflict.id, "both")


def graph(kept: NeuroGraphMemory) -> GraphStore:
    assert isinstance(kept.store, GraphStore)
    return kept.store


def record_of(kept: NeuroGraphMemory, conflict: Conflict) -> MemoryNode:
    return graph(kept).get_node(conflict.id)


def in_use(kept: NeuroGraphMemory) -> None:
    """Make the calls that read conflicts."""
    kept.recall("Where does Ana live?", user_id="ana")
    kept.get_context("Where does Ana live?", user_id="ana")
    kept.conflicts.list(None, user_id="ana")
    kept.facts.add("Ana", "city", "Bath", user_id="ana")
    kept.maintenance()


def test_no_call_makes_or_changes_a_conflict_or_takes_its_id(kept: NeuroGraphMemory, conflict: Conflict) -> None:
    record = record_of(kept, conflict)
    edge = EdgeType.CONFLICT
    attempts: list[Callable[[], object]] = [
        lambda: kept.add("Ana keeps bees.", id=conflict.id, user_id="ana"),
        lambda: kept.update(conflict.id, "Ana keeps bees."),
        lambda: kept.update(conflict.id, metadata={"first": "x"}),
        lambda: kept.update(conflict.first, kind="conflict"),
        lambda: kept.add("Ana keeps bees.", kind="conflict", metadata=record.metadata),
        lambda: kept.add_document("Ana keeps bees.", kind="conflict"),
        lambda: kept.record_event("Asked Ana.", kind="conflict"),
        lambda: graph(kept).add_node(MemoryNode(conflict.id, "Ana keeps bees.", scope=record.scope)),
        lambda: graph(kept).add_node(record),
        lambda: graph(kept).add_node(MemoryNode("mine", "", kind="conflict", metadata=record.metadata)),
        lambda: graph(kept).remove_edge(graph(kept).get_edge(conflict.id, conflict.first)),
        lambda: graph(kept).add_edge(MemoryEdge(conflict.first, conflict.second, edge)),
    ]
    before = kept.history.list()
    for attempt in attempts:
        with pytest.raises(InputError):
            attempt()
    assert kept.history.list() == before
    assert kept.conflicts.list(None, user_id="ana") == [conflict]


@pytest.mark.parametrize(
    "change",
    [
        {"first": None},
        {"second": ""},
        {"kind": "quarrel"},
        {"confidence": 7},
        {"outcome": "maybe"},
        {"loser": "somebody"},
        {"status": "asleep"},
        {"sentences": [1]},
        {"sentences": "ab"},
        {"by_user": 1},
        {"rule": None},
    ],
)
def test_an_invalid_record_is_refused_and_an_old_one_stops_nobody(
    kept: NeuroGraphMemory, conflict: Conflict, change: dict[str, object]
) -> None:
    record = record_of(kept, conflict)
    broken = replace(record, metadata={**record.metadata, **change})
    for owner in (Owner.MEMORY, Owner.IMPORT):
        with pytest.raises(InputError):
            graph(kept).apply(GraphDelta(nodes=(broken,), owner=owner))
    # A file of an older version may hold it.
    graph(kept).apply(GraphDelta(nodes=(broken,), owner=Owner.LOG))
    assert [line for line in disagreements(graph(kept)) if conflict.id in line]
    in_use(kept)
    assert kept.conflicts.resolve(conflict.id, "both").by_user
    kept.delete(user_id="ana")
    assert kept.count(user_id=ANY_USER, kinds=["conflict"]) == kept.count(user_id=ANY_USER) == 0


def test_a_check_finds_a_conflict_with_a_text_a_fact_that_says_something_else_and_an_edge_between_facts(
    kept: NeuroGraphMemory, conflict: Conflict
) -> None:
    texted = replace(record_of(kept, conflict), content="Ana keeps bees.")
    fact = replace(graph(kept).get_node(conflict.first), content="Ana city: Rome")
    edge = MemoryEdge(conflict.first, conflict.second, EdgeType.CONFLICT)
    for delta in (GraphDelta(nodes=(texted,)), GraphDelta(nodes=(fact,)), GraphDelta(edges=(edge,))):
        graph(kept).apply(replace(delta, owner=Owner.LOG))
        assert len(disagreements(graph(kept))) == 1
        kept.history.undo(user_id=ANY_USER)
        assert disagreements(graph(kept)) == []


def test_a_conflict_without_a_side_is_not_listed_and_goes(kept: NeuroGraphMemory, conflict: Conflict) -> None:
    graph(kept).remove_node(conflict.second)
    assert disagreements(graph(kept))
    assert kept.conflicts.list(None, user_id="ana") == []
    kept.recall("Where does Ana live?", user_id="ana")
    kept.maintenance()
    assert not graph(kept).has_node(conflict.id)
    assert disagreements(graph(kept)) == []


def test_a_long_value_blocks_no_fact_about_its_subject(kept: NeuroGraphMemory) -> None:
    kept.facts.add("Ana", "notes", "word " * 1000)
    kept.facts.add("Ana", "city", "Leeds")
    kept.facts.add("Ana", "notes", "others " * 1000)
    assert len(kept.facts.list()) == 3
