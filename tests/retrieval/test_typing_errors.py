"""Typing errors of a question are corrected by the words of the memories that it may find."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.retrieval.queries import corrected
from neurogated.text.normalise import plain_question

SURGEON, TRAIN = "The surgeon Kowalski operated on Monday.", "The train leaves from Vancouver at nine."


@pytest.fixture(scope="module")
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        memory.add(SURGEON, id="surgeon", user_id="ana")
        memory.add(TRAIN, id="train", user_id="ana")
        memory.add("The carpenter mends chairs.", id="carpenter", user_id="bob")
        yield memory


@pytest.mark.parametrize(
    "question", ["When did the surgoen operate?", "When did the surgeeon operate?", "When did the surgon operate?"]
)
def test_a_misspelt_question_finds_what_the_right_one_finds(memory: NeuroGraphMemory, question: str) -> None:
    right = memory.recall("When did the surgeon operate?", user_id="ana")
    found = memory.recall(question, user_id="ana")
    assert found.query == question
    assert found.ids == right.ids
    assert [one.score for one in found] == pytest.approx([one.score for one in right])
    assert any("surgeon" in note for note in found.notes)


@pytest.mark.parametrize(
    "question",
    [
        "When did the surgeon operate?",
        "Does the drain leave from Vancouver?",
        "Who is Kowalsky-Meier of surgoen@example.com?",
        "谁做了手术？",
        "Who is the surgeo\u0301n?",
        "What is at https://example.com/?q=surgoen&page=operatte or C:\\surgoen\\notes?",
    ],
)
def test_right_words_rare_words_and_addresses_stay(memory: NeuroGraphMemory, question: str) -> None:
    assert not memory.recall(question, user_id="ana").notes


@pytest.mark.parametrize("name", ["Vancuover", "Vancouvver", "VANCUVER"])
def test_a_misspelt_name_is_corrected_where_its_memory_has_the_words_beside_it(
    memory: NeuroGraphMemory, name: str
) -> None:
    right = memory.recall("Which train leaves from Vancouver?", user_id="ana")
    found = memory.recall(f"Which train leaves from {name}?", user_id="ana")
    assert [one.parts["keywords"] for one in found] == [one.parts["keywords"] for one in right]


def test_a_question_is_not_corrected_by_the_words_of_another_user(memory: NeuroGraphMemory) -> None:
    misspelt = "What does the carpentre mend?"
    assert memory.recall(misspelt, user_id="bob").notes
    assert not memory.recall(misspelt, user_id="ana").notes


@given(st.text(alphabet="abcdeéÄ ?.@-'问题İß"))
def test_only_words_that_memories_have_replace_others(text: str) -> None:
    assert corrected(text, lambda _: frozenset(), lambda texts: [len(one) for one in texts], lambda _: False) == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("Um, so like, you know, what did Ana do? lol", "what did Ana do?"),
        ("What did Ana do?", "What did Ana do?"),
        ("嗨，谁做了手术？", "谁做了手术?"),
        ("Um, who is Ana (the nurse)?", "who is Ana (the nurse)?"),
        ("Hi! I like tea :)", "Hi! I like tea"),
        ("(Honestly,) I moved to Springfield (Illinois).", "I moved to Springfield (Illinois)."),
        ("OK", "OK"),
        ("  \n", "  \n"),
        ("", ""),
    ],
)
def test_a_question_loses_only_its_courtesies(text: str, plain: str) -> None:
    assert plain_question(text) == plain
