"""Changes that name what is new or what ends, in wordings of several languages."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from neurogated.core.claims import USER, Change, Claim, Slot
from neurogated.knowledge.read import OfflineClaimReader

SAID = datetime(2026, 11, 24, 12, tzinfo=UTC)
ENDED = "ended"


def stated(text: str) -> list[Claim]:
    return [claim for claim in OfflineClaimReader().read(text, SAID) if not claim.is_implied]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("We have a new boss, her name is Ida.", "manager", "Ida"),
        ("New landlord, it's Mr. Petrov.", "landlord", "Mr. Petrov"),
        ("I have a new dentist. His name's Omar Lind.", "dentist", "Omar Lind"),
        ("I got a new camera, it's a Nikon Z5.", "camera", "Nikon Z5"),
        ("Ich habe einen neuen Chef, er heißt Jan.", "manager", "Jan"),
        ("Tengo una nueva jefa, se llama Laura.", "manager", "Laura"),
    ],
)
def test_a_pronoun_means_what_the_clause_before_calls_new(text: str, attribute: str, value: str) -> None:
    claims = {claim.slot: claim for claim in stated(text)}
    assert claims[Slot(USER, attribute)].value == value
    assert claims[Slot(USER, attribute)].change is Change.BEGINS


@pytest.mark.parametrize("text", ["We have a new boss, her name is Ida.", "We have a new neighbour, his name is Cole."])
def test_a_new_person_is_no_possession_and_gives_the_user_no_name(text: str) -> None:
    assert not {claim.slot for claim in stated(text)} & {Slot(USER, "name"), Slot(USER, "possession")}


def test_a_pronoun_after_other_words_keeps_its_meaning() -> None:
    claims = stated("I have a new bike. My sister lives in Ghent and her name is Ida.")
    assert Slot(USER, "bike") not in {claim.slot for claim in claims}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("I cancelled my gym membership.", "gym"),
        ("Piano lessons are over.", "Piano"),
        ("The dog died.", "dog"),
        ("I swapped the ukulele for a harp.", "ukulele"),
        ("Mi gato murió.", "gato"),
        ("He cancelado el gimnasio.", "gimnasio"),
    ],
)
def test_an_end_may_name_only_its_value(text: str, value: str) -> None:
    assert (Slot(USER, ENDED), value, Change.ENDS) in [(each.slot, each.value, each.change) for each in stated(text)]


@pytest.mark.parametrize(
    ("text", "attribute", "value"),
    [
        ("The deadline slipped to 3 May.", "deadline", "3 May"),
        ("Our rent is going up to 1,400.", "rent", "1,400"),
        ("Me han subido el alquiler a 900 euros.", "rent", "900 euros"),
        ("La reunión se ha cambiado al jueves.", "meeting_time", "jueves"),
        ("I got a Mazda 3 after I sold the Civic.", "car", "Mazda 3"),
    ],
)
def test_a_change_may_name_the_new_value_alone(text: str, attribute: str, value: str) -> None:
    [claim] = [claim for claim in stated(text) if claim.slot == Slot(USER, attribute)]
    assert (claim.value, claim.change) == (value, Change.BEGINS)


@pytest.mark.parametrize("text", ["My phone is a Galaxy 15 now.", "I swapped my Civic for a Mazda."])
def test_the_name_of_a_model_is_no_price_and_no_home(text: str) -> None:
    assert not {claim.slot.attribute for claim in stated(text)} & {"price", "home"}


def test_flatmates_have_one_name_at_a_time() -> None:
    slots = {claim.slot for text in ("My roommate is Anna.", "My roommate is Ben.") for claim in stated(text)}
    assert slots == {Slot(USER, "roommate")}
