"""How values of an attribute, facts and texts relate, and the same verdict as a write."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from neurogated.slots.values import attribute_named, compare_values
from tests.golden import rows
from tests.knowledge.model_server import EARLIER, LATER, serving

# `compare`: the relation of two texts or facts, and the same verdict as a write


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        yield memory


def fact(attribute: str, value: str, **times: str) -> dict[str, str]:
    return {"subject": "Ana", "attribute": attribute, "value": value, **times}


FACTS = rows(__file__, "facts")


@pytest.mark.parametrize(("first", "second", "kind"), FACTS)
def test_facts_are_compared_by_attribute_value_denial_and_time(
    memory: NeuroGraphMemory, first: dict[str, str], second: dict[str, str], kind: str
) -> None:
    assert memory.conflicts.compare(first, second).kind.value == kind


@pytest.mark.parametrize(("first", "second"), [pair for *pair, _ in FACTS])
def test_a_write_and_a_comparison_have_one_verdict(
    memory: NeuroGraphMemory, first: dict[str, str], second: dict[str, str]
) -> None:
    relation = memory.conflicts.compare(first, second)
    for one in (first, second):
        memory.facts.add(**one)  # type: ignore[arg-type]
    found = [(one.kind, one.outcome) for one in memory.conflicts.list(None)]
    assert found == ([(relation.kind, relation.outcome)] if relation.is_conflict else [])


def test_texts_are_compared_by_a_model_only(memory: NeuroGraphMemory) -> None:
    assert memory.conflicts.compare("I live in Leeds.", "By the way, I live in Leeds!").kind.value == "duplicate"
    for pair in (("I live in Leeds.", "I live in York."), (fact("city", "Leeds"), "Ana lives in York.")):
        with pytest.raises(InputError, match="language model"):
            memory.conflicts.compare(*pair)


def test_a_model_compares_texts() -> None:
    with serving() as server:
        settings = {"storage": "memory", "embedding_name": "hash", "llm_base_url": server.url, "cache_bytes": 0}
        with NeuroGraphMemory(MemoryConfig.from_mapping(settings)) as memory:
            relation = memory.conflicts.compare(f"It rains. {EARLIER}", LATER)
            assert (relation.kind.value, relation.outcome) == ("contradiction", "contested")
            assert memory.conflicts.compare("It rains.", LATER).kind.value == "independent"
            assert memory.count() == 0


@pytest.mark.parametrize("content", [None, 5, ["I live in Ghent."]])
def test_what_is_neither_a_text_nor_a_mapping_is_refused(memory: NeuroGraphMemory, content: object) -> None:
    for pair in ((content, "I live in Ghent."), ("I live in Ghent.", content)):
        with pytest.raises(InputError, match="mapping"):
            memory.conflicts.compare(*pair)


# How two values of an attribute relate


OPPOSITE = {"narrower": "wider", "wider": "narrower"}


@pytest.mark.parametrize(
    ("attribute", "one", "other", "relation"),
    rows(__file__, "values"),
)
def test_values_relate_by_their_type(attribute: str, one: str, other: str, relation: str) -> None:
    own = attribute_named(attribute)
    assert compare_values(own, one, other) == relation
    assert compare_values(own, other, one) == OPPOSITE.get(relation, relation)


ATTRIBUTES = st.sampled_from(["home", "manager", "rent", "birthday", "phone_number", "like"])


@given(ATTRIBUTES, st.text(max_size=20), st.text(max_size=20))
def test_the_relation_of_any_two_values_is_symmetric(attribute: str, one: str, other: str) -> None:
    own = attribute_named(attribute)
    relation = compare_values(own, one, other)
    assert compare_values(own, other, one) == OPPOSITE.get(relation, relation)
