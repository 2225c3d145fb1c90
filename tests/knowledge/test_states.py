"""An event says which state it begins or ends: who moved to York lives in York now."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import NeuroGraphMemory
from neurogated.knowledge.judge import PairJudge
from neurogated.knowledge.states import begun_in, states_in

BEGUN = [
    ("Last month I moved from Leeds to York.", "I live in York now."),
    ("I've just moved to York for my new job!", "I live in York now."),
    ("I started a new job at Bosch.", "I work at Bosch now."),
    ("I quit my job at Siemens.", "I no longer work at Siemens."),
    ("We sold our boat, because nobody sailed.", "We no longer have the boat."),
    ("I turned 30 yesterday.", "I am 30 years old now."),
    ("I stopped smoking.", "I am no longer smoking."),
    ("Ich bin letzte Woche nach York gezogen.", "Ich wohne jetzt in York."),
    ("Gestern habe ich bei Bosch angefangen.", "Ich arbeite jetzt bei Bosch."),
    ("La semana pasada me mudé a York.", "Ahora vivo en York."),
    ("J'ai déménagé à York la semaine dernière.", "J'habite maintenant à York."),
    ("我上周搬到了约克。", "现在我住在约克。"),
]
NOT_BEGUN = [
    "I moved to York when I was five.",
    "I moved to York in 2015.",
    "If I moved to York, I would be sad.",
    "I haven't moved to York.",
    "I am going to move to York.",
    "Tom says he moved to York.",
    "Did you hear that I moved to York?",
    "I moved the meeting to Friday.",
    "My sister has moved to Paris.",
    "My son turned 5.",
    "I turned 30 pages.",
    "It is not true that I moved to York.",
    "In my novel I moved to York.",
    "At the age of five I moved to York.",
    "Tom wrote to me, I moved to York.",
    "我妈妈搬到了约克。",
    "我没有搬到约克。",
    "我想搬到约克。",
    "Als ich klein war, sind wir nach York gezogen.",
    "Me gustaría mudarme a York.",
    "我小时候搬到了约克。",
]


@pytest.mark.parametrize(("sentence", "state"), BEGUN)
def test_an_event_begins_or_ends_a_state(sentence: str, state: str) -> None:
    assert begun_in(sentence) == (state,)


@pytest.mark.parametrize("sentence", NOT_BEGUN)
def test_stories_plans_and_denials_begin_no_state(sentence: str) -> None:
    assert begun_in(sentence) == ()


@given(
    st.lists(st.sampled_from(["I ", "moved ", "to ", "York", ", and ", ".", "!", "我搬到了", "约克", "When "])).map(
        "".join
    )
)
def test_any_text_has_states_that_differ_from_it(text: str) -> None:
    assert text not in states_in(text)


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("I live in Leeds.", "I moved to York last week.", "supersession"),
        ("I live in Leeds.", "Now I live in York, and I like it.", "supersession"),
        ("I live in Leeds, near the station.", "I live in York, because it is cheap.", "contradiction"),
        ("My favourite colour is blue, because of the sea.", "My favourite colour is green, I think.", "contradiction"),
        ("I live in York.", "I moved to York last week.", "independent"),
        ("I live in Leeds.", "My sister moved to York last week.", "independent"),
        ("I like Leeds.", "I moved to York last week, and I like it.", "independent"),
        ("I work at Siemens, and I play chess.", "I work at Siemens, and I play tennis.", "independent"),
    ],
)
def test_the_judge_compares_the_states_too(first: str, second: str, kind: str) -> None:
    assert PairJudge().compare(first, second).kind.value == kind


@pytest.mark.parametrize(
    ("old", "new"), [("I live in Leeds.", "I moved to York last week."), ("我住在利兹。", "我上周搬到了约克。")]
)
def test_a_memory_finds_what_an_event_replaces(memory: NeuroGraphMemory, old: str, new: str) -> None:
    start = datetime(2024, 1, 1, tzinfo=UTC)
    texts = [old, "My cat is old.", "I like tea.", "The weather in Leeds is bad.", new]
    names = [
        memory.add({"role": "user", "content": text, "timestamp": start + timedelta(days=day)}, user_id="ana")[0]
        for day, text in enumerate(texts)
    ]
    (conflict,) = memory.conflicts.list(None, user_id="ana")
    # The state is an inference, so the user is asked.
    assert (conflict.sides, conflict.kind.value, conflict.status) == ((names[0], names[-1]), "supersession", "open")
    assert memory.conflicts.list(None, user_id="ben") == []
