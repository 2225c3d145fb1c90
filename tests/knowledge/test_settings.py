"""What is read, what is compared, and what is counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from neurogated import ANY_USER, MemoryConfig, NeuroGraphMemory
from tests.knowledge.plain_reader import config_of

TEXTS = ("I live in Leeds.", "I live in York.")


@pytest.mark.parametrize(
    ("setting", "facts", "conflicts"), [({}, 2, 1), ({"knowledge": "claims"}, 2, 0), ({"knowledge": "slots"}, 0, 0)]
)
def test_facts_are_read_without_comparing_them(
    read_by_model: Mapping[str, Any], setting: dict[str, object], facts: int, conflicts: int
) -> None:
    config = config_of(read_by_model, storage="memory").replace(metabolism=setting)
    with NeuroGraphMemory(config) as memory:
        for text in TEXTS:
            memory.add(text, user_id="ana")
        assert len(memory.facts.list(user_id="ana")) == facts
        assert len(memory.conflicts.list(None, user_id="ana")) == conflicts


def test_stated_facts_are_compared_where_nothing_is_read() -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash").replace(metabolism={"knowledge": "slots"})
    with NeuroGraphMemory(config) as memory:
        for city in ("Leeds", "York"):
            memory.facts.add("Ana", "city", city, user_id="ana")
        assert len(memory.conflicts.list(None, user_id="ana")) == 1


def test_the_figures_count_memories_apart_from_claims_and_conflicts(memory: NeuroGraphMemory) -> None:
    for text in TEXTS:
        memory.add(text, user_id="ana")
    figures = memory.admin.stats()
    assert figures["memories"] == memory.count(user_id=ANY_USER) == len(TEXTS)
    assert figures["nodes"] == 2 * len(TEXTS)
