"""Knowledge in slots, and the profile."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from neurogated.core.claims import Claim
from neurogated.dialogue.analysts import ASSISTANT, keywords_of, summary_of
from neurogated.dialogue.long_term import (
    Learned,
    Trait,
    asked_dimensions,
    dimensions,
    lessons_of,
    own_trait,
    profile_of,
    standing_knowledge,
)
from neurogated.dialogue.model import Record
from neurogated.errors import InputError
from neurogated.knowledge.judge.slots import SlotJudge
from neurogated.knowledge.read.reader import OfflineClaimReader

NOW = datetime(2026, 3, 1, tzinfo=UTC)
READER, JUDGE = OfflineClaimReader(), SlotJudge()


def _learned(page: str, text: str, day: int = 0) -> list[Learned]:
    said = NOW + timedelta(day)
    return [Learned(replace(claim, said=said), page) for claim in READER.read(text, said)]


def _known(*said: list[Learned]) -> dict[str, Record]:
    known: dict[str, Record] = {}
    for learned in said:
        known.update(lessons_of(known, learned, JUDGE).changed)
    return known


def _trait(dimension: str, value: str, confidence: float = 1.0, page: str = "p", day: int = 0) -> Trait:
    return Trait(dimension, value, confidence, page, NOW + timedelta(day))


def _profile(*traits: Trait) -> dict[str, Record]:
    return profile_of({one.key: one.record() for one in traits}, dimensions())


def test_there_are_ninety_dimensions_with_descriptions() -> None:
    groups = [one.group for one in dimensions().values()]
    assert {name: groups.count(name) for name in set(groups)} == {"person": 40, "alignment": 7, "interests": 43}
    assert all(one.description for one in dimensions().values())


def test_sensitive_dimensions_are_off_unless_asked_for() -> None:
    assert not any(one.sensitive for one in asked_dimensions(()).values())
    assert {"Health", "Sleep preference"} <= asked_dimensions(["health"]).keys() - asked_dimensions(()).keys()
    assert "Neuroticism" not in asked_dimensions(["health", "faith", "politics"])
    with pytest.raises(InputError, match="gender"):
        asked_dimensions(["gender"])


def test_a_later_value_of_a_slot_ends_the_earlier_one_and_keeps_it() -> None:
    known = _known(_learned("1", "I live in Lyon."), _learned("2", "I moved to Paris.", 9))
    assert [one["fact"] for one in standing_knowledge(known, 9)] == ["user home: Paris"]
    (lyon,) = (one for one in known.values() if "Lyon" in one["fact"])
    assert lyon["until"] == (NOW + timedelta(9)).isoformat()


def test_the_same_fact_again_adds_evidence_and_no_entry() -> None:
    known = _known(_learned("1", "I live in Lyon."), _learned("2", "I live in Lyon.", 3))
    (entry,) = known.values()
    assert entry["evidence"] == ["1", "2"]


def test_learning_the_same_page_again_changes_nothing() -> None:
    told = _learned("1", "I live in Lyon. I like tea. My dog is called Rex.")
    known = _known(told)
    assert known
    assert lessons_of(known, told, JUDGE).changed == {}


def test_a_guess_does_not_replace_what_is_sure() -> None:
    found = _profile(_trait("Age group", "34"), _trait("Age group", "90", 0.4, "q", day=9))
    assert found["Age group"] == {"value": "34", "confidence": 1.0, "evidence": ["p"]}


def test_of_equally_sure_traits_the_latest_counts_and_interests_have_several() -> None:
    found = _profile(
        _trait("Age group", "34"), _trait("Age group", "35", page="q", day=9),
        *(_trait("Music", value, page=value, day=day) for day, value in enumerate(("cello", "jazz", "opera", "folk"))),
    )  # fmt: skip
    assert found["Age group"]["value"] == "35"
    assert found["Music"]["value"] == "folk; opera; jazz"
    assert found["Music"]["evidence"] == ["folk", "opera", "jazz"]


def test_what_the_user_set_stands_against_later_pages() -> None:
    key, own = own_trait("Age group", "36", NOW, dimensions())
    later = _trait("Age group", "12", day=40)
    assert profile_of({key: own, later.key: later.record()}, dimensions())["Age group"]["value"] == "36"


def test_what_the_user_erased_counts_only_from_later_pages() -> None:
    key, own = own_trait("Age group", "", NOW + timedelta(5), dimensions())
    early, late = _trait("Age group", "12"), _trait("Age group", "13", day=9)
    assert profile_of({key: own, early.key: early.record()}, dimensions()) == {}
    assert profile_of({key: own, late.key: late.record()}, dimensions())["Age group"]["value"] == "13"
    with pytest.raises(InputError, match="Shoe size"):
        own_trait("Shoe size", "44", NOW, dimensions())


def test_what_the_assistant_says_of_itself_is_knowledge_of_the_assistant() -> None:
    claims: list[Claim] = list(READER.read("The capital of France is Paris.", NOW, ASSISTANT))
    known = lessons_of({}, [Learned(claim, "1") for claim in claims], JUDGE).changed
    assert [one["fact"] for one in known.values()] == ["France capital: Paris"]


def test_the_front_is_the_latest_entries() -> None:
    told = [_learned(str(day), f"I like {thing}.", day) for day, thing in enumerate(("tea", "chess", "opera"))]
    shown = [one["text"] for one in standing_knowledge(_known(*told), 2)]
    assert shown == ["I like opera", "I like chess"]


def test_keywords_and_a_summary_come_from_the_text() -> None:
    text = "Hello there! My tomatoes have yellow leaves, and the tomato plants look dry. Thanks."
    keywords = keywords_of(text)
    assert keywords[0] == "tomatoes"
    assert "yellow leaves" in summary_of(text, keywords)
    assert keywords_of("") == []
