"""Profiles: what is known of one person in one line, as long as it is true."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.llm.structured import StructuredLLM
from neurogated.session.compose import build
from tests.consolidation.clusters import Scribe

Part = tuple[str, str]
"""An attribute and its value."""
FACTS: tuple[Part, ...] = (("home", "Ghent"), ("phone_number", "0470 123 456"), ("allergy", "peanuts"))
ANTWERP = ("home", "Antwerp")
MAY = datetime(2026, 5, 1, tzinfo=UTC)
RAMEN = ("favourite food", "ramen")


def told(
    memory: NeuroGraphMemory, part: Part, month: int, user: str = "ana", valid_from: datetime | None = None
) -> str:
    said = datetime(2026, month, 1, tzinfo=UTC)
    return memory.facts.add("user", *part, user_id=user, timestamp=said, valid_from=valid_from)


def profiles(memory: NeuroGraphMemory, user: str = "ana") -> list[MemoryNode]:
    return [node for node in memory.store.all_nodes() if node.kind == "profile" and node.scope.user_id == user]


@pytest.fixture
def ids(memory: NeuroGraphMemory) -> list[str]:
    return [told(memory, text, month) for month, text in enumerate(FACTS, start=1)]


@pytest.mark.usefixtures("ids")
def test_the_facts_of_one_subject_become_one_line_that_links_to_them(memory: NeuroGraphMemory) -> None:
    told(memory, ANTWERP, 5, valid_from=MAY)
    told(memory, ("home", "Oslo"), 5, user="ben")
    (name,) = memory.learning.consolidate()
    profile = memory.get(name)
    assert "\n" not in profile.content
    assert "home Antwerp (since 1 May 2026, before Ghent)" in profile.content
    assert "peanuts" in profile.content
    assert "Oslo" not in profile.content
    facts = {fact.id for fact in memory.facts.list(user_id="ana") if fact.valid_to is None}
    assert {edge.target_id for edge in memory.store.all_edges() if edge.source_id == name} == facts
    assert memory.learning.consolidate() == []
    memory.undo(user_id="ana")
    assert profiles(memory) == []


def test_a_profile_follows_its_facts(memory: NeuroGraphMemory, ids: list[str]) -> None:
    (name,) = memory.learning.consolidate()
    told(memory, RAMEN, 4)
    assert memory.learning.consolidate() == [name]
    assert "ramen" in memory.get(name).content
    told(memory, ANTWERP, 5, valid_from=MAY)
    assert not memory.store.has_node(name)
    assert memory.learning.consolidate() == [name]
    assert "home Antwerp" in memory.get(name).content
    memory.delete(ids[2])
    assert not memory.store.has_node(name)
    assert memory.learning.consolidate() == [name]
    assert "peanuts" not in memory.get(name).content


@pytest.mark.usefixtures("ids")
def test_a_disputed_fact_is_in_no_profile(memory: NeuroGraphMemory) -> None:
    told(memory, RAMEN, 1)
    told(memory, ("home", "York"), 1)
    assert memory.conflicts.list(user_id="ana")
    (name,) = memory.learning.consolidate()
    assert "home" not in memory.get(name).content


@pytest.mark.parametrize(
    ("answer", "is_used"),
    [("The user lives in Ghent and eats no peanuts.", True), ("The user moved to Ghent in 1999.", False)],
)
def test_a_language_model_words_a_profile(config: MemoryConfig, answer: str, *, is_used: bool) -> None:
    config = config.replace(metabolism={"knowledge": "claims, slots"})
    scribe = Scribe(answer)
    parts = replace(build(config), language_model=StructuredLLM(scribe))
    with NeuroGraphMemory(config, parts=parts) as memory:
        for month, text in enumerate(FACTS, start=1):
            told(memory, text, month)
        scribe.asked.clear()
        memory.learning.consolidate()
        (profile,) = profiles(memory)
        assert (profile.content == answer) is is_used
        assert "Ghent" in profile.content
        assert any("allergy peanuts" in one for one in scribe.asked)
        memory.store.close()
