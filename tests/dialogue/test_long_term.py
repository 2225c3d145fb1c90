"""Knowledge in slots, the profile, segments, and work in the background."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.facts import Change, Claim, Slot
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
from neurogated.dialogue.mid_term import Segment, Topics, dormant
from neurogated.dialogue.model import DialogueSettings, Record, escaped, settings_of
from neurogated.dialogue.updater import PageBacklog
from neurogated.errors import InputError
from neurogated.text.keywords import split_keywords

# Knowledge in slots, and the profile


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
        known.update(lessons_of(known, learned)[0])
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


# Segments: heat, topics and dormancy


CODE = settings_of("code", {})


def _segment(
    name: str, *pages: str, vector: tuple[float, ...] = (1.0, 0.0), words: tuple[str, ...] = (), at: float = 0.0
) -> Segment:
    segment = Segment(name, np.zeros(len(vector), np.float32))
    for page in pages or (name,):
        segment.add(page, np.array(vector, np.float32), words, f"about {page}", at)
    return segment


def test_heat_adds_visits_pages_and_recency_by_their_weights() -> None:
    segment = _segment("a", "a", "b", "c")
    segment.visits = {"here": 2, "elsewhere": 1}
    settings = settings_of("code", {"alpha": 2.0, "beta": 3.0, "gamma": 5.0, "tau": 10.0})
    assert segment.heat(20.0, settings) == pytest.approx(2 * 3 + 3 * 3 + 5 * math.exp(-2))


def test_a_consolidated_segment_is_cool_and_counts_anew() -> None:
    segment = _segment("a", "a", "b", "c", "d", "e")
    segment.visits = {"here": 4}
    segment.settled, segment.pages = 4, dict.fromkeys(segment.pages, True)
    assert segment.heat(1e9, CODE) == pytest.approx(0.0)
    segment.visits["here"] += 1
    assert segment.heat(1e9, CODE) == pytest.approx(1.0)


def test_the_least_visited_cold_segments_become_dormant() -> None:
    segments = [_segment(name) for name in "abcd"]
    segments[0].visits, segments[1].visits = {"x": 1}, {"x": 2}
    hot = DialogueSettings(mid_term_max_capacity=2, mid_term_heat_threshold=100.0)
    assert dormant(segments, 0.0, hot) == {"c", "d"}


def _slow_nearest(segments: list[Segment], vector: np.ndarray, words: list[str], threshold: float) -> str | None:
    """Compare with every segment."""
    asked, scores = frozenset(split_keywords(" ".join(words))), {}
    for one in segments:
        own = frozenset(split_keywords(" ".join(one.front)))
        either = asked | own
        cosine = float(one.total @ vector / (np.linalg.norm(one.total) or 1.0))
        scores[one.id] = cosine + (len(asked & own) / len(either) if either else 0.0)
    best = max(scores, key=scores.__getitem__, default=None)
    return best if best is not None and scores[best] >= threshold else None


WORDS = st.lists(st.sampled_from(["tea", "coffee", "lyon", "garden", "guitar", "rain"]), max_size=4)


@given(st.lists(st.tuples(st.integers(0, 99), WORDS), max_size=12), st.integers(0, 99), WORDS)
def test_a_page_joins_the_segment_with_the_highest_cosine_plus_jaccard(
    told: list[tuple[int, list[str]]], seed: int, words: list[str]
) -> None:
    def unit(number: int) -> np.ndarray:
        vector = np.random.default_rng(number).standard_normal(4).astype(np.float32)
        return vector / np.linalg.norm(vector)

    segments: dict[str, Segment] = {}
    topics = Topics(())
    for place, (number, own) in enumerate(told):
        name = topics.nearest(unit(number), own, 0.6) or f"s{place}"
        assert name == (_slow_nearest(list(segments.values()), unit(number), own, 0.6) or f"s{place}")
        segment = segments.setdefault(name, Segment(name, np.zeros(4, np.float32)))
        segment.add(f"p{place}", unit(number), own, "", 0.0)
        topics.update(segment)
    assert topics.nearest(unit(seed), words, 0.6) == _slow_nearest(list(segments.values()), unit(seed), words, 0.6)


@given(st.lists(st.text(min_size=1), unique=True, max_size=20))
def test_names_of_files_stay_apart_and_in_their_folder(names: list[str]) -> None:
    names = [name for name in names if not any("\ud800" <= letter <= "\udfff" for letter in name)]
    written = [escaped(name) for name in names]
    assert len({name.lower() for name in written}) == len(names)
    assert all(name and not set(name) & set("./\\\0:") and len(name) < 200 for name in written)


# Work on users in the background: what is asked for while work fails is done


def test_work_that_is_asked_for_while_it_fails_runs_again() -> None:
    began, goes_on, runs = threading.Event(), threading.Event(), list[str]()

    def run(user_id: str, _stop: Callable[[], bool]) -> None:
        runs.append(user_id)
        if len(runs) == 1:
            began.set()
            goes_on.wait()
            raise RuntimeError("no network")

    backlog = PageBacklog(run)
    backlog.add("ana")
    began.wait()
    backlog.add("ana")
    goes_on.set()
    backlog.flush()
    assert runs == ["ana", "ana"]


def test_work_that_fails_waits_until_it_is_asked_for() -> None:
    runs = list[str]()

    def run(user_id: str, _stop: Callable[[], bool]) -> None:
        runs.append(user_id)
        if len(runs) == 1:
            raise RuntimeError("no network")

    backlog = PageBacklog(run)
    backlog.add("ana")
    with pytest.raises(RuntimeError, match="no network"):
        backlog.flush()
    backlog.flush()
    assert runs == ["ana"]
    backlog.add("ana")
    backlog.flush()
    assert runs == ["ana", "ana"]
