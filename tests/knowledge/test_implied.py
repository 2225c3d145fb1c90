"""Claims that name only a value that ends, or that a text takes for granted."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from neurogated import NeuroGraphMemory

SAID = datetime(2025, 3, 3, tzinfo=UTC)


def told(memory: NeuroGraphMemory, *texts: str) -> list[str]:
    """Write messages a week apart; return the status of each conflict."""
    for week, text in enumerate(texts):
        said = {"role": "user", "content": text, "timestamp": SAID + timedelta(weeks=week)}
        memory.add(said, user_id="ana", session_id=f"week {week}")
    return [one.status for one in memory.conflicts.list(None, user_id="ana")]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My son plays the violin.", "My son gave up the violin."),
        ("I'm dating a guy named Paul.", "Paul and I split up."),
        ("I drive a blue Mazda.", "I sold my car."),
        ("I work at Nokia.", "I quit my job."),
        ("I work as a florist.", "I quit my job."),
        ("I'm looking for a room.", "I found a room!"),
        ("Ich bin mit Lena zusammen.", "Lena und ich haben uns getrennt."),
        ("Estoy buscando trabajo.", "He encontrado trabajo."),
    ],
)
def test_an_end_of_a_named_value_settles_the_slot_where_it_stands(
    memory: NeuroGraphMemory, earlier: str, later: str
) -> None:
    assert told(memory, earlier, later) == ["resolved"]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I'm an only child.", "My younger sister lives in Leeds."),
        ("We don't have a balcony.", "Our balcony is full of herbs."),
        ("I'm afraid of spiders.", "I'm not afraid of anything."),
        ("Ich habe keine Geschwister.", "Mein Bruder heiratet im Mai."),
        ("No tenemos terraza.", "Nuestra terraza es enorme."),
    ],
)
def test_what_is_taken_for_granted_contradicts_its_denial(memory: NeuroGraphMemory, earlier: str, later: str) -> None:
    assert told(memory, earlier, later) == ["open"]
    relation = memory.conflicts.compare(earlier, later)
    assert relation.is_conflict


def test_what_is_taken_for_granted_is_no_fact(memory: NeuroGraphMemory) -> None:
    assert told(memory, "Our balcony faces south.", "I sold my bike.", "My bike was a good one.") == []
    assert "balcony" not in [fact.value for fact in memory.facts.list(user_id="ana")]


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("I work at Nokia.", "I now also work at Fazer."),
        ("I work at Nokia.", "I work at Fazer as well."),
        ("Ich arbeite bei Bosch.", "Ich arbeite auch bei Aldi."),
        ("I'm from Swabia.", "I'm from Ulm."),
    ],
)
def test_an_addition_and_an_unknown_place_contradict_nothing(
    memory: NeuroGraphMemory, earlier: str, later: str
) -> None:
    assert told(memory, earlier, later) == []
    assert not memory.conflicts.compare(earlier, later).is_conflict


def test_a_person_has_no_price(memory: NeuroGraphMemory) -> None:
    assert told(memory, "I'm worried about the $200 deposit.", "I'm waiting for my visa until June 10.") == []


@pytest.mark.parametrize(
    ("earlier", "later"),
    [
        ("My bus leaves at seven.", "My bus leaves at half past nine."),
        ("Unser Bus fährt um sieben Uhr ab.", "Unser Bus geht erst um halb zehn."),
        ("El tren sale a las seis de la mañana.", "El tren sale a las nueve."),
    ],
)
def test_one_event_has_one_time(memory: NeuroGraphMemory, earlier: str, later: str) -> None:
    assert told(memory, earlier, later) == ["open"]
