"""Claims of memories: nodes that are no memories, that follow their memories, and that `facts.list` lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graph_store_kit.reads import terms_of
from neurogated import ANY_USER, Fact, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.core.filters import Filter
from neurogated.core.node_kind import CLAIM
from neurogated.errors import InputError
from neurogated.session.compose import build
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.verify import disagreements
from neurogated.testing import ManualClock
from tests.knowledge.model_server import START, erased, said
from tests.knowledge.plain_reader import config_of

DAY = timedelta(days=1)


@pytest.fixture(params=["memory", "sqlite"])
def config(request: pytest.FixtureRequest, tmp_path: Path, read_by_model: Mapping[str, Any]) -> MemoryConfig:
    return config_of(read_by_model, storage=request.param, save_dir=str(tmp_path / "memory"))


@pytest.fixture
def memory(config: MemoryConfig) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config) as memory:
        yield memory


def known(memory: NeuroGraphMemory, user: str = "ana") -> list[Fact]:
    return memory.facts.list(user_id=user)


def claims(memory: NeuroGraphMemory) -> list[MemoryNode]:
    return memory.store.snapshot(filters=Filter(kinds=(CLAIM,))).find()


def values(memory: NeuroGraphMemory) -> list[tuple[str, str]]:
    return [(one.attribute, one.value) for one in known(memory)]


def test_what_a_message_says_is_listed_as_facts_with_their_sources(memory: NeuroGraphMemory) -> None:
    told = said(memory, "By the way, I'm allergic to peanuts, and I moved to Antwerp.", 3)
    allergy, home = known(memory)
    assert (allergy.subject, allergy.attribute, allergy.value) == ("user", "allergy", "peanuts")
    assert (home.subject, home.attribute, home.value, home.timestamp) == ("user", "home", "Antwerp", START + 3 * DAY)
    assert allergy.sources == home.sources == (told,)
    assert home.statement in "I moved to Antwerp."
    assert [one.value for one in memory.facts.list("User", "HOME", user_id="ana")] == ["Antwerp"]


def test_a_recall_has_the_facts_of_its_memories_as_the_list_has_them_and_those_that_ended_beside(
    memory: NeuroGraphMemory,
) -> None:
    texts = (
        "I live in Ghent.",
        "I moved to Antwerp, and I'm allergic to peanuts.",
        "It rains.",
        "I no longer play chess.",
    )
    for day, text in enumerate(texts):
        said(memory, text, day)
    recall = memory.recall("Where do I live, and what do I play?", top_n=9, user_id="ana")
    listed = {one.id: one for one in known(memory)}
    assert {one.value for one in recall.facts} >= {"Antwerp", "peanuts"}
    assert [one.value for one in recall.former] == ["Ghent"]
    assert all(listed[one.id] == one for one in (*recall.facts, *recall.former))
    assert not any("chess" in one.value for one in recall.facts)


@pytest.mark.parametrize("few", [1024, 8])
@pytest.mark.parametrize("user", ["ana", None])
def test_facts_change_neither_the_order_nor_the_scores_of_what_was_said(
    read_by_model: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch, user: str | None, few: int
) -> None:
    monkeypatch.setattr("neurogated.retrieval.turns._FEW_NODES", few)
    told = [f"I like tea number {number}, and I like cake number {number}." for number in range(30)]
    weather = ("rain", "snow", "wind", "hail", "fog", "frost", "storm")
    texts = [*told, *(f"{word.title()} {word} {word}." for word in weather)]
    found = []
    for settings in (read_by_model, {"embedding_name": "hash"}):
        config = config_of(settings, storage="memory")
        with NeuroGraphMemory(config, parts=build(config, clock=ManualClock())) as memory:
            gone = memory.add([{"role": "user", "content": text} for text in texts], user_id=user, session_id="chat")[5]
            memory.delete(gone)
            assert bool(memory.facts.list(user_id=user)) == (settings is read_by_model)
            recalls = [memory.recall(text, user_id=user, top_n=40) for text in (*texts, "What does she like?")]
            found.append([[(one.content, round(one.score, 9)) for one in recall] for recall in recalls])
    assert found[0] == found[1]


def test_claims_are_no_memories(memory: NeuroGraphMemory) -> None:
    told = [
        said(memory, text, day)
        for day, text in enumerate(["I live in Ghent.", "I moved to Antwerp.", "It rains today."])
    ]
    assert len(claims(memory)) == 2
    assert all(one.embedding is None for one in claims(memory))
    assert memory.count(user_id="ana") == len(memory.list(user_id="ana")) == 3
    assert sum(memory.energy.tiers(user_id="ana").counts.values()) == 3
    for query in ("Ghent", "Where do I live?", "I moved to Antwerp"):
        assert set(memory.recall(query, top_n=9, user_id="ana").ids) <= set(told)
    assert {one.id for one in memory.energy.canvas(user_id="ana")} <= set(told)
    assert "claim" not in memory.get_context("Where do I live?", user_id="ana").text
    terms = terms_of(memory.store, [one.id for one in claims(memory)])
    assert all(" " in term for found in terms for term in found)
    assert memory.delete(user_id="ana") == 3
    assert claims(memory) == []


def test_the_same_claim_said_again_is_one_claim_of_two_memories(memory: NeuroGraphMemory) -> None:
    first = said(memory, "I live in Ghent.")
    second = said(memory, "I live in Ghent, you know.", 5)
    (fact,) = known(memory)
    assert (fact.sources, fact.timestamp) == (tuple(sorted((first, second))), START)
    memory.delete(first)
    (again,) = known(memory)
    assert (again.id, again.sources, again.timestamp) == (fact.id, (second,), START + 5 * DAY)
    memory.delete(second)
    assert known(memory) == claims(memory) == []


def test_a_value_that_returns_is_a_new_claim(memory: NeuroGraphMemory) -> None:
    for day, text in enumerate(["I live in Ghent.", "I moved to Antwerp.", "I live in Ghent again now."]):
        said(memory, text, day)
    held = [(one.value, one.valid_from, one.valid_to) for one in known(memory)]
    assert held == [
        ("Ghent", None, START + DAY),
        ("Antwerp", START + DAY, START + 2 * DAY),
        ("Ghent", START + 2 * DAY, None),
    ]


def test_an_update_reads_a_memory_again(memory: NeuroGraphMemory) -> None:
    told = said(memory, "I live in Ghent. I'm allergic to peanuts.")
    other = said(memory, "I moved to Leeds.", 5)
    (allergy,) = [one for one in known(memory) if one.attribute == "allergy"]
    memory.update(told, "I live in York. I'm allergic to peanuts.")
    assert set(values(memory)) == {("home", "York"), ("home", "Leeds"), ("allergy", "peanuts")}
    assert allergy.id in {one.id for one in known(memory)}
    (conflict,) = memory.conflicts.list(None, user_id="ana")
    ended = {one.id: one for one in known(memory)}[str(conflict.loser)]
    assert (ended.value, ended.valid_to) == ("York", START + 5 * DAY)
    memory.update(other, "It rains today.")
    assert memory.conflicts.list(None, user_id="ana") == []
    assert {one.valid_to for one in known(memory)} == {None}
    memory.update(told, timestamp=START + 2 * DAY)
    assert {one.timestamp for one in known(memory)} == {START + 2 * DAY}


def test_claims_expire_with_their_memories(config: MemoryConfig) -> None:
    clock = ManualClock()
    with NeuroGraphMemory(config, parts=build(config, clock=clock)) as memory:
        memory.add("I live in Ghent.", user_id="ana", ttl=DAY)
        memory.add("I live in Ghent!", user_id="ana", ttl=9 * DAY)
        clock.advance(2 * DAY)
        assert len(known(memory)) == 1
        memory.maintenance()
        assert len(known(memory)) == 1
        clock.advance(9 * DAY)
        assert known(memory) == []
        memory.maintenance()
        assert claims(memory) == []


def test_users_have_their_own_claims(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Ghent.")
    said(memory, "I moved to Antwerp.", 1, "ben")
    assert [one.value for one in known(memory)] == ["Ghent"]
    assert memory.conflicts.list(None, user_id=ANY_USER) == []
    memory.delete(user_id="ana")
    assert [one.value for one in known(memory, "ben")] == ["Antwerp"]


def test_code_claims_nothing(memory: NeuroGraphMemory) -> None:
    said(memory, "```I live in Ghent.```")
    assert known(memory) == []


def test_only_what_the_owner_says_is_read(memory: NeuroGraphMemory) -> None:
    memory.add({"role": "assistant", "content": "I live in Ghent."}, user_id="ana", session_id="s")
    memory.add_document("I live in Ghent.")
    memory.record_event("I live in Ghent.", user_id="ana")
    memory.add("I live in Ghent. " + "The mill turns all day long. " * 500, user_id="ana", session_id="s")
    assert memory.facts.list(user_id=ANY_USER) == []


def test_an_erased_memory_leaves_no_words_in_its_claims(tmp_path: Path, read_by_model: Mapping[str, Any]) -> None:
    config = config_of(read_by_model, save_dir=str(tmp_path / "memory"))
    with NeuroGraphMemory(config) as memory:
        first = said(memory, "I live in Zanzibar, as ever.")
        said(memory, "I live in zanzibar.", 3)
        said(memory, "I live in Ghent.", 5, "ben")
        memory.delete(first)
        assert known(memory)[0].statement == "Zanzibar"
        memory.delete(user_id="ana")
        memory.admin.compact()
        assert erased(str(tmp_path / "memory"), b"anzibar")
        assert [one.value for one in known(memory, "ben")] == ["Ghent"]


def test_the_past_undo_and_check_have_the_claims_of_their_time(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Ghent.")
    before = memory.history.list()[-1].sequence
    said(memory, "I moved to Antwerp.", 3)
    past = memory.store.as_of(before).snapshot(filters=Filter(kinds=(CLAIM,))).find()
    assert [(one.content, one.valid_to) for one in past] == [("I live in Ghent", None)]
    assert isinstance(memory.store, GraphStore)
    assert disagreements(memory.store) == []
    memory.undo(to=before)
    assert [(one.value, one.valid_to) for one in known(memory)] == [("Ghent", None)]
    assert disagreements(memory.store) == []


def test_callers_cannot_make_or_change_claims(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Ghent.")
    (claim,) = claims(memory)
    for forge in (
        lambda: memory.add("I live in York.", kind="claim", user_id="ana"),
        lambda: memory.add("I live in York.", id=claim.id, user_id="ana"),
        lambda: memory.update(claim.id, "I live in York."),
        lambda: memory.update(claim.id, metadata={"change": "ends"}),
    ):
        with pytest.raises(InputError):
            forge()
    assert claims(memory) == [claim]
