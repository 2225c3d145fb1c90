"""Names in German, French and Spanish texts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.text.names import names_in
from tests.golden import rows


@pytest.mark.parametrize(("text", "names"), rows(__file__, "names"))
def test_names_are_found_and_other_nouns_are_not(text: str, names: list[str]) -> None:
    found = names_in(text)
    assert sorted(found) == names
    assert sorted(found, key=text.index) == list(found)


@given(st.text(st.sampled_from("AaéÉ .,'-«3\n"), max_size=60))
def test_every_name_stands_in_the_text(text: str) -> None:
    for name in names_in(text):
        assert name in " ".join(text.split())
