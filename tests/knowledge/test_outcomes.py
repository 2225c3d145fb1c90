"""Conflicts between stated facts: recorded in the delta that writes them, resolved, taken back, erased."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neurogated import ANY_USER, Conflict, MemoryConfig, NeuroGraphMemory
from neurogated.administration import import_memory
from neurogated.compose import build
from neurogated.core.conflicts import CONFLICT
from neurogated.core.filters import Filter
from neurogated.errors import InputError, UnknownIdError
from neurogated.testing import ManualClock

YEAR = timedelta(days=365)
START = datetime(2020, 1, 1, tzinfo=UTC)


def opened(**changes: object) -> NeuroGraphMemory:
    return NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash").replace(**changes))


def timed(clock: ManualClock) -> NeuroGraphMemory:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    return NeuroGraphMemory(config, parts=build(config, clock=clock))


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with opened() as memory:
        yield memory


def lives(memory: NeuroGraphMemory, city: str, year: int | None, user: str | None = "ana") -> str:
    return memory.facts.add(
        "Ana", "city", city, user_id=user, valid_from=None if year is None else datetime(year, 1, 1, tzinfo=UTC)
    )


def only(conflicts: Sequence[Conflict]) -> Conflict:
    (conflict,) = conflicts
    return conflict


def test_a_later_value_supersedes_the_earlier_one_and_both_stay(memory: NeuroGraphMemory) -> None:
    old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    conflict = only(memory.conflicts.list("resolved", user_id="ana"))
    assert (conflict.first, conflict.second, conflict.loser) == (old, new, old)
    assert (conflict.outcome, conflict.instruction) == ("superseded", "restructure")
    assert memory.get(old).valid_to == datetime(2022, 1, 1, tzinfo=UTC)
    assert memory.get(new).valid_to is None
    then = [fact.value for fact in memory.facts.list(valid_at=datetime(2021, 1, 1, tzinfo=UTC), user_id="ana")]
    now = [fact.value for fact in memory.facts.list(valid_at=datetime(2023, 1, 1, tzinfo=UTC), user_id="ana")]
    assert (then, now) == (["Lyon"], ["Paris"])
    assert [entry.reason for entry in memory.history.list()] == ["add", "add"]


def test_values_of_the_same_day_are_contested_and_nothing_changes(memory: NeuroGraphMemory) -> None:
    first, second = (lives(memory, city, None) for city in ("Lyon", "Paris"))
    conflict = only(memory.conflicts.list(user_id="ana"))
    assert (conflict.outcome, conflict.loser, conflict.instruction) == ("contested", None, "confirm")
    assert "Lyon" in conflict.question
    assert "Paris" in conflict.question
    assert [memory.get(one).valid_to for one in (first, second)] == [None, None]


@pytest.mark.parametrize(
    ("attribute", "values"),
    [("speaks", ("French", "Spanish")), ("city", ("Lyon", "Lyon")), ("hobby", ("chess", "rowing"))],
)
def test_attributes_of_many_values_and_equal_values_are_no_conflict(
    memory: NeuroGraphMemory, attribute: str, values: tuple[str, str]
) -> None:
    for place, value in enumerate(values):
        memory.facts.add("Ana", attribute, value, timestamp=START + place * YEAR)
    assert memory.conflicts.list(None) == []


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
    memory.conflicts.resolve(only(memory.conflicts.list(user_id="ana")).id, "both")
    assert memory.count(user_id="ana", kinds=[CONFLICT]) == 1
    assert memory.count(user_id="ana") == 2


def test_an_outcome_can_be_given_again_and_undone(memory: NeuroGraphMemory) -> None:
    old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    conflict = only(memory.conflicts.list(None, user_id="ana"))
    before = [memory.get(one) for one in (old, new)]
    wrong = memory.conflicts.resolve(conflict.id, old, because="She never left.")
    assert (wrong.outcome, wrong.loser, wrong.because) == ("wrong", new, "She never left.")
    assert memory.get(old).valid_to is None
    assert memory.facts.list(valid_at=datetime(2030, 1, 1, tzinfo=UTC), user_id="ana")[0].value == "Lyon"
    assert memory.conflicts.resolve(conflict.id, "both").outcome == "contested"
    assert [memory.get(one).valid_to for one in (old, new)] == [None, None]
    assert memory.get(new).valid_from == datetime(2022, 1, 1, tzinfo=UTC)
    memory.conflicts.resolve(conflict.id, "supersede")
    assert [memory.get(one) for one in (old, new)] == before
    memory.undo(to=2)
    assert [memory.get(one) for one in (old, new)] == before
    assert only(memory.conflicts.list(None, user_id="ana")) == conflict
    memory.undo(to=1)
    assert memory.conflicts.list(None, user_id=ANY_USER) == []
    assert memory.get(old).valid_to is None


def test_the_past_shows_what_was_believed_then(memory: NeuroGraphMemory) -> None:
    old, _ = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    memory.conflicts.resolve(only(memory.conflicts.list(None, user_id="ana")).id, old)
    ends = [memory.store.as_of(n).get_node(old).valid_to for n in (2, 3)]
    assert ends == [datetime(2022, 1, 1, tzinfo=UTC), None]
    assert memory.store.as_of(1).get_node(old).valid_to is None


def test_a_new_text_ends_the_conflict(memory: NeuroGraphMemory) -> None:
    first, _ = lives(memory, "Lyon", None), lives(memory, "Paris", None)
    memory.update(first, "Ana city: Paris")
    assert memory.conflicts.list(None, user_id=ANY_USER) == []


def test_the_same_fact_stated_again_keeps_its_outcome(memory: NeuroGraphMemory) -> None:
    old, _ = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    lives(memory, "Lyon", 2020)
    assert memory.get(old).valid_to == datetime(2022, 1, 1, tzinfo=UTC)
    assert len(memory.conflicts.list(None, user_id="ana")) == 1


def years(memory: NeuroGraphMemory, *ids: str) -> list[tuple[int | None, int | None]]:
    def year(moment: datetime | None) -> int | None:
        return None if moment is None else moment.year

    return [(year(node.valid_from), year(node.valid_to)) for node in map(memory.get, ids)]


def values_in(memory: NeuroGraphMemory, year: int) -> list[str | None]:
    return [fact.value for fact in memory.facts.list(valid_at=datetime(year, 6, 1, tzinfo=UTC), user_id="ana")]


def between(memory: NeuroGraphMemory, *sides: str) -> Conflict:
    return only([one for one in memory.conflicts.list(None, user_id="ana") if set(one.sides) == set(sides)])


@pytest.mark.parametrize("lifetimes", [(1,), (9, 1), (1, 9, 1)])
@pytest.mark.parametrize("cleanup", ["add", "compact"])
def test_a_conflict_ends_when_a_side_expires(lifetimes: tuple[int, ...], cleanup: str) -> None:
    clock = ManualClock()
    with timed(clock) as memory:
        old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
        for days in lifetimes:
            memory.update(new, ttl=timedelta(days=days))
        clock.advance(timedelta(days=2))
        memory.add("The sun is out.") if cleanup == "add" else memory.admin.compact()
        assert years(memory, old) == [(2020, None)]
        assert memory.count(user_id=ANY_USER, kinds=[CONFLICT]) == 0
        assert memory.store.find(Filter(kinds=(CONFLICT,))) == []


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
        for place, (year, days) in enumerate(stated):
            clock.advance(timedelta(minutes=1))
            ids.append(lives(memory, f"City{place}", year))
            if days is not None:
                memory.update(ids[-1], ttl=timedelta(days=days))
        for place, is_first in answers:
            if conflicts := memory.conflicts.list(None, user_id="ana"):
                one = conflicts[place % len(conflicts)]
                memory.conflicts.resolve(one.id, one.first if is_first else one.second)
        for _ in range(3):
            clock.advance(timedelta(days=1))
            left = [node.id for node in memory.list(user_id="ana")]
            read = years(memory, *left), [values_in(memory, year) for year in range(2000, 2021)]
            memory.admin.compact()
            assert read == (years(memory, *left), [values_in(memory, year) for year in range(2000, 2021)])


@pytest.mark.parametrize("is_wrong", [False, True])
def test_a_deleted_value_leaves_its_neighbours_in_the_order_of_their_times(
    memory: NeuroGraphMemory,
    is_wrong: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    ids = [lives(memory, city, year) for city, year in (("Lyon", 2020), ("Paris", 2022), ("Rome", 2024))]
    if is_wrong:
        memory.conflicts.resolve(between(memory, *ids[1:]).id, ids[2])
    memory.delete(ids[1])
    assert years(memory, ids[0], ids[2]) == [(2020, 2024), (2024, None)]


def test_a_conflict_lives_as_long_as_both_sides() -> None:
    clock = ManualClock()
    with timed(clock) as memory:
        old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
        memory.update(new, ttl=timedelta(days=1))
        memory.update(new, ttl=timedelta(days=9))
        clock.advance(timedelta(days=2))
        memory.add("The sun is out.")
        assert years(memory, old, new) == [(2020, 2022), (2022, None)]
        assert len(memory.conflicts.list(None, user_id="ana")) == 1


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
        assert values_in(memory, 2025) == ["Lyon"]


@pytest.mark.parametrize("because", ["She never left.", None])
@pytest.mark.parametrize("keep", ["first", "both"])
@pytest.mark.parametrize("year", [2022, None])
def test_a_fact_stated_again_does_not_overturn_what_the_user_said(
    memory: NeuroGraphMemory, because: str | None, keep: str, year: int | None
) -> None:
    old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", year)
    conflict = only(memory.conflicts.list(None, user_id="ana"))
    resolved = memory.conflicts.resolve(conflict.id, getattr(conflict, keep, keep), because=because)
    times = years(memory, old, new)
    for city, again in (("Lyon", 2020), ("Paris", year)):
        lives(memory, city, again)
        assert only(memory.conflicts.list(None, user_id="ana")) == resolved
        assert years(memory, old, new) == times


def test_a_wrong_memory_ends_no_other(memory: NeuroGraphMemory) -> None:
    ids = [lives(memory, city, year) for city, year in (("Lyon", 2020), ("Paris", 2022), ("Rome", 2024))]
    conflict = between(memory, *ids[1:])
    memory.conflicts.resolve(conflict.id, ids[2])
    assert years(memory, *ids) == [(2020, 2024), (2022, 2022), (2024, None)]
    assert values_in(memory, 2023) == ["Lyon"]
    memory.conflicts.resolve(conflict.id, "supersede")
    assert years(memory, *ids) == [(2020, 2022), (2022, 2024), (2024, None)]
    memory.conflicts.resolve(conflict.id, ids[2])
    memory.delete(ids[2])
    assert years(memory, *ids[:2]) == [(2020, 2022), (2022, None)]


def test_the_end_of_a_memory_moves_with_the_one_that_replaced_it(memory: NeuroGraphMemory) -> None:
    old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    memory.update(new, valid_from=datetime(2024, 1, 1, tzinfo=UTC))
    assert years(memory, old, new) == [(2020, 2024), (2024, None)]
    memory.update(old, valid_from=datetime(2023, 1, 1, tzinfo=UTC), metadata={"seen": True})
    assert years(memory, old, new) == [(2023, 2024), (2024, None)]
    memory.update(old, valid_from=datetime(2025, 1, 1, tzinfo=UTC))
    assert years(memory, old, new) == [(2025, None), (2024, 2025)]
    memory.update(new, metadata={"seen": True})
    memory.delete(old)
    assert years(memory, new) == [(2024, None)]


def test_a_fact_that_moves_to_the_day_of_the_one_that_replaced_it_is_asked_about(memory: NeuroGraphMemory) -> None:
    old, new = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    memory.update(old, valid_from=datetime(2022, 1, 1, tzinfo=UTC))
    assert [one.status for one in memory.conflicts.list(None, user_id="ana")] == ["open"]
    assert years(memory, old, new) == [(2022, None), (2022, None)]


def test_a_value_between_two_others_takes_their_conflict_apart(memory: NeuroGraphMemory) -> None:
    first, last = lives(memory, "Lyon", 2020), lives(memory, "Rome", 2024)
    between = lives(memory, "Paris", 2022)
    sides = {one.sides for one in memory.conflicts.list(None, user_id="ana")}
    assert sides == {(first, between), (last, between)}


def test_a_new_text_has_the_times_that_were_given(memory: NeuroGraphMemory) -> None:
    old, _ = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
    memory.update(old, "Ana city: Paris")
    assert years(memory, old) == [(2020, None)]
    assert memory.get(old).found.given is None


CITIES = ("Lyon", "Paris", "Rome", "Oslo", "Turin")


@given(st.permutations(range(5)), st.lists(st.integers(0, 9), max_size=4))
def test_the_times_of_values_do_not_depend_on_the_order_in_which_they_are_stated(
    order: list[int], removed: list[int]
) -> None:
    with opened() as memory:
        ids = {place: lives(memory, CITIES[place], 2000 + place) for place in order}
        left = sorted(set(ids) - {n for n in removed if n < len(CITIES)})
        for place in ids.keys() - set(left):
            memory.delete(ids[place])
        ends = [memory.get(ids[place]).valid_to for place in left]
        expected = [datetime(2000 + place, 1, 1, tzinfo=UTC) for place in left[1:]]
        assert ends == [*expected, None][: len(left)]


@given(st.lists(st.tuples(st.integers(0, 9), st.sampled_from(["first", "second", "both", "supersede"])), max_size=8))
def test_outcomes_of_several_conflicts_are_independent(choices: list[tuple[int, str]]) -> None:
    with opened() as memory:
        ids = [lives(memory, city, 2000 + place) for place, city in enumerate(CITIES[:4])]
        start = [memory.get(one) for one in ids]
        conflicts = memory.conflicts.list(None, user_id="ana")
        for place, choice in choices:
            conflict = conflicts[place % len(conflicts)]
            memory.conflicts.resolve(conflict.id, getattr(conflict, choice, choice))
        for conflict in conflicts:
            memory.conflicts.resolve(conflict.id, "both")
        assert [(memory.get(one).valid_from, memory.get(one).valid_to) for one in ids] == [
            (node.valid_from, None) for node in start
        ]
        for conflict in reversed(conflicts):
            memory.conflicts.resolve(conflict.id, "supersede")
        assert [memory.get(one) for one in ids] == start


def test_callbacks_hear_of_each_new_conflict_once(memory: NeuroGraphMemory) -> None:
    heard: list[Conflict] = []
    memory.on("conflict", heard.append)
    for city in ("Lyon", "Paris", "Paris"):
        lives(memory, city, None)
    assert heard == memory.conflicts.list(user_id="ana")


def test_wrong_arguments_change_nothing(memory: NeuroGraphMemory) -> None:
    first, _ = lives(memory, "Lyon", None), lives(memory, "Paris", None)
    conflict = only(memory.conflicts.list(user_id="ana"))
    for wrong in ("neither", "", conflict.id):
        with pytest.raises(InputError):
            memory.conflicts.resolve(conflict.id, wrong)
    for missing in ("conflict-x", first):
        with pytest.raises(UnknownIdError):
            memory.conflicts.resolve(missing, "both")
    with pytest.raises(InputError):
        memory.conflicts.list("closed")  # type: ignore[arg-type]
    assert only(memory.conflicts.list(user_id="ana")) == conflict


def test_exports_keep_conflicts_and_compaction_erases_them(tmp_path: Path) -> None:
    config = MemoryConfig(save_dir=str(tmp_path / "one"), embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        old, _ = lives(memory, "Lyon", 2020), lives(memory, "Paris", 2022)
        memory.conflicts.resolve(only(memory.conflicts.list(None, user_id="ana")).id, old, because="secret reason")
        found = memory.conflicts.list(None, user_id="ana")
        memory.admin.export(tmp_path / "export")
        memory.delete(user_id="ana")
        memory.admin.compact()
        files = [path.read_bytes() for path in Path(config.save_dir).rglob("*") if path.is_file()]
        assert not any(b"secret reason" in data for data in files)
    copy = config.replace(save_dir=str(tmp_path / "two"))
    import_memory(copy, tmp_path / "export")
    with NeuroGraphMemory(copy) as other:
        assert other.conflicts.list(None, user_id="ana") == found


def test_callers_cannot_make_or_change_conflicts(memory: NeuroGraphMemory) -> None:
    (told,) = memory.add("Ana has a nut allergy.")
    for forge in (
        lambda: memory.add("Ana has a nut allergy.", kind="conflict", metadata={"first": told, "second": told}),
        lambda: memory.record_event("Asked Ana.", kind="conflict"),
        lambda: memory.update(told, kind="conflict"),
        lambda: memory.add_document("Ana has a nut allergy.", kind="conflict"),
    ):
        with pytest.raises(InputError):
            forge()
    assert memory.conflicts.list() == []
    first, second = memory.facts.add("Ana", "city", "Lyon"), memory.facts.add("Ana", "city", "Rome")
    (conflict,) = memory.conflicts.list()
    memory.conflicts.resolve(conflict.id, "both")
    with pytest.raises(InputError):
        memory.update(conflict.id, metadata={"loser": first})
    assert (conflict.first, conflict.second) == (first, second)
