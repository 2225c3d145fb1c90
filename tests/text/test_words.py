import pytest

from neurogated.text.keywords import split_words
from tests.golden import rows


@pytest.mark.parametrize(
    ("text", "words"),
    rows(__file__, "words"),
)
def test_words_of_many_scripts_are_found_in_lower_case(text: str, words: list[str]) -> None:
    assert split_words(text) == words
