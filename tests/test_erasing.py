"""After `compact` no file contains a forgotten text. Before it no recall returns one."""

import gc
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from random import Random
from uuid import uuid4

import pytest

from neurogated import Document, MemoryConfig, NeuroGraphMemory, Passage
from neurogated.errors import InputError
from neurogated.session.compose import build
from neurogated.testing import ManualClock
from tests.postgres_server import Postgres
from tests.repeating import Repeating

WORD = "SWORDFISH"


def _files_with(folder: Path, text: str = WORD) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file() and text.encode() in path.read_bytes())


def _opened(config: MemoryConfig, clock: ManualClock) -> NeuroGraphMemory:
    return NeuroGraphMemory(config, parts=build(config, clock))


@pytest.fixture
def node_id(config: MemoryConfig, monkeypatch: pytest.MonkeyPatch) -> str:
    """Store a memory about which a model was asked, and return its id."""
    with monkeypatch.context() as patch:
        patch.setenv("OPENAI_API_KEY", "none")
        patch.setattr("neurogated.session.compose.get_llm", lambda *_, **__: Repeating(WORD))
        with NeuroGraphMemory(config.replace(llm={"use": "auto"})) as memory:
            (node_id,) = memory.add(f"The pass word of the gate is {WORD}.", user_id="ana")
            assert memory.answer(memory.recall("What is the pass word?", user_id="ana")) == WORD
    assert "llm_cache.db" in _files_with(Path(config.save_dir))
    return node_id


def test_caches_of_a_language_model_are_emptied_without_one_too(config: MemoryConfig, node_id: str) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.delete([node_id])
        assert memory.admin.compact() == 1
        assert _files_with(Path(config.save_dir)) == []


@pytest.mark.usefixtures("node_id")
def test_a_deletion_of_all_memories_of_a_user_empties_the_caches_at_once(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        assert memory.delete(user_id="ana") == 1
        assert "llm_cache.db" not in _files_with(Path(config.save_dir))


def test_expired_memories_are_erased_in_every_namespace(config: MemoryConfig, clock: ManualClock) -> None:
    with _opened(config, clock) as memory:
        for graph in (memory, memory.in_namespace("bob"), memory.in_namespace("eve")):
            graph.add_document(f"The code is {WORD}.", ttl=timedelta(hours=1))
            graph.add_document("The gate is green.")
        assert memory.admin.compact() == 0
    clock.advance(timedelta(hours=2))
    # Another process has opened only one of them.
    with _opened(config.replace(namespace="bob"), clock) as memory:
        assert memory.admin.compact() == 3
        assert _files_with(Path(config.save_dir)) == []
        assert memory.retrieve("code?") == ["The gate is green."]
        assert memory.admin.check() == []


def test_old_texts_are_kept_or_erased_as_is_asked_for(config: MemoryConfig) -> None:
    folder = Path(config.save_dir)
    with NeuroGraphMemory(config) as memory:
        (node_id, *_), _ = memory.add_documents([f"The code is {WORD}.", "The gate of the code is green."])
        known = memory.history.list()[-1].sequence
        memory.update(node_id, "The code is secret.")
        assert memory.admin.compact() == 0
        assert memory.retrieve("code?", as_of=known, top_n=1) == [f"The code is {WORD}."]
        assert _files_with(folder) == ["memory.db"]
        assert memory.admin.compact(history=True) == 0
        assert _files_with(folder) == []
        assert memory.admin.check() == []
    with NeuroGraphMemory(config) as memory:
        assert memory.admin.check() == []
        assert memory.retrieve("code?", as_of=known, top_n=1) == ["The code is secret."]
        with pytest.raises(InputError, match="cannot be undone"):
            memory.undo(known)
    assert _files_with(folder) == []


def test_manifests_that_a_server_saved_during_a_deletion_are_erased(config: MemoryConfig) -> None:
    saved = Path(config.save_dir, "manifests", "a.json")
    with NeuroGraphMemory(config) as memory:
        memory.delete(memory.add(f"The code is {WORD}."))
        saved.parent.mkdir()
        saved.write_text(WORD, encoding="utf-8")
        assert memory.admin.compact() == 1
    assert _files_with(Path(config.save_dir)) == []


@pytest.mark.parametrize("seed", range(4))
def test_no_word_of_deleted_texts_is_left_though_others_say_the_same_and_ids_are_used_again(
    config: MemoryConfig, postgres: Postgres, seed: int
) -> None:
    random, folder, url = Random(seed), Path(config.save_dir), postgres.database()
    towns = ("Lyon", "Bern", "Oslo")
    texts = {f"text-{place}": f"I live in {random.choice(towns)} near {WORD}{place:02}." for place in range(8)}
    for settings in (config, config.replace(storage=url)):
        with NeuroGraphMemory(settings) as memory:
            for number, (name, text) in enumerate(texts.items()):
                memory.add([{"role": "user", "content": text, "id": name}], user_id="ana", session_id=str(number % 3))
            gone = random.sample(sorted(texts), 5)
            for name in gone:
                memory.delete(name)
                if random.random() < 0.5:
                    memory.add([{"role": "user", "content": "I like tea.", "id": name}], user_id="ana", session_id="9")
            present = {node.id: node.content for node in memory.find()}
            memory.admin.compact()
            assert memory.admin.check() == []
            assert {node.id: node.content for node in memory.find()} == present
        on_disk = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
        written = on_disk if settings is config else postgres.files() + postgres.dump(url)
        with NeuroGraphMemory(settings) as memory:
            assert {node.id: node.content for node in memory.find()} == present
            told = repr(list(memory.store.journal()))
        for number, name in enumerate(texts):
            assert (f"{WORD}{number:02}" in told) == (name not in gone)
            assert name not in gone or f"{WORD}{number:02}".encode() not in written


# Hidden but not yet erased


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


def _talk_with(word: str) -> Document:
    turns = ("Where is the key?", f"The {word} has it.", "I see.")
    passages = tuple(Passage(text, speaker=name) for text, name in zip(turns, "ABA", strict=True))
    return Document(passages, title="Talk")


def test_no_text_of_a_deleted_memory_is_left_in_the_process(memory: NeuroGraphMemory) -> None:
    word, others = new_word(), [memory.in_namespace(name) for name in ("other", "third", "fourth")]
    for graph in (memory, *others):
        ((_, secret, _),) = graph.add_documents([_talk_with(word)], progress=False)
        graph.recall("Who has the key?")
        graph.delete([secret])
    del graph
    assert texts_with(word) > 0
    assert memory.admin.compact() == 4
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
    with pytest.raises(ZeroDivisionError), memory.store.transaction():  # noqa: PT012
        memory.add_document(f"The {word} sleeps.")
        raise ZeroDivisionError
    assert texts_with(word) == 0
