from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import Document, Passage, compute_mdhash_id
from neurogated.errors import InputError

text_of_passage = st.text(
    alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1
).filter(str.strip)
titles = st.none() | st.text("abc 我", min_size=1, max_size=4)

MAKERS = [pytest.param(Passage, id="Passage"), pytest.param(Document.from_text, id="Document.from_text")]


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("text", ["", " ", "\n\t", "\u3000\u00a0"])
def test_blank_text_is_refused(make: Callable[[str], object], text: str) -> None:
    with pytest.raises(InputError):
        make(text)


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("value", [b"bytes", None, 7, ["text"]])
def test_a_value_without_text_is_refused_with_its_type(make: Callable[[Any], object], value: object) -> None:
    with pytest.raises(InputError, match=f"must be text, not {type(value).__name__}"):
        make(value)


@given(title=titles, texts=st.lists(text_of_passage, min_size=1, max_size=3), note=st.integers())
def test_the_id_does_not_depend_on_metadata(title: str | None, texts: list[str], note: int) -> None:
    plain = Document(tuple(map(Passage, texts)), title)
    noted = Document(tuple(Passage(text, {"note": note}) for text in texts), title, {"note": note})

    assert plain.document_id == noted.document_id


def test_the_id_is_written_down_and_must_not_change() -> None:
    # Every memory file contains ids. A changed rule would make every known document a new one.
    document = Document((Passage("We met."), Passage("We spoke.")), "Day 1")

    assert document.document_id == "doc-" + compute_mdhash_id("Day 1\0We met.\0We spoke.")
