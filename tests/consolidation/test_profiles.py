"""Profiles: what is known of one person in one line, as long as it is true."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.consolidation.consolidator import cluster_id
from neurogated.llm.structured import StructuredLLM
from neurogated.session.compose import build
from tests.consolidation.clusters import Scribe

Part = tuple[str, str]
"""An attribute and its value."""
FACTS: tuple[Part, ...] = (("home", "Ghent"), ("phone_number", "0470 123 456"), ("allergy", "peanuts"))
ANTWERP = ("home", "Antwerp")
MAY, JUNE = datetime(2026, 5, 1, tzinfo=UTC), datetime(2026, 6, 1, tzinfo=UTC)
RAMEN = ("favourite food", "ramen")


def told(memory: NeuroGraphMemory, part: Part, month: int, user: str = "ana", **times: Any) -> str:  # noqa: ANN401 - of `add`
    said = datetime(2026, month, 1, tzinfo=UTC)
    return memory.facts.add("user", *part, user_id=user, timestamp=said, **times)


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


def test_a_profile_has_the_facts_that_still_hold_and_ends_with_the_first_of_them(
    memory: NeuroGraphMemory, ids: list[str]
) -> None:
    told(memory, RAMEN, 4, valid_to=JUNE)
    for name, days in zip(ids, (9, 2), strict=False):
        memory.update(name, ttl=timedelta(days=days))
    for now, holds in ((JUNE - timedelta(seconds=1), True), (JUNE, False)):
        (made,) = memory.learning.consolidate(now)
        profile = memory.get(made)
        assert ("ramen" in profile.content) == holds
        assert profile.expires_at == memory.get(ids[1]).expires_at
        memory.delete(made)


def test_the_id_of_a_cluster_does_not_depend_on_the_order_of_its_sources() -> None:
    nodes = [MemoryNode(name, "A text.") for name in "abc"]
    assert cluster_id(nodes) == cluster_id(nodes[::-1]) != cluster_id(nodes[1:])


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
