"""Importance: given by the caller, else judged; the energy of a new memory starts from it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.ingestion.importance import OfflineImportanceJudge, Remark

FACTS = {
    "en": "I moved to Bristol in April and started at a small architecture firm there.",
    "de": "Ich bin im März nach Kassel gezogen und arbeite jetzt in einer Schreinerei.",
    "fr": "J'ai commencé mon stage chez un luthier à Mirecourt la semaine dernière.",
    "es": "Ayer firmé el contrato de mi primer piso en Zaragoza con mi hermana Lucía.",
    "zh": "我上个月搬到了成都，现在在一家设计公司上班，房子离公司三公里。",
}
SMALL_TALK = {
    "en": "Wow, that's great! How do you like it?",
    "de": "Toll, das freut mich sehr! Wie geht es dir?",
    "fr": "C'est génial, merci beaucoup ! Et toi, ça va ?",
    "es": "¡Qué bien, gracias! ¿Y tú qué tal estás?",
    "zh": "哇，真的太好了！你最近怎么样？",
}


def judged(text: str, role: str | None = None, speaker: str | None = "Ann", earlier: int = 0) -> float:
    (value,) = OfflineImportanceJudge().judge([Remark(text, role, speaker, earlier)])
    return value


def opened(tmp_path: Path, **changes: object) -> NeuroGraphMemory:
    return NeuroGraphMemory(MemoryConfig.from_mapping({"save_dir": tmp_path, "embedding_name": "hash", **changes}))


@pytest.mark.parametrize("language", FACTS)
def test_a_fact_is_more_important_than_small_talk(language: str) -> None:
    assert judged(FACTS[language]) > 0.5 > judged(SMALL_TALK[language])
    assert judged(FACTS[language], "user", None) > judged(SMALL_TALK[language], "user", None)


TOLD = [
    *FACTS.values(),
    "I'm allergic to peanuts.",
    "My mother has Alzheimer's.",
    "I got a job offer from the hospital in Basel.",
    "We are getting married on 14 June.",
    "Always answer in short sentences.",
    "I put salt in my coffee by mistake.",
    "Meine Tochter heißt Frieda.",
    "Je travaille comme infirmière à Lille.",
    "Soy alérgica a los cacahuetes.",
    "我对花生过敏。",
]
UNTOLD = [
    "ok",
    "lol",
    "thanks",
    "Thanks a lot!",
    "OK, got it.",
    "haha",
    "What a day!",
    "danke",
    "d'accord",
    "vale",
    "好的",
    "哈哈",
]


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_the_user_gives_lasting_instructions_and_speaks_of_herself(role: str) -> None:
    for text in ("Always answer me in French.", "I am allergic to nuts, and my sister is, too."):
        assert judged(text, role, None) < judged(text, "user", None)


@pytest.mark.parametrize("role", [None, "user"])
def test_facts_about_a_person_and_standing_instructions_count_and_small_talk_does_not(role: str | None) -> None:
    told = {text: judged(text, role, None) for text in TOLD}
    untold = {text: judged(text, role, None) for text in UNTOLD}
    assert min(told.values()) > 0.4, told
    assert max(untold.values()) < 0.3, untold


_LEAD_INS = (
    "",
    "By the way, ",
    "Hi, ",
    "Oh, ",
    "FYI: ",
    "Just so you know, ",
    "Hi Anna! ",
    "Guess what! ",
    "You know what? ",
    "OK. ",
)
_ENDS = ("", "!", "!!!", " :)", " Thanks!")


@given(
    text=st.sampled_from([one for one in TOLD + UNTOLD if one.isascii()]),
    lead_in=st.sampled_from(_LEAD_INS),
    end=st.sampled_from(_ENDS),
    case=st.sampled_from([str, str.upper, str.lower]),
    role=st.sampled_from([None, "user"]),
)
@settings(deadline=None)
def test_marks_case_and_lead_ins_change_no_importance(
    text: str, lead_in: str, end: str, case: Callable[[str], str], role: str | None
) -> None:
    wrapped = lead_in + (text.rstrip(".!") + end if end.startswith("!") else text + end)
    assert judged(case(wrapped), role, None) == pytest.approx(judged(text, role, None), abs=0.05)


def test_a_question_after_a_statement_takes_nothing_from_it() -> None:
    text = "I have an exam in Lyon on Friday"
    for role in (None, "user"):
        assert judged(f"{text}, can you help me?", role, None) > 0.5 > judged("Can you help me?", role, None)


def test_a_long_memory_still_finds_a_fact_important() -> None:
    assert judged("I got a job offer from a hospital in Basel.", "user", None, 10**6) > judged("lol", "user", None, 0)


def test_in_a_chat_the_user_and_lasting_instructions_count_and_an_assistant_counts_less() -> None:
    text = "Please format all code as Python 3.11 with type hints."
    assert judged(text, "user", None) > judged(text, "assistant", None)
    assert judged("Always " + text, "user", None) > judged(text, "user", None)


def test_the_first_messages_of_a_user_count_more_than_later_ones() -> None:
    values = [judged(FACTS["en"], "user", None, earlier) for earlier in (0, 100, 1000)]
    assert values == sorted(values, reverse=True)
    assert judged(FACTS["en"], "user", "Ann", 0) == judged(FACTS["en"], "user", "Ann", 1000)


@given(
    text=st.text(max_size=300),
    role=st.sampled_from((None, "user", "assistant", "tool")),
    speaker=st.sampled_from((None, "Ann")),
    earlier=st.integers(0, 2**60),
)
@settings(deadline=None)
def test_importance_of_any_text_lies_between_0_and_1(
    text: str, role: str | None, speaker: str | None, earlier: int
) -> None:
    (value,) = OfflineImportanceJudge().judge([Remark(text, role, speaker, earlier)])
    assert 0.0 <= value <= 1.0


def test_the_callers_importance_wins_and_energy_starts_with_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        (mine,) = memory.add(FACTS["en"], importance=0.25, session_id="s")
        (judged_here,) = memory.add(FACTS["en"], session_id="s")
        (small,) = memory.add(SMALL_TALK["en"], session_id="s")
        nodes = [memory.get(one) for one in (mine, judged_here, small)]
    assert nodes[0].importance == 0.25
    assert nodes[1].importance > 0.5 > nodes[2].importance
    assert [node.base_energy for node in nodes] == [node.importance for node in nodes]


def test_adding_a_document_again_keeps_its_importance(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        (first,) = memory.add(FACTS["en"])
        before = memory.get(first)
        for place in range(5):
            memory.add(f"A heron stood by mill {place}.")
        assert memory.add(FACTS["en"], metadata={"seen": 2}) == [first]
        after = memory.get(first)
    assert (after.importance, after.base_energy) == (before.importance, before.base_energy)


def test_a_memory_about_the_present_task_starts_with_more_energy(tmp_path: Path) -> None:
    about, other = "Book the ferry to Malta for May.", "The heron eats a grey fish."
    with opened(tmp_path) as memory:
        memory.energy.focus("book the ferry to Malta", user_id="ana")
        ids = [memory.add(text, user_id=user)[0] for user in ("ana", "bo") for text in (about, other)]
        memory.energy.focus(None, user_id="ana")
        ids += memory.add(about + " Now.", user_id="ana")
        gains = [node.base_energy - node.importance for node in map(memory.get, ids)]
    assert gains[0] > 0.1 > gains[1]
    assert gains[2:] == [0.0, 0.0, 0.0]


def test_a_job_offer_never_sleeps_and_small_talk_may() -> None:
    limit = MemoryConfig().metabolism.dormant_importance
    for earlier in (0, 100_000):
        assert judged("I got a job offer from a hospital in Basel.", "user", None, earlier) > limit
        assert judged("lol", "user", None, earlier) < limit
