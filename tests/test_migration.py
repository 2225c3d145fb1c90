"""Another embedding model: `migrate(index(texts, A) → B)` is `index(texts, B)`."""

from collections.abc import Sequence
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from numpy.typing import NDArray

from graph_store_kit.reads import nearest
from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import IndexingSettings
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import ConfigError, EmbedderMismatchError, StorageError
from neurogated.session import administration, compose
from neurogated.session.administration import migrate
from neurogated.testing import ManualClock

QUESTIONS = ("Why was the field flooded?", "Who sold barley?", "herring at sea")
SENTENCES = (
    "The pump failed on Monday.",
    "Because the pump failed, the field was flooded.",
    "Barley was sold in the market.",
    "The herring left the sea for the field.",
    "Herring and barley were sold.",
    "The valve was replaced.",
)
BOBS = ("Bob sold the herring.", "The sea was calm.")


class OtherEmbedder(HashEmbedder):
    """Another model with another dimension. It reads only the beginnings of words."""

    DIMENSION = 64
    name = "beginnings"
    dimension = DIMENSION

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().embed_documents([" ".join(word[:3] for word in text.split()) for text in texts])


@pytest.fixture(autouse=True)
def _two_models(monkeypatch: pytest.MonkeyPatch) -> None:
    def build(config: MemoryConfig, *, api_key: str | None = None, **_: object) -> HashEmbedder:
        assert api_key is None
        return OtherEmbedder() if config.embedding_name == "other" else HashEmbedder()

    monkeypatch.setattr(compose, "build_embedder", build)


def _fill(config: MemoryConfig, texts: Sequence[Sequence[str]], clock: ManualClock) -> None:
    with NeuroGraphMemory(config, parts=compose.build(config, clock)) as memory:
        for number, sentences in enumerate(texts):
            memory.add_document(" ".join(sentences), title=f"Note {number}")
        for text in BOBS:
            memory.in_namespace("bob").add_document(text)


def _contents(memory: NeuroGraphMemory) -> tuple[object, ...]:
    nodes = {node.id: (node.content, np.asarray(node.embedding).tobytes()) for node in memory.store.all_nodes()}
    edges = {(edge.key, edge.weight) for edge in memory.store.all_edges()}
    return nodes, edges


@given(texts=st.lists(st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=3), min_size=1, max_size=8))
@settings(max_examples=5)
def test_a_migrated_memory_is_one_that_was_indexed_with_the_new_model(
    tmp_path_factory: pytest.TempPathFactory, texts: list[list[str]]
) -> None:
    folder, clock = tmp_path_factory.mktemp("memories"), ManualClock()
    old = MemoryConfig(
        save_dir=str(folder / "old"),
        embedding_name="hash",
        indexing=IndexingSettings(chunk_size=8),
    )
    new = old.replace(save_dir=str(folder / "new"), embedding_name="other")
    _fill(old, texts, clock)
    _fill(new, texts, clock)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(administration, "BATCH", 3)
        assert migrate(old.replace(embedding_name="other"), progress=False, clock=clock) > 0
    moved = old.replace(embedding_name="other")
    with (
        NeuroGraphMemory(moved, parts=compose.build(moved, clock)) as one,
        NeuroGraphMemory(new, parts=compose.build(new, clock)) as other,
    ):
        for left, right in ((one, other), (one.in_namespace("bob"), other.in_namespace("bob"))):
            assert _contents(left) == _contents(right)
            for question in QUESTIONS:
                before, after = left.recall(question, top_n=9), right.recall(question, top_n=9)
                assert before.ids == after.ids
                assert [m.score for m in before] == pytest.approx([m.score for m in after], abs=1e-9)


@pytest.fixture
def filled(config: MemoryConfig, clock: ManualClock) -> MemoryConfig:
    _fill(config, [[sentence] for sentence in SENTENCES], clock)
    return config


@pytest.mark.parametrize("when", ["vectors", "second namespace"])
def test_a_switch_that_fails_leaves_the_memory_as_it_was(
    filled: MemoryConfig, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    from neurogated.storage.sqlite_store import SqliteStore

    apply, vectors, calls = SqliteStore.apply, administration._vectors, []

    def fail_late(self: SqliteStore, delta):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN202
        calls.append(delta)
        if len(calls) == 2:
            raise StorageError("the disk is full")
        return apply(self, delta)

    def fail_midway(*arguments):  # type: ignore[no-untyped-def] # noqa: ANN002, ANN202
        for count, pair in enumerate(vectors(*arguments)):
            if count == 3:
                raise StorageError("the disk is full")
            yield pair

    with NeuroGraphMemory(filled) as memory:
        before = _contents(memory)
    with monkeypatch.context() as patched:
        if when == "vectors":
            patched.setattr(administration, "_vectors", fail_midway)
        else:
            patched.setattr(SqliteStore, "apply", fail_late)
        with pytest.raises(StorageError):
            migrate(filled.replace(embedding_name="other"), progress=False)
    with NeuroGraphMemory(filled) as memory:
        assert _contents(memory) == before
        assert memory.recall("herring").ids


def test_an_interrupted_migration_goes_on_where_it_was(filled: MemoryConfig, monkeypatch: pytest.MonkeyPatch) -> None:
    embedded, embed = list[str](), OtherEmbedder.embed_documents

    def interrupted(self: OtherEmbedder, texts: Sequence[str]) -> NDArray[np.float32]:
        if len(embedded) == 4:
            embedded.append("interrupted")
            raise KeyboardInterrupt
        embedded.extend(texts)
        return embed(self, texts)

    monkeypatch.setattr(administration, "BATCH", 2)
    monkeypatch.setattr(OtherEmbedder, "embed_documents", interrupted)
    moved = filled.replace(embedding_name="other")
    with NeuroGraphMemory(filled) as memory:
        before = _contents(memory)
    with pytest.raises(KeyboardInterrupt):
        migrate(moved, progress=False)
    with NeuroGraphMemory(filled) as memory:
        assert _contents(memory) == before
    migrate(moved, progress=False)
    assert len(embedded) == len(SENTENCES) + len(BOBS) + 1
    with NeuroGraphMemory(moved) as memory:
        assert memory.history.list()[-1].reason == "migrate to beginnings"


class Twin(HashEmbedder):
    """Another model with the same dimension. It reads backwards."""

    name = "backwards"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return super().embed_documents([text[::-1] for text in texts])


@pytest.fixture
def twin(monkeypatch: pytest.MonkeyPatch) -> str:
    def build(config: MemoryConfig, *, api_key: str | None = None, **_: object) -> HashEmbedder:
        assert api_key is None
        return Twin() if config.embedding_name == "twin" else HashEmbedder()

    monkeypatch.setattr(compose, "build_embedder", build)
    return "twin"


@pytest.mark.parametrize("how", ["migrated", "restored"])
def test_a_reader_with_the_old_model_does_not_answer_any_more(
    filled: MemoryConfig, tmp_path: Path, twin: str, how: str
) -> None:
    moved = filled.replace(embedding_name=twin)
    if how == "restored":
        other = moved.replace(save_dir=str(tmp_path / "elsewhere"))
        with NeuroGraphMemory(other) as memory:
            memory.add_document(SENTENCES[0])
            memory.admin.snapshot(tmp_path / "other.snapshot")
    with NeuroGraphMemory(filled.replace(read_only=True)) as reader:
        bob = reader.in_namespace("bob")
        held = reader.store.view()
        query = HashEmbedder().embed_documents(["herring"])[0]
        assert reader.recall("herring").ids
        assert bob.recall("herring").ids
        if how == "migrated":
            assert migrate(moved, progress=False) > 0
        else:
            administration.restore_snapshot(filled, tmp_path / "other.snapshot", replace=True)
        for memory in (reader, bob):
            with pytest.raises(EmbedderMismatchError):
                memory.recall("herring")
        with pytest.raises(EmbedderMismatchError):
            nearest(reader.store, query, 3, held)
    with NeuroGraphMemory(moved.replace(read_only=True)) as reader:
        assert reader.recall("pump").ids


def test_an_impossible_migration_is_refused(tmp_path: Path, clock: ManualClock) -> None:
    with pytest.raises(StorageError):
        migrate(MemoryConfig(save_dir=str(tmp_path / "nowhere")))
    assert not (tmp_path / "nowhere").exists()
    with pytest.raises(ConfigError):
        migrate(MemoryConfig(storage="memory"))
    with pytest.raises(ConfigError):
        administration.re_embed(GraphStore(), OtherEmbedder(), MemoryConfig(), at=clock())
