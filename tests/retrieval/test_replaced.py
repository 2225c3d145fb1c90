"""Recalls tell which memories are in conflict, and show no words that the filters hide or that came later."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from tests.knowledge.plain_reader import config_of

QUESTION = "Where do I live?"
HIDDEN = [{"path": ["work"]}, {"session_id": "w"}, {"tags": ["work"]}]


@pytest.fixture
def config(read_by_model: Mapping[str, Any], storage: str, tmp_path: Path) -> MemoryConfig:
    """Return settings with a model that reads what messages say."""
    return config_of(read_by_model, storage=storage, save_dir=str(tmp_path / "out"))


@pytest.fixture
def cities(memory: NeuroGraphMemory) -> tuple[str, str]:
    (leeds,) = memory.add("I live in Leeds.", user_id="ana", path=["private"], session_id="p", tags=["secret"])
    (york,) = memory.add("I live in York.", user_id="ana", path=["work"], session_id="w", tags=["work"])
    return leeds, york


@pytest.mark.parametrize("filters", HIDDEN)
def test_a_question_quotes_no_memory_that_the_filters_hide(
    memory: NeuroGraphMemory, cities: tuple[str, str], filters: dict[str, object]
) -> None:
    recall = memory.recall(QUESTION, user_id="ana", **filters)  # type: ignore[arg-type]
    context = memory.get_context(QUESTION, user_id="ana", **filters)  # type: ignore[arg-type]
    assert recall.ids == (cities[1],)
    assert (recall.conflicts, context.conflicts) == ((), ())
    assert recall.states == {cities[1]: "contested"}
    (conflict,) = memory.recall(QUESTION, user_id="ana").conflicts
    assert "Leeds" in conflict.question


def test_a_memory_is_marked_as_wrong_even_if_the_filters_hide_the_right_one(
    memory: NeuroGraphMemory, cities: tuple[str, str]
) -> None:
    (conflict,) = memory.conflicts.list(user_id="ana")
    memory.conflicts.resolve(conflict.id, cities[1], because="York is home.")
    hidden = memory.recall(QUESTION, user_id="ana", path=["private"])
    assert (hidden.conflicts, hidden.states) == ((), {cities[0]: "wrong"})
    assert memory.recall(QUESTION, user_id="ana", path=["work"]).states == {}
    now = memory.recall(QUESTION, user_id="ana", valid_at=datetime.now(UTC))
    assert [one.id for one in now.conflicts] == [conflict.id]


def test_a_memory_that_says_the_same_as_a_wrong_one_is_marked(memory: NeuroGraphMemory) -> None:
    texts = {"first": "I live in Leeds.", "again": "I live  in Leeds.", "York": "I live in York."}
    ids = {name: memory.add(text, user_id="ana")[0] for name, text in texts.items()}
    assert memory.duplicates.of(ids["first"]) == [ids["again"]]
    (conflict,) = memory.conflicts.list(user_id="ana")
    memory.conflicts.resolve(conflict.id, ids["York"])
    recall = memory.recall(QUESTION, user_id="ana", valid_at=datetime.now(UTC))
    assert ids["York"] in recall.ids
    shown = set(recall.ids) - {ids["York"]}
    assert len(shown) == 1
    assert shown < set(ids.values())
    assert recall.states[shown.pop()] == "wrong"
    assert ids["York"] not in recall.states
    assert "(wrong: home Leeds)" in recall.as_text()


@pytest.mark.parametrize(("question", "first"), [("Where did I live in 2020?", 0), ("Where do I live in 2024?", 1)])
def test_a_year_before_the_change_keeps_the_old_memory_first(
    memory: NeuroGraphMemory, question: str, first: int
) -> None:
    names = [
        memory.add(text, user_id="ana", timestamp=datetime(year, 3, 1, tzinfo=UTC))[0]
        for text, year in (("I live in Leeds.", 2020), ("I live in York now.", 2022))
    ]
    assert memory.recall(question, user_id="ana").ids[0] == names[first]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Where do I live with my cat Rex?", 1),
        ("Where did I live with my cat Rex before?", 0),
        ("What does my cat Rex do all day?", 0),
    ],
)
def test_what_a_model_read_as_changed_stands_behind_also_if_it_says_more(
    memory: NeuroGraphMemory, question: str, first: int
) -> None:
    names = [
        memory.add(text, user_id="ana", timestamp=datetime(year, 3, 1, tzinfo=UTC))[0]
        for text, year in (("I live in Leeds. My cat Rex sleeps all day.", 2020), ("I live in York now.", 2022))
    ]
    assert memory.recall(question, user_id="ana").ids == (names[first], names[1 - first])


@pytest.mark.parametrize("cities", [("York", "London"), ("London", "York")])
def test_what_holds_until_a_coming_change_stands_first_and_unmarked(cities: tuple[str, str]) -> None:
    begins = {"York": "2026-01-01", "London": "2027-03-01"}
    with NeuroGraphMemory(MemoryConfig(storage="memory", timezone="UTC")) as memory:
        ids = {city: memory.facts.add("Ana", "home", city, valid_from=begins[city]) for city in cities}
        york, london = ids["York"], ids["London"]

        def told(question: str, **times: str) -> tuple[tuple[str, ...], Mapping[str, str], int, list[str]]:
            recall = memory.recall(question, **times)  # type: ignore[arg-type]
            marked = "superseded" in memory.get_context(question, **times).text  # type: ignore[arg-type]
            assert marked == ("superseded" in recall.states.values())
            return recall.ids, recall.states, len(recall.conflicts), [one.value for one in recall.former]

        for question in ("Where does Ana live?", "Does Ana live in London?"):
            assert told(question, now="2026-11-05") == ((york, london), {}, 0, [])
            assert told(question, now="2026-11-05", valid_at="2026-11-05") == ((york,), {}, 0, [])
            assert told(question, now="2027-06-01") == ((london, york), {york: "superseded"}, 1, [])
        assert told("Where will Ana live in April 2027?", now="2026-11-05")[:2] == ((london, york), {})
        (conflict,) = memory.conflicts.list("resolved")
        assert "London” as true once it begins" in conflict.question


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which gym in Mill Road do I go to?", 1),
        ("Which gym in Mill Road do I go to before work?", 1),
        ("Which gym in Mill Road did I go to before?", 0),
    ],
)
def test_a_later_message_stands_behind_the_earlier_one_if_the_question_is_about_the_past(
    question: str, first: int
) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        names = [
            memory.add(text, user_id="ana", timestamp=f"2026-03-{day:02d}T10:00:00Z")[0]
            for day, text in (
                (2, "I go to the Atlas gym in Mill Road."),
                (9, "I go to the Zenith gym in Mill Road now."),
            )
        ]
        recall = memory.recall(question, user_id="ana")
        assert recall.later.keys() == {names[0]}
        assert recall.ids == (names[first], names[1 - first])
