"""Texts that ask several questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.retrieval.queries import with_questions
from tests.golden import rows

NOTES = [
    "My colleague the teller is 164 centimetres tall.",
    "My colleague the teller works at a bank.",
    "My colleague the teller comes from Chengdu.",
    "My colleague the teller is kind.",
    "The model art fair lasts eight weeks.",
    "The model art fair begins on Monday at seven.",
]
TWO = "How many centimetres tall is my colleague the teller, who is at the bank? How many weeks does the fair last?"


CONFIG = MemoryConfig(storage="memory", embedding_name="hash")


def test_the_answers_of_both_questions_come_first() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        ids = [memory.add(note)[0] for note in NOTES]
        assert {ids[0], ids[4]} <= set(memory.recall(TWO, top_n=3).ids)
        assert len(set(memory.recall(TWO, top_n=5).ids)) == 5


def test_the_explanation_of_a_memory_names_only_nodes_of_its_recall() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        for place, note in enumerate(NOTES):
            memory.add(note, session_id="notes" if place % 2 else None)
        recall = memory.recall(TWO, top_n=3)
        known = {*dict(recall.anchors), *recall.ids, *recall.relays}
        for one in recall:
            assert sum(one.contributions.values()) == pytest.approx(one.score)
            assert {step.source_id for step in one.flows} <= known
        assert not recall.relays.keys() & {*dict(recall.anchors), *recall.ids}
        assert not recall.activated.keys() & set(recall.ids)
        assert recall.access.edges == {step.edge for one in recall for step in one.path}


@pytest.mark.parametrize(
    "text", ["What did we do?", "What is it that you do?", "What did we do? Where were you and what was it?"]
)
def test_a_question_of_common_words_only_asks_for_no_empty_text(text: str) -> None:
    assert all(one.strip() for one in with_questions(text))
    with NeuroGraphMemory(CONFIG) as memory:
        for note in NOTES:
            memory.add(note)
        assert not [note for note in memory.recall("What did we do?").notes if "questions of the text" in note]


@pytest.mark.parametrize(
    ("text", "questions"),
    rows(__file__, "questions"),
)
def test_questions_in_a_text(text: str, questions: list[str]) -> None:
    assert with_questions(text) == [text, *questions]


@given(st.text(alphabet='a ?？.。“”"\n问题车'))
def test_questions_are_parts_of_the_text(text: str) -> None:
    whole, *questions = with_questions(text)
    assert whole == text
    assert all(character in text for question in questions for character in question)
