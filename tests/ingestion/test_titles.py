"""Titles and other names that texts give themselves."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.ingestion.titles import find_names, find_title
from tests.golden import rows


@pytest.mark.parametrize(
    ("text", "title"),
    rows(__file__, "titles"),
)
def test_a_header_or_a_heading_is_the_title(text: str, title: str | None) -> None:
    assert find_title(text) == title


@pytest.mark.parametrize(
    "text",
    rows(__file__, "no_titles"),
)
def test_a_line_that_begins_no_text_is_no_title(text: str) -> None:
    assert find_title(text) is None


pieces = st.sampled_from([*"aA .,:#\n(\"'*-=1北是一的", " is a ", "Title: ", "Ada Quill", "Die ", " ist ein "])
texts = st.lists(pieces, max_size=12).map("".join)


@given(texts)
def test_a_found_title_is_in_the_text_and_is_found_again(text: str) -> None:
    names = find_names(text)
    assert names == find_names(text)
    if names:
        assert names[0] in text
        assert names[0] == find_title(text) == names[0].strip()
        assert re.search(r"[^\W\d_]", names[0])
    assert len(set(names)) == len(names)
