"""Knowledge in slots, and the profile."""

from datetime import UTC, datetime, timedelta

import pytest

from neurogated.core.claims import Change, Claim, Slot
from neurogated.dialogue.long_term import (
    ProfileLearned,
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

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HOME, LIKE = Slot("user", "home"), Slot("user", "like")


def _learned(
    page: str, *values: str, day: int = 0, change: Change | None = None, slot: Slot = HOME
) -> list[ProfileLearned]:
    said = NOW + timedelta(day)
    claims = (Claim(slot, one, change=change, said=said, confidence=0.9, quote=f"{one}!") for one in values)
    return [ProfileLearned(claim, page) for claim in claims]


def _known(*said: list[ProfileLearned]) -> dict[str, Record]:
    known: dict[str, Record] = {}
    for learned in said:
        known.update(lessons_of(known, learned).changed)
    return known


def _trait(dimension: str, value: str, confidence: float = 1.0, page: str = "p", day: int = 0) -> Trait:
    return Trait(dimension, value, confidence, page, NOW + timedelta(day))


def test_sensitive_dimensions_are_off_unless_asked_for() -> None:
    assert not any(one.sensitive for one in asked_dimensions(()).values())
    assert {"Health", "Sleep preference"} <= asked_dimensions(["health"]).keys() - asked_dimensions(()).keys()
    assert "Neuroticism" not in asked_dimensions(["health", "faith", "politics"])
    with pytest.raises(InputError, match="gender"):
        asked_dimensions(["gender"])


def test_a_later_value_of_a_slot_ends_the_earlier_one_and_keeps_it() -> None:
    known = _known(_learned("1", "Lyon"), _learned("2", "Paris", day=9, change=Change.BEGINS))
    assert [one["fact"] for one in standing_knowledge(known, 9)] == ["user home: Paris"]
    (lyon,) = (one for one in known.values() if "Lyon" in one["fact"])
    assert lyon["until"] == (NOW + timedelta(9)).isoformat()


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
