"""Conflicts between messages of one person, and how recalls show them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from neurogated import Conflict, Fact, MemoryConfig, NeuroGraphMemory
from tests.knowledge.model_server import START, found, said

DAY = timedelta(days=1)


def home(memory: NeuroGraphMemory, source: str) -> Fact:
    """Return the claim that was read from a memory."""
    (fact,) = [one for one in memory.facts.list(user_id="ana") if source in one.sources]
    return fact


def sources(memory: NeuroGraphMemory, conflict: Conflict) -> list[tuple[str, ...]]:
    """Return the memories of both sides."""
    facts = {one.id: one.sources for one in memory.facts.list(user_id="ana")}
    return [facts[side] for side in conflict.sides]


CONTRADICTIONS = [
    ("I live in Leeds.", "I live in York.", "right?"),
    ("I'm allergic to nuts.", "I'm not allergic to nuts.", "right?"),
    ("我住在北京。", "我住在上海。", "哪一个是对的"),
]


@pytest.mark.parametrize(("first", "second", "asked"), CONTRADICTIONS)
def test_what_a_person_contradicts_is_asked_in_her_language(
    memory: NeuroGraphMemory, first: str, second: str, asked: str
) -> None:
    told = said(memory, first), said(memory, second)
    (conflict,) = found(memory)
    assert sources(memory, conflict) == [(told[0],), (told[1],)]
    assert (conflict.status, conflict.loser) == ("open", None)
    assert asked in conflict.question
    assert all(text.rstrip(".。") in conflict.question for text in (first, second))


def test_a_value_of_another_day_is_asked_about_as_a_change(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Leeds.")
    said(memory, "I live in York.", 3)
    (conflict,) = found(memory)
    assert (conflict.status, conflict.kind.value) == ("open", "supersession")


def test_other_speakers_and_assistants_contradict_nobody(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Leeds.", name="Ana")
    said(memory, "I live in York.", name="Ben")
    said(memory, "I live in Oslo.", role="assistant")
    assert found(memory) == []


CHANGES = [
    ("I live in Leeds.", "I live in York now."),
    ("I live in Leeds.", "By the way, I moved to York!"),
    ("I live in Leeds and I work as a nurse.", "I no longer live in Leeds."),
    ("I work at Google.", "I no longer work at Google."),
    ("I work at Google.", "I quit Google."),
    ("I work at Google.", "I used to work at Google."),
    ("我住在汉堡。", "我现在住在奥斯陆。"),
]


@pytest.mark.parametrize(("first", "second"), CHANGES)
def test_a_change_that_is_said_ends_the_claim_and_no_memory(memory: NeuroGraphMemory, first: str, second: str) -> None:
    old, new = said(memory, first), said(memory, second, 40)
    (conflict,) = memory.conflicts.list("resolved", user_id="ana")
    assert conflict.outcome == "superseded"
    assert sources(memory, conflict) == [(old,), (new,)]
    ended = next(one for one in memory.facts.list(user_id="ana") if one.id == conflict.loser)
    assert (ended.sources, ended.valid_to) == ((old,), START + 40 * DAY)
    assert memory.get(old).valid_to is None
    assert memory.conflicts.list("open", user_id="ana") == []


def test_contradictions_within_one_message_are_found(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Leeds. I live in York.")
    assert [one.status for one in found(memory)] == ["open"]
    said(memory, "I used to live in Bonn, and now I live in York.", 1)
    assert [one.status for one in found(memory)] == ["resolved"]


def test_a_recall_ranks_the_present_first_unless_the_past_is_asked_for() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        old = memory.facts.add("Ana", "city", "Lyon", valid_from=START)
        new = memory.facts.add("Ana", "city", "Paris", valid_from=START + 400 * DAY)
        question = "Is Lyon the city of Ana?"
        assert memory.recall(question).ids == (new, old)
        assert memory.recall(question, top_n=1).ids == (new,)
        assert memory.recall("Was Lyon the city of Ana before?").ids == (old, new)
        for year, ids in ((2024, (old, new)), (2026, (new, old))):
            assert memory.recall(f"Was Lyon the city of Ana in May {year}?").ids == ids
        assert memory.recall(question, valid_at=START + DAY).ids == (old,)
        assert memory.recall(question, as_of=1).conflicts == ()
        recall = memory.recall(question)
        assert [one.instruction for one in recall.conflicts] == ["restructure"]
        assert recall.as_text().count("(superseded)") == 1
        scores = [one.score for one in recall]
        assert scores == sorted(scores, reverse=True)
        assert all(sum(one.contributions.values()) == pytest.approx(one.score) for one in recall)


@pytest.mark.parametrize("keep", ["both", "supersede", "the new one"])
def test_a_dispute_that_was_answered_is_not_asked_again(memory: NeuroGraphMemory, keep: str) -> None:
    said(memory, "I live in Leeds.")
    new = said(memory, "I live in York.", 3)
    (conflict,) = found(memory)
    memory.conflicts.resolve(conflict.id, new if keep == "the new one" else keep)
    said(memory, "I live in York.", 6)
    assert len(found(memory)) == 1
    # A side that lost and is said again is news.
    said(memory, "I live in Leeds.", 9)
    assert (len(memory.conflicts.list("open", user_id="ana")) > 0) == (keep != "both")
    said(memory, "I live in York, as I said.", 12)
    assert (len(memory.conflicts.list("open", user_id="ana")) > 0) == (keep != "both")


@pytest.mark.parametrize("side", [0, 1])
def test_an_answer_may_name_a_side_or_its_memory(memory: NeuroGraphMemory, side: int) -> None:
    told = said(memory, "I live in Leeds."), said(memory, "I live in York.")
    (conflict,) = found(memory)
    by_memory = memory.conflicts.resolve(conflict.id, told[side])
    assert by_memory.loser == conflict.sides[1 - side]
    assert memory.conflicts.resolve(conflict.id, conflict.sides[side]) == by_memory


def test_a_claim_of_one_project_ends_none_of_another(memory: NeuroGraphMemory) -> None:
    old, _ = (
        memory.add(text, user_id="ana", path=[path])[0]
        for path, text in (("A", "I live in Leeds."), ("B", "I live in York now."))
    )
    assert [one.status for one in found(memory)] == ["open"]
    assert home(memory, old).valid_to is None


def test_a_speaker_ends_her_own_claims_only(memory: NeuroGraphMemory) -> None:
    said(memory, "I live in Leeds.", name="Ana")
    said(memory, "Ana moved to York.", 3, name="Ben")
    assert [one.status for one in found(memory)] == ["open"]
    said(memory, "I moved to York.", 4, name="Ana")
    assert [one.status for one in found(memory)] == ["resolved"]
