"""Traits of turns, and when two texts are the same."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryNode
from neurogated.core.equal_text import are_equal, equal_key
from neurogated.core.found import Found
from neurogated.core.turns import LENGTH_TAGS, PLACE_TAGS, called, turn_tags
from tests.golden import rows

# The traits that are read from a turn of a conversation


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Thanks, Ann!", {"ann"}),
        ("Hey Ann! How are you?", {"ann"}),
        ("Ann, that was kind.", {"ann"}),
        ("That was kind, Ann", {"ann"}),
        ("Wow! Ann, I met Bo.", {"ann"}),
        ("I met Ann yesterday.", set()),
        ("Thanks, Zoë!", {"zoe"}),
        ("Thanks, Oslo!", set()),
    ],
)
def test_a_name_that_is_set_off_calls_somebody(text: str, expected: set[str]) -> None:
    assert called(text, ["Ann", "Bo", "Zoë", "Ann Li"]) == expected


@pytest.mark.parametrize(
    ("place", "words", "expected"),
    [
        (0, 10, set()),
        (0, 95, set()),
        (0, 96, {LENGTH_TAGS[0]}),
        (0, 191, {LENGTH_TAGS[0]}),
        (0, 192, {LENGTH_TAGS[1]}),
        (1, 1000, {LENGTH_TAGS[2], PLACE_TAGS[0]}),
        (2, 2000, {LENGTH_TAGS[0], LENGTH_TAGS[2], PLACE_TAGS[0]}),
        (3, 1000, {LENGTH_TAGS[2], PLACE_TAGS[1]}),
        (1000, 10**9, {*LENGTH_TAGS, *PLACE_TAGS}),
    ],
)
def test_a_piece_tells_its_place_and_the_length_of_its_message(place: int, words: int, expected: set[str]) -> None:
    assert set(turn_tags(MemoryNode("n", "Text.", position=0, found=Found(part=(place, words))))) == expected


# When two texts are the same text: courtesies, marks, contractions and free order make no difference


@pytest.mark.parametrize(("one", "other"), rows(__file__, "different"))
def test_near_misses_differ(one: str, other: str) -> None:
    assert not are_equal([one, other])


@given(st.text(max_size=80))
def test_any_text_is_equal_to_itself_and_has_a_key(text: str) -> None:
    assert are_equal([text, text])
    assert bool(equal_key(text)) == bool(text.strip())
