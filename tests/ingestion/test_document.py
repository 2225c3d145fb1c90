"""Documents, their ids, and the titles that are found in them."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import Document, MemoryConfig, NeuroGraphMemory, Passage, compute_mdhash_id
from neurogated.core.rendering import keyword_text, render, subject_names
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


# The effects of a title that was found in a text


CONFIG = MemoryConfig(storage="memory", embedding_name="hash")
QUILL = "Ada Ruth Quill (born 1901) was a keeper of the light. She played chess."


def _names(memory: NeuroGraphMemory, node_id: str) -> list[str]:
    return list(memory.get(node_id).found.names)


def test_a_text_without_a_title_is_about_its_own_name() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        (about,) = memory.add(QUILL)
        memory.add("Chess is a game for two.")
        found = {recalled.id: recalled for recalled in memory.recall("Which game did Ada Quill play?")}
        assert found[about].parts["subject"] == 1.0
        assert memory.store.get_node(about).title is None


def test_a_given_title_is_never_replaced() -> None:
    with NeuroGraphMemory(CONFIG) as memory:
        (given,) = memory.add(QUILL, title="The keeper")
        assert _names(memory, given) == []
        (found,) = memory.add(QUILL)
        memory.update(found, title="The other keeper")
        assert subject_names(memory.store.get_node(found)) == ("the other keeper",)


def test_chunks_that_do_not_hold_it_are_embedded_and_searched_under_it() -> None:
    text = "# The Long Mole\n\n" + " ".join(f"Stone number {n} was laid in the year {1800 + n}." for n in range(40))
    with NeuroGraphMemory(CONFIG.replace(indexing={"chunk_size": 60})) as memory:
        first, second, *_ = (memory.store.get_node(node_id) for node_id in memory.add(text))
        assert render(first) == keyword_text(first) == first.content
        assert render(second) == f"The Long Mole\n{second.content}"
        assert memory.recall("What is the Long Mole?")[0].parts["subject"] == 1.0
