"""Our own two-week chats are well-formed, and a memory that a perfect model reads marks their changes rightly."""

from __future__ import annotations

import pytest

from benchmarks import slow_model
from benchmarks.calls import calls_of
from benchmarks.knowing_model import serving
from benchmarks.two_weeks import answers_of, chats, measured


@pytest.mark.slow
def test_no_mark_is_wrong_in_a_chat_that_a_perfect_model_reads() -> None:
    chat = chats()["en"]
    with serving(*answers_of(chat)) as server:
        tally = measured(chat, {**server, "embedding_name": "hash"}, [])
    assert tally["changes"] == 6
    assert tally["marks wrong"] == 0


@pytest.mark.slow
def test_a_model_makes_writes_and_recalls_hardly_more_work() -> None:
    chat = slow_model.chat(200)
    written, recalled = slow_model.measured(chat, 0.01, "hash", calls_of).ratios
    # 1.08 to 1.12 in five runs: a write is planned again if the reader of messages has written meanwhile.
    assert written < 1.2
    assert recalled < 1.1


@pytest.mark.slow
def test_all_facts_of_a_chat_are_there_after_few_calls_of_a_slow_model() -> None:
    found = slow_model.measured(slow_model.chat(16), 0.01, "hash")
    assert found.facts == 16
    assert found.calls <= 0.35
    assert found.characters <= 1_500
