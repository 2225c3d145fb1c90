"""Importance: given by the caller, else judged; the energy of a new memory starts from it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.energy import DORMANT_IMPORTANCE
from neurogated.ingestion.importance import OfflineImportanceJudge, Remark
from tests.golden import rows

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


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
def test_only_the_user_gives_lasting_instructions_and_speaks_of_herself(role: str) -> None:
    for text in ("Always answer me in French.", "I am allergic to nuts, and my sister is, too."):
        assert judged(text, role, None) < judged(text, "user", None)


@pytest.mark.parametrize("role", [None, "user"])
def test_facts_about_a_person_and_standing_instructions_count_and_small_talk_does_not(role: str | None) -> None:
    said = [*((text, True) for text in FACTS.values()), *rows(__file__, "important")]
    values = {text: judged(text, role, None) for text, _ in said}
    assert all(values[text] > 0.4 if is_told else values[text] < 0.3 for text, is_told in said), values


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


def test_a_job_offer_never_sleeps_and_small_talk_may() -> None:
    limit = DORMANT_IMPORTANCE
    for earlier in (0, 100_000):
        assert judged("I got a job offer from a hospital in Basel.", "user", None, earlier) > limit
        assert judged("lol", "user", None, earlier) < limit
