"""Contexts quote what people said, with speaker and day; a later message stands beside the earlier one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.quoting import CLOSING, OPENING

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
SAID = (
    ("ana", "2025-01-14", "I work at Philips as a data analyst."),
    ("ana", "2026-11-05", "Big news, I quit! Starting at ASML on Monday."),
    ("ben", "2026-11-02", "The meeting with Bosch is on Tuesday at 10."),
    ("ben", "2026-11-05", "The Bosch meeting was moved to Thursday at 14."),
    ("kim", "2026-06-01", "I like sushi only when Kenji makes it."),
    ("lou", "2025-01-20", "I weigh 82 kg at the moment."),
    ("max", "2026-03-02", "I don't eat meat, and Lotte, my girlfriend, can't have gluten."),
    ("joy", "2026-03-02", "I've never been fishing."),
    ("eli", "2026-03-02", "Peanuts are a no-go for me."),
)
LINE = re.compile(r"- (?:\([^()]*\) )*user \(\d+ \w+ \d{4}\): (?P<text>.*)")


@pytest.fixture(scope="module")
def said() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        for user, day, text in SAID:
            message = {"role": "user", "content": text}
            memory.add(message, user_id=user, session_id=day, timestamp=f"{day}T12:00:00Z")
        yield memory


@pytest.mark.parametrize(
    ("user", "question"),
    [
        ("ana", "Where do I work?"),
        ("ben", "When is the Bosch meeting?"),
        ("kim", "Do I like sushi?"),
        ("lou", "How much do I weigh?"),
        ("max", "What shall we cook?"),
        ("joy", "Have I been fishing?"),
        ("eli", "Is there any food that I can't have?"),
    ],
)
@pytest.mark.parametrize("budget", [250, 2000])
def test_a_context_has_the_words_of_people_with_speaker_and_day_and_nothing_else(
    said: NeuroGraphMemory, user: str, question: str, budget: int
) -> None:
    first, *lines, last = said.get_context(question, budget, user_id=user, now=NOW).text.splitlines()
    assert (first, last) == (OPENING, CLOSING)
    quoted = [found["text"] for line in lines if (found := LINE.fullmatch(line))]
    assert quoted == [text for owner, _, text in SAID if owner == user]
    assert len(quoted) == len(lines)


def test_an_earlier_message_is_marked_with_the_later_one_and_ranks_below_it(said: NeuroGraphMemory) -> None:
    recall = said.recall("When is the Bosch meeting?", user_id="ben", now=NOW)
    assert [one.content for one in recall] == [SAID[3][2], SAID[2][2]]
    assert [(name, node.content) for name, node in recall.later.items()] == [(recall[1].id, SAID[3][2])]
    mark = (
        "- (later, 5 November 2026: The Bosch meeting was moved to Thursday …) user (2 November 2026): The meeting with"
    )
    assert mark in recall.as_text()
    assert mark in said.get_context("When is the Bosch meeting?", user_id="ben", now=NOW).text


def test_the_later_message_is_there_whenever_the_earlier_one_is(said: NeuroGraphMemory) -> None:
    seen = set()
    for budget in range(20, 120, 4):
        text = said.get_context("When is the meeting with Bosch on Tuesday?", budget, user_id="ben", now=NOW).text
        seen.add((f"): {SAID[2][2]}" in text, f"): {SAID[3][2]}" in text))
    assert (True, True) in seen
    assert (True, False) not in seen


@pytest.mark.parametrize("most", [1, 2, 3])
def test_a_short_recall_is_the_beginning_of_a_long_one_and_its_context_has_the_later_message(
    said: NeuroGraphMemory, most: int
) -> None:
    question = "When is the Bosch meeting?"
    short, long = (said.recall(question, user_id="ben", now=NOW, top_n=n) for n in (most, 20))
    assert [one.content for one in short] == [one.content for one in long][:most]
    for asked in (question, "Was the meeting on Tuesday at 10, the one with Bosch?"):
        context = said.get_context(asked, user_id="ben", now=NOW, top_n=1)
        assert f"): {SAID[3][2]}" in context.text


LAMP = "The meeting room of Bosch has a broken lamp."


TUESDAY, THURSDAY = SAID[2][2], SAID[3][2]


@pytest.mark.parametrize(
    ("said", "is_linked"),
    [
        ([("Sam", "a", TUESDAY), ("Sam Vries", "b", THURSDAY), ("Bo", "c", LAMP)], True),
        ([("Sam", "a", TUESDAY), (None, "b", THURSDAY), ("Bo", "c", LAMP)], True),
        ([("Sam", "a", TUESDAY), (None, "b", THURSDAY), ("Bo", "b", LAMP)], True),
        ([("Sam", "a", TUESDAY), ("Sam Vries", "a", THURSDAY), (None, "c", LAMP)], False),
        ([("Sam", "a", TUESDAY), (None, "a", THURSDAY), ("Bo", "a", LAMP)], False),
        ([("Ben", "a", TUESDAY), ("Tom", "b", THURSDAY)], False),
        ([("Ben", "a", TUESDAY), ("assistant", "b", THURSDAY)], False),
        ([("Ana", "a", "Hi Ben, all well?"), ("Ben", "a", "Fine, Ana."), (None, "a", TUESDAY), ("Ben", "a", THURSDAY)],
         False),
        ([("Sam", "a", TUESDAY), ("Sam Vries", "a", "Fine, and you?"), ("Sam Vries", "a", THURSDAY)], False),
    ],
)  # fmt: skip
def test_one_person_is_one_speaker_unless_two_names_speak_in_a_session(
    said: Sequence[tuple[str | None, str, str]],
    is_linked: bool,  # noqa: FBT001 - a case
) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        for day, (name, session, text) in enumerate(said, 1):
            who = {"role": "assistant"} if name == "assistant" else {"role": "user"} | ({"name": name} if name else {})
            message = {**who, "content": text}
            memory.add(message, user_id="ben", session_id=session, timestamp=f"2026-11-{day:02}T12:00Z")
        recall = memory.recall("When is the Bosch meeting?", user_id="ben", now=NOW, top_n=9)
        assert (THURSDAY in {node.content for node in recall.later.values()}) == is_linked


def test_a_filter_that_hides_the_later_message_hides_the_mark(said: NeuroGraphMemory) -> None:
    recall = said.recall("When is the Bosch meeting?", user_id="ben", session_id="2026-11-02", now=NOW)
    assert [one.content for one in recall] == [SAID[2][2]]
    assert "later" not in recall.as_text()


def test_what_arrives_late_is_not_later() -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        for day, text in reversed([one[1:] for one in SAID if one[0] == "ben"]):
            memory.add({"role": "user", "content": text}, user_id="ben", session_id=day, timestamp=f"{day}T12:00Z")
        recall = memory.recall("When is the Bosch meeting?", user_id="ben", now=NOW)
        assert [node.content for node in recall.later.values()] == [SAID[3][2]]
