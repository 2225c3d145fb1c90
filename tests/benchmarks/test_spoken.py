"""The texts of the measures of knowledge: two halves that share nothing, wrappings, facts and sentences."""

from __future__ import annotations

from collections import Counter

import pytest

from benchmarks.spoken import facts_of, matches, rows, wrapped
from benchmarks.vault_sentences import sentence
from neurogated.core.facts import Fact


def _fact(subject: str, attribute: str, value: str) -> Fact:
    return Fact("id", f"{subject} {attribute}: {value}", subject, attribute, value)


@pytest.mark.parametrize("name", ["pairs", "sentences", "chats", "second_pairs", "second_sentences"])
def test_the_halves_share_no_text(name: str) -> None:
    dev, test = (
        {text for row in rows(f"{name}_{half}") for text in row[1:] if " " in text or not text.isascii()}
        for half in ("dev", "test")
    )
    assert not {text for text in dev & test if text[-1] in ".。"}


def test_the_second_set_has_as_many_pairs_of_each_kind() -> None:
    kinds = Counter(row[1] for half in ("dev", "test") for row in rows(f"second_pairs_{half}"))
    assert kinds == dict.fromkeys(("contradiction", "change", "none"), 80)


def test_a_pair_is_wrapped_in_ten_ways_for_the_open_half_and_in_all_for_the_closed_one() -> None:
    pair = ("I live in Ulm.", "My cat is called Mo.")
    for half, number in (("dev", 10), ("test", 25)):
        found = set(wrapped("en", half, *pair))
        assert len(found) == number
        assert all("live in ulm" in one.lower() and "called mo" in other.lower() for one, other in found)
    assert any("way, my cat" in later for _, later in found)


def test_a_fact_matches_whatever_its_attribute_is_called() -> None:
    (pet,) = facts_of("user|pet|Max or dog|name|Max")
    for fact in (_fact("user", "pet", "max"), _fact("user", "dog", "a Max"), _fact("dog", "name", "Max")):
        assert matches(fact, pet)
    for fact in (_fact("user", "job", "Max"), _fact("cat", "name", "Max"), _fact("user", "pet", "Maxine")):
        assert not matches(fact, pet)
    required, other = facts_of("user|language|Dutch; ?user|language|French")
    assert required.is_required
    assert not other.is_required
    (home,) = facts_of("user|home|青岛")
    assert matches(_fact("user", "home", "青岛市"), home)


def test_the_sides_of_a_fact_are_worded_differently_with_times_in_words() -> None:
    fact = {"subject": "Ana", "predicate": "lives in", "object": "Bonn"}
    assert len({sentence(fact, "a", side) for side in range(3)}) == 3
    times = {"valid_from": "2020-06-01", "valid_to": "2021-06-01"}
    told = {sentence({**fact, **times}, str(key), 0) for key in range(30)}
    assert all("Bonn" in one and "June 1, 2020" in one and "lives" not in one for one in told)
    assert {"between", "from"} <= {word for one in told for word in one.lower().split()}
