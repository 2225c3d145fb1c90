"""The request around a question is left out; what the question is about stays."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.retrieval.queries import without_request
from tests.golden import rows

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
        "hey assistant can you look something up for me ",
        "so basically i keep forgetting this and need a hint ",
    ],
)
def test_a_question_scores_the_same_with_a_request_before_it(memory: NeuroGraphMemory, request_: str) -> None:
    question = "where does the surgeon operate?"
    plain, wrapped = memory.recall(question), memory.recall(request_ + question)
    assert wrapped.ids == plain.ids
    assert [one.score for one in wrapped] == pytest.approx([one.score for one in plain])


@pytest.mark.parametrize(
    "question",
    rows(__file__, "subjects"),
)
def test_what_a_question_is_about_stays(question: str) -> None:
    held = {"lake": (1,), "trip": (1,), "singer": (1,)}
    assert (
        without_request(question, lambda words: {word: held[word] for word in words if word in held}, _clara)
        == question
    )


def _clara(tags: Iterable[str]) -> list[str]:
    """Return the tags of a subject with the name "Clara"."""
    return [tag for tag in tags if tag.endswith("clara")]


@given(st.text(alphabet="you whatİß，,:？?你ab3A "))
def test_the_end_of_a_text_stays(text: str) -> None:
    assert text.endswith(without_request(text, lambda _: {}, lambda _: ()).rsplit("?")[-1])
