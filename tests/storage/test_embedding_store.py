"""Vectors under keys, and search among few and among many of them."""

import logging
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from neurogated.storage.index.vectors.embedding_store import EmbeddingStore
from neurogated.storage.index.vectors.state import Codes
from tests.storage.vector_cases import brute_force, clusters, found, small_store


@pytest.mark.filterwarnings("error")
def test_vectors_almost_too_small_for_a_number_disturb_no_search() -> None:
    tiny, limit = np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).tiny
    store = EmbeddingStore()
    store.put(np.arange(5), np.outer([1, tiny, limit / 2, 200 * limit, 0], [1, 0.5, 0]).astype(np.float32))
    keys, scores = store.search(np.array([1, 0.5, 0], dtype=np.float32), 5)
    assert {0, 3} <= set(keys[scores > 0.99].tolist())
    assert np.isfinite(scores).all()


def test_an_error_in_the_background_is_told_and_the_search_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("no room")

    vectors = clusters(300)
    store = small_store(exact_below=10)
    with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
        patch.setattr(Codes, "trained", fail)
        store.put(np.arange(100), vectors[:100])
        store.wait()
        store.put(np.array([100]), vectors[100:101])
        store.wait()
    assert [record.getMessage() for record in caplog.records] == [
        "building the approximate vector index failed; vectors outside it are searched exactly: MemoryError('no room')"
    ]
    assert store.indexed == 0
    assert found(store, vectors[7], 5) == brute_force(dict(enumerate(vectors[:101])), vectors[7], 5)
    store.put(np.arange(100, 300), vectors[100:])
    store.wait()
    assert store.indexed == 301, "it is tried again when there is much more"


def _while_training(monkeypatch: pytest.MonkeyPatch, store: EmbeddingStore, count: int) -> Callable[[], None]:
    """Fill `store` and block its background work at the start. Return the function that unblocks it."""
    begun, go_on = threading.Event(), threading.Event()
    plain = Codes.trained

    def held(*arguments: Any) -> Any:  # noqa: ANN401
        begun.set()
        go_on.wait()
        return plain(*arguments)

    monkeypatch.setattr(Codes, "trained", held)
    store.put(np.arange(count), clusters(count))
    begun.wait()
    return go_on.set


def test_writes_are_taken_while_the_index_is_made_and_none_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    store, vectors, later = small_store(exact_below=10), clusters(200), clusters(100, seed=9)
    go_on = _while_training(monkeypatch, store, 200)
    store.put(np.arange(150, 250), later)
    store.remove(np.arange(50))
    entries = dict(enumerate(vectors)) | dict(enumerate(later, start=150))
    entries = {key: vector for key, vector in entries.items() if key >= 50}
    assert found(store, later[3], 200) == brute_force(entries, later[3], 200)
    go_on()
    store.wait()
    assert store.indexed
    assert found(store, later[3], 200) == brute_force(entries, later[3], 200)


@pytest.mark.parametrize("dimension", [6, 65, 300])
def test_codes_tell_vectors_apart_that_are_all_alike_and_propose_no_hidden_or_removed_one(dimension: int) -> None:
    vectors = clusters(4_000, dimension) + 3
    store = small_store(exact_below=900)
    store.put(np.arange(4_000), vectors)
    store.wait()
    hidden, hits = range(0, 4_000, 12), 0
    store.remove(np.arange(5, 4_000, 12))
    entries = {key: vector for key, vector in enumerate(vectors) if key % 12 not in {0, 5}}
    for query in clusters(60, dimension)[:40] + 3:
        wanted = {key for _, key in brute_force(entries, query, 10)}
        hits += len(wanted & {key for _, key in found(store, query, 10, hidden)})
    assert hits >= 0.99 * 10 * 40
