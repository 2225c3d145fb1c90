"""The effects of a title that was found in a text."""

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.rendering import keyword_text, render, subject_names

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
