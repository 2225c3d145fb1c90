"""Profiles: what is known of one person in one line, as long as it is true."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from neurogated import BaseLLM, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.compose import build
from neurogated.core.ports import Message
from neurogated.llm.structured import StructuredLLM
from tests.knowledge.plain_reader import config_of

FACTS = ("I live in Ghent.", "My phone number is 0470 123 456.", "I'm allergic to peanuts.")


def told(memory: NeuroGraphMemory, text: str, month: int, user: str = "ana") -> str:
    moment = datetime(2026, month, 1, tzinfo=UTC)
    (name,) = memory.add({"role": "user", "content": text}, user_id=user, session_id=f"{month}", timestamp=moment)
    return name


def profiles(memory: NeuroGraphMemory, user: str = "ana") -> list[MemoryNode]:
    return [node for node in memory.store.all_nodes() if node.kind == "profile" and node.scope.user_id == user]


@pytest.fixture
def config(read_by_model: Mapping[str, Any], storage: str, tmp_path: Path) -> MemoryConfig:
    """Return settings with a model that reads what messages say."""
    return config_of(read_by_model, storage=storage, save_dir=str(tmp_path / "out"))


@pytest.fixture
def ids(memory: NeuroGraphMemory) -> list[str]:
    return [told(memory, text, month) for month, text in enumerate(FACTS, start=1)]


@pytest.mark.usefixtures("ids")
def test_the_facts_of_one_subject_become_one_line_that_links_to_them(memory: NeuroGraphMemory) -> None:
    told(memory, "I live in Antwerp now.", 5)
    told(memory, "I live in Oslo.", 5, user="ben")
    (name,) = memory.learning.consolidate()
    profile = memory.get(name)
    assert "\n" not in profile.content
    assert "home Antwerp (since 1 May 2026, before Ghent)" in profile.content
    assert "peanuts" in profile.content
    assert "Oslo" not in profile.content
    facts = {fact.id for fact in memory.facts.list(user_id="ana") if fact.valid_to is None}
    assert {edge.target_id for edge in memory.store.all_edges() if edge.source_id == name} == facts
    assert memory.learning.consolidate() == []
    memory.undo()
    assert profiles(memory) == []


def test_too_few_facts_make_no_profile(memory: NeuroGraphMemory) -> None:
    for text in FACTS[:2]:
        told(memory, text, 1)
    assert memory.learning.consolidate() == []


def test_stated_facts_make_a_profile_too(memory: NeuroGraphMemory) -> None:
    for attribute, value in (("city", "Lyon"), ("job", "nurse"), ("diet", "vegan")):
        memory.facts.add("Nora", attribute, value, user_id="ana")
    (name,) = memory.learning.consolidate()
    assert memory.get(name).content == "Nora: city Lyon; job nurse; diet vegan"
    assert name in memory.recall("What about Nora?", user_id="ana", top_n=4).ids


def test_a_profile_follows_its_facts(memory: NeuroGraphMemory, ids: list[str]) -> None:
    (name,) = memory.learning.consolidate()
    told(memory, "My favourite food is ramen.", 4)
    assert memory.learning.consolidate() == [name]
    assert "ramen" in memory.get(name).content
    told(memory, "I live in Antwerp now.", 5)
    assert not memory.store.has_node(name)
    assert memory.learning.consolidate() == [name]
    assert "home Antwerp" in memory.get(name).content
    memory.delete(ids[2])
    assert not memory.store.has_node(name)
    assert memory.learning.consolidate() == [name]
    assert "peanuts" not in memory.get(name).content


@pytest.mark.usefixtures("ids")
def test_a_disputed_fact_is_in_no_profile(memory: NeuroGraphMemory) -> None:
    told(memory, "My favourite food is ramen.", 1)
    told(memory, "I live in York.", 1)
    assert memory.conflicts.list(user_id="ana")
    (name,) = memory.learning.consolidate()
    assert "home" not in memory.get(name).content


def test_erased_facts_are_in_no_file(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        names = [told(memory, text, 1) for text in (*FACTS, "I work at SWORDFISH Shipping.")]
        (profile,) = memory.learning.consolidate()
        assert "SWORDFISH" in memory.get(profile).content
        memory.delete(names[3])
        memory.admin.compact()
        files = [path for path in Path(config.save_dir).rglob("*") if path.is_file()]
        assert not [path.name for path in files if b"SWORDFISH" in path.read_bytes()]
        assert len(memory.learning.consolidate()) == 1
        memory.delete(user_id="ana")
        assert not list(memory.store.all_nodes())


def test_a_context_has_more_facts_in_fewer_tokens_after_a_consolidation(memory: NeuroGraphMemory) -> None:
    known = {
        "I live in Antwerp.": "Antwerp",
        "I work at Physio Plus.": "Physio Plus",
        "My phone number is 0470 123 456.": "0470",
        "I'm allergic to peanuts.": "peanuts",
        "My favourite food is ramen.": "ramen",
        "I drive a blue Volvo.": "Volvo",
    }
    for month, text in enumerate(known, start=1):
        told(memory, text, month)
    question = "Where do I live and work, what do I drive, my phone number, my allergy and my favourite food?"
    before = memory.get_context(question, 300, user_id="ana")
    memory.learning.consolidate()
    after = memory.get_context(question, 300, user_id="ana")
    assert all(value in before.text and after.text.count(value) == 1 for value in known.values())
    assert after.tokens < before.tokens
    assert set(after.ids) == set(before.ids)


class Scribe(BaseLLM):
    """A language model that writes the same text each time."""

    name = "scribe"
    parameters: Mapping[str, Any] = {}

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def infer(
        self, messages: Sequence[Message], *, schema: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        assert schema is not None
        self.asked.append(messages[-1]["content"])
        return json.dumps({"fact": self.answer}), {"finish_reason": "stop"}


@pytest.mark.parametrize(
    ("answer", "is_used"),
    [("The user lives in Ghent and eats no peanuts.", True), ("The user moved to Ghent in 1999.", False)],
)
def test_a_language_model_words_a_profile(config: MemoryConfig, answer: str, *, is_used: bool) -> None:
    config = config.replace(metabolism={"conflict_uncertain": 0})
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
