"""The work for a question grows with its length, whatever it repeats."""

import sys
from collections.abc import Iterator
from types import FrameType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory

REPEATED = [
    "我住在上海。",
    "to ",
    "a and b and ",
    "5 ft 11 in ",
    "去在到",
    "who is ann and where is ben and ",
    "why? ",
    "in Lyon ",
]
LENGTH = 2_000
WORDS = st.sampled_from(
    ["in", "to", "and", "who", "why", "Ann", "Lyon", "3 May", "在", "吗", "还有", "?", "。", ".", '"', "’s", "a"]
)


@pytest.fixture(scope="module")
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(embedding_name="hash", storage="memory")) as memory:
        memory.add(["Ana lives in Lyon.", "我住在上海。", "The pump failed because the valve was stuck."])
        memory.recall("Who lives in Lyon? And why? 谁住在上海？")
        yield memory


def work(memory: NeuroGraphMemory, question: str) -> int:
    """Return how many calls a recall makes, and how many characters their strings have, each string once."""
    calls, strings = 0, dict[int, str]()

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        if event == "call":
            calls += 1
            given = (frame.f_locals.get(name) for name in frame.f_code.co_varnames[: frame.f_code.co_argcount])
            strings.update((id(value), value) for value in given if isinstance(value, str))

    sys.setprofile(count)
    try:
        memory.recall(question)
    finally:
        sys.setprofile(None)
    return calls + sum(map(len, strings.values()))


def grows_with_length(memory: NeuroGraphMemory, repeated: str) -> None:
    whole = repeated * (2 * LENGTH // len(repeated))
    memory.recall(whole)  # the first question of its kind compiles patterns
    assert work(memory, whole) <= 2.6 * work(memory, whole[: len(whole) // 2])


@pytest.mark.parametrize("repeated", REPEATED)
def test_a_question_of_twice_the_length_is_twice_the_work(memory: NeuroGraphMemory, repeated: str) -> None:
    grows_with_length(memory, repeated)


@given(st.lists(WORDS, min_size=1, max_size=4))
@settings(max_examples=8, deadline=None)
def test_no_repeated_words_are_more_than_their_length(memory: NeuroGraphMemory, words: list[str]) -> None:
    grows_with_length(memory, " ".join([*words, ""]))
