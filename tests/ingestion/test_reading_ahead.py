"""The engine reads a batch while the batch before it is stored."""

import threading
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import GraphDelta
from neurogated.errors import EmbeddingError, InputError
from tests.ingestion.test_writer import Bench, story


def test_the_next_batch_is_embedded_while_the_one_before_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(batch=3)
    begun = threading.Event()
    embed, apply = bench.embedder.embed_documents, bench.store.apply

    def embed_and_tell(texts: Sequence[str]) -> NDArray[np.float32]:
        if "Rain fell." in texts:
            begun.set()
        return embed(texts)

    def apply_when_told(delta: GraphDelta) -> int:
        assert begun.wait(timeout=60)
        return apply(delta)

    monkeypatch.setattr(bench.embedder, "embed_documents", embed_and_tell)
    monkeypatch.setattr(bench.store, "apply", apply_when_told)

    texts = ["We met.", "We left.", "We slept.", "Rain fell.", "It was wet.", "Snow fell."]
    bench.add(*map(story, texts))

    assert bench.embedder.texts == texts


@pytest.mark.parametrize("failing", ["document", "embedder"])
def test_batches_before_a_failure_are_stored(failing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(batch=1)
    embed = bench.embedder.embed_documents

    def fail_on_rain(texts: Sequence[str]) -> NDArray[np.float32]:
        if "Rain fell." in texts:
            raise EmbeddingError("text 0 is too wet")
        return embed(texts)

    monkeypatch.setattr(bench.embedder, "embed_documents", fail_on_rain)
    wet = {"when": bench.clock.now} if failing == "document" else {"mood": "calm"}
    documents = (story(text, **about) for text, about in (("We met.", {}), ("Rain fell.", wet), ("A dog barks.", {})))
    stored: list[list[str]] = []

    with pytest.raises(InputError if failing == "document" else EmbeddingError, match=r"is not JSON|too wet"):
        stored.extend(bench.engine.add(documents))

    assert [node.content for node in bench.store.all_nodes()] == ["We met."]
    assert [[node.id for node in bench.store.all_nodes()]] == stored
    assert not any(thread.name.startswith("embedding") for thread in threading.enumerate())
