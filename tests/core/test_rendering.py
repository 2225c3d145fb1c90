"""The texts that stand for a node, with metadata of every kind."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryNode
from neurogated.core.clock import from_micros
from neurogated.core.found import Found
from neurogated.core.rendering import PLACE, SPEAKER, SUBJECT, names_in, render, subjects, tags
from neurogated.text.keywords import fold, split_words
from tests.golden import rows


def node(content: str = "", **fields: Any) -> MemoryNode:  # noqa: ANN401
    return MemoryNode("n", content, **fields)


@pytest.mark.parametrize(
    ("fields", "rendered"),
    [
        ({}, "I moved to Lyon."),
        ({"title": "Session 1"}, "Session 1\nI moved to Lyon."),
        ({"speaker": "Ann"}, 'Ann said, "I moved to Lyon."'),
        ({"speaker": "Ann", "title": "Session 1"}, 'Session 1\nAnn said, "I moved to Lyon."'),
        ({"role": "user", "timestamp": from_micros(0)}, "I moved to Lyon."),
        ({"metadata": {"title": "Session 1", "speaker": "Ann", "context": ["Where?"]}}, "I moved to Lyon."),
    ],
)
def test_title_and_speaker_are_written_around_the_content(fields: dict[str, Any], rendered: str) -> None:
    assert render(node("I moved to Lyon.", **fields)) == rendered


@pytest.mark.parametrize(("title", "names"), rows(__file__, "subjects"))
def test_a_node_is_about_its_title_with_and_without_its_qualifier(title: str | None, names: list[str]) -> None:
    assert subjects(title) == tuple(names)


@given(st.text(st.sampled_from("Aé b北.，"), max_size=30))
def test_every_title_that_is_a_name_is_found_in_a_text_that_holds_it(title: str) -> None:
    for name in subjects(title):
        existing = tags(node(title=title or None))
        (found,) = names_in([split_words(fold(f"We saw {title} there"))], existing.intersection)
        assert SUBJECT + name in found


_NAMED = st.lists(st.sampled_from(["ann", "saw", "the", "苏"]), max_size=9)


@given(st.lists(_NAMED, max_size=3), _NAMED, _NAMED, _NAMED)
def test_the_names_in_texts_that_some_node_has_are_told(
    texts: list[list[str]], title: list[str], speaker: list[str], place: list[str]
) -> None:
    found = Found(place=" ".join(place) or None)
    existing = tags(node(title=" ".join(title) or None, speaker=" ".join(speaker) or None, found=found))
    expected = []
    for words in texts:
        runs = {" ".join(words[begin:end]) for begin in range(len(words)) for end in range(begin + 1, len(words) + 1)}
        expected.append(existing & {kind + run for kind in (SUBJECT, SPEAKER, PLACE) for run in runs})
    for wanted, told in zip(expected, names_in(texts, existing.intersection), strict=True):
        first_names = told - wanted
        assert all(tag.startswith("opens speaker ") for tag in first_names)
        assert wanted - told == {tag.removeprefix("opens ") for tag in first_names} & wanted
    about = [frozenset(tag for tag in found if tag.startswith("subject")) for found in expected]
    assert names_in(texts, existing.intersection, subjects_only=True) == about
