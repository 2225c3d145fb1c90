"""The request around a question is left out; what the question is about stays."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.retrieval.requests import without_request

NOTES = (
    "You told me that the trip to the lake begins at noon.",
    "The surgeon operates at the clinic on Monday.",
    "The dentist of Ana works in Riga.",
)


@pytest.fixture(scope="module")
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        for note in NOTES:
            memory.add(note)
        yield memory


@pytest.mark.parametrize(
    "request_",
    [
        "Sorry to bother you, but could you please tell me, if you don't mind, ",
        "I need your help with something odd: ",
        "Kannst du mir kurz helfen, ",
        "有个小问题要请教你，",
    ],
)
def test_a_question_scores_the_same_with_a_request_before_it(memory: NeuroGraphMemory, request_: str) -> None:
    question = "where does the surgeon operate?"
    plain, wrapped = memory.recall(question), memory.recall(request_ + question)
    assert wrapped.ids == plain.ids
    assert [one.score for one in wrapped] == pytest.approx([one.score for one in plain])


@pytest.mark.parametrize(
    "question",
    [
        "When you told me about the lake, what did the trip begin with?",
        "After you met Ana, where did the dentist work?",
        "The dentist of the clinic, where does she work on Mondays?",
        "What did you say about the trip, and who is the surgeon?",
        "Could you tell me, where?",
        "那个喜欢登山的人，你知道他的邮箱地址是什么吗？",
    ],
)
def test_what_a_question_is_about_stays(question: str) -> None:
    held = {"lake": ("trip",), "trip": ("trip",)}
    assert without_request(question, lambda words: {word: held[word] for word in words if word in held}) == question


@given(st.text(alphabet="you whatİß，,:？?你ab3A "))
def test_the_end_of_a_text_stays(text: str) -> None:
    assert text.endswith(without_request(text, lambda _: {}).rsplit("?")[-1])
