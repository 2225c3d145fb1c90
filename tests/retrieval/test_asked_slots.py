"""A question about a slot finds the memory of the standing value first; marks say what of a memory holds no longer."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.knowledge.read.reader import OfflineClaimReader

HOME, WORK = "Where do I live?", "Where do I work?"


def told(memory: NeuroGraphMemory, text: str, month: int, *, user: str = "ana", **details: str) -> str:
    moment = datetime(2026, month, 1, tzinfo=UTC)
    message = {"role": "user", "content": text}
    (name,) = memory.add(message, user_id=user, session_id=f"{month}", timestamp=moment, **details)  # type: ignore[arg-type]
    return name


@pytest.fixture
def homes(memory: NeuroGraphMemory) -> list[str]:
    said = ["I live in Ghent.", "I live in Leuven now.", "I live in Antwerp now."]
    names = [told(memory, text, month) for month, text in enumerate(said, start=1)]
    for number in range(8):
        told(memory, f"Where to live, where to live: house number {number} was the question where I live.", 5)
    return names


def test_the_standing_value_comes_first(memory: NeuroGraphMemory, homes: list[str]) -> None:
    for question in (HOME, "Hi Bo, hope you are well! Where do I live?", "Where do I live now?"):
        assert memory.recall(question, user_id="ana").ids[0] == homes[2]
    scores = [one.score for one in memory.recall(HOME, user_id="ana", top_n=10)]
    assert scores == sorted(scores, reverse=True)


def test_a_question_for_the_past_finds_the_earlier_values_the_latest_first(
    memory: NeuroGraphMemory, homes: list[str]
) -> None:
    assert memory.recall("Where did I live before?", user_id="ana").ids[:2] == (homes[1], homes[0])
    assert memory.recall("Where did I live in January 2026?", user_id="ana").ids[0] == homes[0]
    assert memory.recall(HOME, user_id="ana", valid_at=datetime(2026, 2, 10, tzinfo=UTC)).ids[0] == homes[1]


def test_a_filter_hides_an_answer(memory: NeuroGraphMemory, homes: list[str]) -> None:
    (there,) = memory.recall(HOME, user_id="ana", session_id="1").ids
    assert there == homes[0]
    told(memory, "I live in Oslo now.", 6, user="ben")
    told(memory, "I live in Rome now.", 7, tags=["secret"])  # type: ignore[arg-type]
    assert "Rome" not in " ".join(one.content for one in memory.recall(HOME, user_id="ben"))
    assert memory.recall(HOME, user_id="ben")[0].content == "I live in Oslo now."
    assert memory.recall(HOME, user_id="ana", session_id="3")[0].id == homes[2]


def test_a_question_without_a_known_value_changes_nothing(memory: NeuroGraphMemory) -> None:
    told(memory, "I live in Ghent.", 1)
    told(memory, "The office at work is loud.", 8)
    recall = memory.recall(WORK, user_id="ana", top_n=5)
    assert all("replaces" not in one.contributions for one in recall)


def test_a_memory_says_which_of_its_facts_changed_and_stays_whole(memory: NeuroGraphMemory) -> None:
    both = told(memory, "I live in Ghent, and my phone number is 0470 123 456.", 1)
    later = told(memory, "I live in Antwerp now.", 3)
    recall = memory.recall("What did I say about my phone number in Ghent?", user_id="ana")
    assert recall.ids[0] == both
    assert [(fact.value, fact.sources) for fact in recall.former] == [("Ghent", (both,))]
    (mark,) = recall.remarks[both]
    assert mark == "since changed: home Ghent, 1 March 2026"
    assert f"- ({mark}) user (1 January 2026): I live in Ghent" in recall.as_text()
    assert later not in recall.remarks
    assert memory.recall(HOME, user_id="ana").ids[0] == later


def test_a_memory_that_says_nothing_else_ranks_below_the_one_that_replaced_it(memory: NeuroGraphMemory) -> None:
    old, new = told(memory, "I live in Ghent.", 1), told(memory, "I live in Antwerp now.", 3)
    assert memory.recall("Ghent", user_id="ana", top_n=2).ids == (new, old)
    assert memory.recall("Ghent, formerly", user_id="ana", top_n=2).ids == (old, new)


def test_a_conflict_of_claims_marks_their_memories_until_it_is_resolved(memory: NeuroGraphMemory) -> None:
    leeds, york = told(memory, "I live in Leeds.", 1), told(memory, "I live in York.", 1)
    recall = memory.recall("home", user_id="ana")
    assert recall.states == {leeds: "contested", york: "contested"}
    (conflict,) = recall.conflicts
    memory.conflicts.resolve(conflict.id, york)
    recall = memory.recall("home", user_id="ana")
    assert recall.states == {leeds: "wrong"}
    assert recall.remarks == {leeds: ("wrong: home Leeds",)}


def test_a_memory_without_claims_and_facts_looks_for_no_slots(monkeypatch: pytest.MonkeyPatch) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        memory.add_document("Ann lives in Bergen.")
        with monkeypatch.context() as patch:
            patch.delattr(OfflineClaimReader, "asked")
            assert memory.recall("Where does Ann live?").ids
