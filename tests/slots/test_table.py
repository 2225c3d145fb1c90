"""The values of a slot: a change leaves the same conflicts and valid times as computing all of them anew."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.facts import Entry, Outcome
from neurogated.core.found import Found, Statement
from neurogated.core.model import MemoryNode
from neurogated.core.scope import Scope
from neurogated.slots.claims import entry_of
from neurogated.storage.index.graph.validity import OutcomeChanges, RowOutcomes

START = datetime(2020, 1, 1, tzinfo=UTC)
VALUES = ("Ghent", "Belgium", "Leeds", "York", "not Ghent", "Gent", "not Leeds")
_ROWS = 8


def entry(row: int, value: str, day: int | None, attribute: str) -> Entry:
    """Return a stated fact; one that begins with `not` denies the rest."""
    at = START + timedelta(days=row)
    statement = Statement("Ana", attribute, value.removeprefix("not "), is_denied=value.startswith("not "))
    begin = None if day is None else START + timedelta(days=day)
    node = MemoryNode(
        f"fact-{row}", statement.text, kind="fact", scope=Scope("ana"), created_at=at, valid_from=begin,
        found=Found(statement=statement),
    )  # fmt: skip
    found = entry_of(node, row)
    assert found is not None
    return found


_PUT = st.tuples(st.sampled_from(VALUES), st.none() | st.integers(0, 6))
_CHANGE = st.one_of(
    st.tuples(st.just("put"), st.integers(0, _ROWS - 1), _PUT),
    st.tuples(st.just("remove"), st.integers(0, _ROWS - 1), st.none()),
    st.tuples(
        st.just("answer"),
        st.tuples(st.integers(0, _ROWS - 1), st.integers(0, _ROWS - 1)),
        st.sampled_from(["first", "second", "both", "supersede", "none"]),
    ),
)


@given(changes=st.lists(_CHANGE, max_size=25), attribute=st.sampled_from(["home", "likes"]))
def test_changes_one_by_one_leave_what_all_at_once_leave(changes: list[tuple[str, Any, Any]], attribute: str) -> None:
    grown = RowOutcomes()
    entries, answers = dict[int, Entry](), dict[int, Outcome]()
    for kind, place, what in changes:
        if kind == "put":
            entries[place] = entry(place, what[0], what[1], attribute)
            grown.update(OutcomeChanges(entries={place: entries[place]}))
        elif kind == "remove" and place in entries:
            del entries[place]
            gone = [row for row, one in answers.items() if place in one.sides]
            for row in gone:
                del answers[row]
            grown.update(OutcomeChanges(removed=[place, *gone]))
        elif kind == "answer" and set(place) <= entries.keys() and place[0] != place[1]:
            row = 100 + min(place) * _ROWS + max(place)
            loser = {"first": place[0], "second": place[1], "supersede": place[0]}.get(what)
            outcome = Outcome(place, loser, what in {"first", "second"}, START, by_user=True)
            answers.pop(row, None)
            if what != "none":
                answers[row] = outcome
            grown.update(OutcomeChanges(outcomes={row: answers.get(row)}))
    whole = RowOutcomes()
    whole.update(OutcomeChanges(outcomes=answers, entries=entries))
    assert grown.valid == whole.valid
    assert {*grown.disputes()} == {*whole.disputes()}
    assert {key: slot.entries for key, slot in grown.slots.items()} == {
        key: slot.entries for key, slot in whole.slots.items()
    }
