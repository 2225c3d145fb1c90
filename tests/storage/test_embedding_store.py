"""Vectors under keys through any course of writes, and search among few and among many of them."""

import logging
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.vectors import embedding_store
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore
from neurogated.storage.index.vectors.state import Codes
from neurogated.utils.vector_utils import cosine_similarity

Floats = NDArray[np.float32]
DIGITS = 12


def approximate_above(patch: pytest.MonkeyPatch, count: int) -> None:
    """Let stores make codes for more than so few vectors."""
    patch.setattr(embedding_store, "EXACT_BELOW", count)
    patch.setattr(embedding_store, "_TAIL", 2)


@pytest.fixture(autouse=True, scope="module")
def few() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        approximate_above(patch, 16)
        yield


def clusters(count: int, dimension: int = 32, seed: int = 0) -> Floats:
    """Return vectors around centres, twenty for each."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, count // 20), dimension))
    vectors = centres[rng.integers(len(centres), size=count)] + 0.5 * rng.standard_normal((count, dimension))
    return vectors.astype(np.float32)


def rows(keys: object) -> Rows:
    return np.array(sorted(keys), dtype=np.int64)  # type: ignore[call-overload]


def brute_force(entries: Mapping[int, Floats], query: Floats, k: int) -> list[tuple[float, int]]:
    """Return the k best as (cosine, key), best first, ties in order of key."""
    if not entries:
        return []
    # The order of a sum changes its last digits.
    cosines = cosine_similarity(query, np.stack(list(entries.values()))).round(DIGITS).tolist()
    return sorted(zip(cosines, entries, strict=True), key=lambda pair: (-pair[0], pair[1]))[:k]


def found(store: EmbeddingStore, query: Floats, k: int, without: object = ()) -> list[tuple[float, int]]:
    """Return the results of a search in the form of `brute_force`."""
    keys, scores = store.search(query, k, rows(without))
    return sorted(zip(scores.round(DIGITS).tolist(), keys.tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))[
        :k
    ]


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

    vectors, store = clusters(300), EmbeddingStore()
    approximate_above(monkeypatch, 10)
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
    store, vectors, later = EmbeddingStore(), clusters(200), clusters(100, seed=9)
    approximate_above(monkeypatch, 10)
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
def test_codes_tell_vectors_apart_that_are_all_alike_and_propose_no_hidden_or_removed_one(
    dimension: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    vectors, store = clusters(4_000, dimension) + 3, EmbeddingStore()
    approximate_above(monkeypatch, 900)
    store.put(np.arange(4_000), vectors)
    store.wait()
    hidden, hits = range(0, 4_000, 12), 0
    store.remove(np.arange(5, 4_000, 12))
    entries = {key: vector for key, vector in enumerate(vectors) if key % 12 not in {0, 5}}
    for query in clusters(60, dimension)[:40] + 3:
        wanted = {key for _, key in brute_force(entries, query, 10)}
        hits += len(wanted & {key for _, key in found(store, query, 10, hidden)})
    assert hits >= 0.99 * 10 * 40


@pytest.mark.parametrize("fork_first", [True, False])
def test_a_fork_and_its_origin_never_find_vectors_of_each_other(*, fork_first: bool) -> None:
    vectors, store = np.eye(9, dtype=np.float32), EmbeddingStore()
    # One by one, so that the last of them have room for more beside them.
    for key in range(5):
        store.put(rows({key}), vectors[key : key + 1])
    fork = store.forked()
    own = {5: store, 7: fork}
    for key in sorted(own, reverse=fork_first):
        own[key].put(rows({key, key + 1}), vectors[key : key + 2])
    for key, index in own.items():
        held = [*range(5), key, key + 1]
        assert [found(index, vectors[one], 1, set()) for one in held] == [[(1.0, one)] for one in held]
        assert index.size == len(held)


POOL = clusters(400, dimension=8)
keys = st.sets(st.integers(0, 60), min_size=1, max_size=30)
seeds = st.integers(0, 300)


class VectorsInAnyOrder(RuleBasedStateMachine):
    """Compares a dictionary with a store that makes codes early."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: dict[int, Floats] = {}
        self.folders: list[Path] = []
        self.place = tempfile.TemporaryDirectory()

    @initialize()
    def begin(self) -> None:
        self.store = EmbeddingStore()

    @rule(chosen=keys, seed=seeds)
    def put(self, chosen: set[int], seed: int) -> None:
        vectors = POOL[seed : seed + len(chosen)]
        self.store.put(rows(chosen), vectors)
        self.entries |= dict(zip(sorted(chosen), vectors, strict=True))

    @rule(chosen=keys)
    def remove(self, chosen: set[int]) -> None:
        self.store.remove(rows(chosen))
        self.entries = {key: vector for key, vector in self.entries.items() if key not in chosen}

    @rule()
    def wait(self) -> None:
        self.store.wait()

    @rule(remap=st.booleans())
    def keep(self, remap: bool) -> None:  # noqa: FBT001 - drawn
        folder = Path(self.place.name) / str(len(self.folders))
        folder.mkdir()
        self.store.isolated().write(folder, self.folders[-1] if self.folders else None)
        self.folders.append(folder)
        if remap:
            self.store.remap(folder)
        self.kept = dict(self.entries)

    @rule()
    def load(self) -> None:
        if self.folders:
            self.store.close()
            self.store = EmbeddingStore.load(self.folders[-1])
            self.entries = dict(self.kept)

    @rule(chosen=keys, seed=seeds, k=st.integers(0, 20))
    def search(self, chosen: set[int], seed: int, k: int) -> None:
        seen = {key: vector for key, vector in self.entries.items() if key not in chosen}
        expected = brute_force(seen, POOL[seed], k)
        answer = found(self.store, POOL[seed], k, chosen)
        # Vectors occur twice, so a search may find any of the ties for the last place.
        assert np.allclose([score for score, _ in answer], [score for score, _ in expected], rtol=0, atol=1e-12)
        assert all(np.isclose(brute_force({0: seen[key]}, POOL[seed], 1)[0][0], score) for score, key in answer)

    @invariant()
    def holds_what_was_put(self) -> None:
        if not hasattr(self, "store"):
            return
        assert self.store.size == len(self.entries)
        for key in range(0, 62, 3):
            vector, expected = self.store.get(key), self.entries.get(key)
            assert (vector is None) == (expected is None)
            assert expected is None or np.array_equal(vector, expected)  # type: ignore[arg-type]

    def teardown(self) -> None:
        self.store.close()
        self.place.cleanup()


TestVectorsInAnyOrder = VectorsInAnyOrder.TestCase
TestVectorsInAnyOrder.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
