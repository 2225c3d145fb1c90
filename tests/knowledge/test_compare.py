"""`compare`: the relation of two texts or facts, and the same verdict as a write."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError

START = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        yield memory


def fact(attribute: str, value: str, **times: str) -> dict[str, str]:
    return {"subject": "Ana", "attribute": attribute, "value": value, **times}


FACTS = [
    (fact("lives in", "Lyon"), fact("city", "Paris"), "independent"),
    (fact("lives in", "Lyon"), fact("resides in", "Paris"), "contradiction"),
    (fact("lives in", "Lyon"), fact("resides in", "lyon"), "duplicate"),
    (fact("employer", "a bank"), fact("employer", "Berenberg"), "refinement"),
    (fact("is", "a smoker"), fact("is not", "a smoker"), "contradiction"),
    (fact("status", "not active"), fact("status", "active"), "contradiction"),
    (fact("status", "not active"), fact("status", "cancelled"), "refinement"),
    (fact("speaks", "English"), fact("speaks", "German"), "independent"),
    (
        fact("lives in", "Lyon", valid_from="2018-01-01", valid_to="2020-01-01"),
        fact("lives in", "Paris", valid_from="2020-01-01"),
        "supersession",
    ),
    (
        fact("lives in", "Lyon", timestamp="2018-01-01"),
        fact("lives in", "Paris", timestamp="2020-01-01"),
        "supersession",
    ),
]


@pytest.mark.parametrize(("first", "second", "kind"), FACTS)
def test_facts_are_compared_by_attribute_value_denial_and_time(
    memory: NeuroGraphMemory, first: dict[str, str], second: dict[str, str], kind: str
) -> None:
    assert memory.conflicts.compare(first, second).kind.value == kind


TEXTS = [
    ("I live in Leeds.", "I live in York."),
    ("I live in Leeds.", "By the way, I live in York now!"),
    ("I live in Leeds.", "I used to live in York."),
    ("I live in Leeds.", "I no longer live in Leeds."),
    ("I moved to York.", "I live in Leeds."),
    ("I like tea.", "I like coffee."),
    ("I'm allergic to nuts. I live in Leeds.", "I'm not allergic to nuts, and I live in Leeds."),
]


@pytest.mark.parametrize("days", [0, 3, None])
@pytest.mark.parametrize(("first", "second"), TEXTS)
def test_a_write_and_a_comparison_have_one_verdict(
    memory: NeuroGraphMemory, first: str, second: str, days: int | None
) -> None:
    told = [{"content": text} for text in (first, second)]
    if days is not None:
        for text, day in zip(told, (0, days), strict=True):
            text["timestamp"] = (START + timedelta(days=day)).isoformat()
    relation = memory.conflicts.compare(*told)
    for text in told:
        memory.add({"role": "user", **text}, user_id="ana", session_id=text.get("timestamp", "now"))
    found = [(one.kind, one.outcome) for one in memory.conflicts.list(None, user_id="ana")]
    assert found == ([(relation.kind, relation.outcome)] if relation.is_conflict else [])
    assert memory.count(user_id="ana") == len(told)


def test_a_fact_without_a_part_is_refused(memory: NeuroGraphMemory) -> None:
    with pytest.raises(InputError):
        memory.conflicts.compare({"subject": "Ana", "attribute": "city"}, "Ana lives in Lyon.")
    with pytest.raises(InputError):
        memory.conflicts.compare(fact("city", "Lyon", timestamp="soon"), "Ana lives in Lyon.")


@pytest.mark.parametrize("content", [None, 5, ["I live in Ghent."]])
def test_what_is_neither_a_text_nor_a_mapping_is_refused(memory: NeuroGraphMemory, content: object) -> None:
    for pair in ((content, "I live in Ghent."), ("I live in Ghent.", content)):
        with pytest.raises(InputError, match="mapping"):
            memory.conflicts.compare(*pair)
