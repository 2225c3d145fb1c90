"""Conflicts between stated facts: recorded in the delta that writes them, resolved, taken back, erased."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neurogated import ANY_USER, Conflict, MemoryConfig, NeuroGraphMemory
from neurogated.core.conflicts import CONFLICT
from neurogated.core.filters import Filter
from neurogated.errors import InputError, UnknownIdError
from neurogated.session.administration import import_memory
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
