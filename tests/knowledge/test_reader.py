"""What is read from ordinary sentences."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from neurogated.core.claims import USER, Change, Slot
from neurogated.knowledge.read import OfflineClaimReader, attribute_named

READER = OfflineClaimReader()
SAID = datetime(2026, 11, 24, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("I live in Ghent.", "home", "Ghent"),
        ("我住在根特。", "home", "根特"),
        ("I'm allergic to peanuts!", "allergy", "peanuts"),
        ("My boss is called Martin.", "manager", "Martin"),
    ],
)
def test_a_plain_statement_is_a_claim_of_the_user(text: str, attribute: str, value: str) -> None:
    [claim] = READER.read(text, SAID)
    assert (claim.slot, claim.value, claim.is_denied, claim.change) == (Slot(USER, attribute), value, False, None)


@pytest.mark.parametrize(
    "text", ["Do I live in Ghent?", "If I lived in Ghent, I would be happy.", "My boss says that I live in Ghent."]
)
def test_what_is_asked_supposed_or_said_by_others_is_no_claim(text: str) -> None:
    assert not READER.read(text, SAID)


def test_each_clause_is_read() -> None:
    claims = READER.read("I live in Ghent and work at Physio Plus.", SAID)
    assert [(claim.slot.attribute, claim.value) for claim in claims] == [("home", "Ghent"), ("employer", "Physio Plus")]


def test_no_longer_ends_a_value() -> None:
    [claim] = READER.read("By the way, I no longer live in Ghent lol", SAID)
    assert (claim.is_denied, claim.change, claim.value) == (True, Change.ENDS, "Ghent")


def test_a_question_names_its_slot_and_whether_it_asks_for_the_past() -> None:
    asked = READER.asked("Where did I live before?")
    assert asked is not None
    assert (asked.slots, asked.is_past) == ((Slot(USER, "home"),), True)


def test_words_of_a_triple_name_the_attribute_of_sentences() -> None:
    assert attribute_named("lives in").key == "home"
    assert attribute_named("is enrolled in").key == attribute_named("enrolled in").key
