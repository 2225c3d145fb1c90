"""A memory in RAM erases deleted texts like one on disk."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from uuid import uuid4

import pytest

from neurogated import Document, MemoryConfig, NeuroGraphMemory, Passage


def new_word() -> str:
    """Return a word that nothing in the process contains yet."""
    return f"zebra{uuid4().hex}"


def texts_with(word: str) -> int:
    """Return how many texts in the process contain a word, except the word itself. The search follows containers."""
    gc.collect()
    return sum(
        issubclass(type(one), str) and one is not word and word in one.lower()
        for container in gc.get_objects()
        for one in gc.get_referents(container)
    )


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as opened:
        yield opened


def _talk(word: str) -> Document:
    turns = ("Where is the key?", f"The {word} has it.", "I see.")
    passages = tuple(Passage(text, speaker=name) for text, name in zip(turns, "ABA", strict=True))
    return Document(passages, title="Talk")


def test_no_text_of_a_deleted_memory_is_left_in_the_process(memory: NeuroGraphMemory) -> None:
    word, other = new_word(), memory.in_namespace("other")
    for graph in (memory, other):
        ((_, secret, _),) = graph.add_documents([_talk(word)], progress=False)
        graph.recall("Who has the key?")
        graph.delete([secret])
    del graph
    assert texts_with(word) > 0
    assert memory.admin.compact() == 2
    assert texts_with(word) == 0
    assert memory.history.list()[0].changes["nodes put"] == 3
    assert len(memory.recall("Who has the key?", top_n=3)) == 2


def test_an_old_version_is_erased_with_the_history_alone(memory: NeuroGraphMemory) -> None:
    word = new_word()
    (node_id,) = memory.add_document(f"The {word} sleeps.")
    memory.update(node_id, "It sleeps.")
    assert memory.admin.compact() == 0
    assert texts_with(word) > 0
    assert memory.admin.compact(history=True) == 0
    assert texts_with(word) == 0
    assert memory.recall("Who sleeps?", as_of=1).memories[0].content == "It sleeps."


def test_a_block_that_was_taken_back_leaves_no_text(memory: NeuroGraphMemory) -> None:
    word = new_word()
    with pytest.raises(ZeroDivisionError), memory.store.transaction():  # type: ignore[attr-defined]  # noqa: PT012
        memory.add_document(f"The {word} sleeps.")
        raise ZeroDivisionError
    assert texts_with(word) == 0
