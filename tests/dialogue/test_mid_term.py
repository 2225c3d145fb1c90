"""Segments: heat, topics and dormancy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.dialogue.mid_term import Segment, Topics, dormant
from neurogated.dialogue.model import DialogueSettings, escaped, settings_of
from neurogated.text.keywords import split_keywords

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
