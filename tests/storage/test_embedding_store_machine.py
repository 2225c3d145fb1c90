"""Vectors through any course of writes, background work, saving and loading."""

import tempfile
import threading
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from neurogated.core.view import Rows
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore
from tests.storage.vector_cases import Floats, brute_force, clusters, found, rows, small_store

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
        self.store = small_store()

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
        self.store.freeze().write(folder, self.folders[-1] if self.folders else None)
        self.folders.append(folder)
        if remap:
            self.store.remap(folder)
        self.kept = dict(self.entries)

    @rule()
    def load(self) -> None:
        if self.folders:
            self.store.close()
            self.store = EmbeddingStore.load(self.folders[-1], exact_below=16, tail=2)
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


def _keep(store: EmbeddingStore, folder: Path, previous: Path | None = None) -> Path:
    folder.mkdir()
    store.freeze().write(folder, previous)
    return folder


def test_a_store_that_takes_up_its_files_holds_them_no_more_in_memory(tmp_path: Path) -> None:
    store, vectors = small_store(), clusters(1010)
    store.put(np.arange(1000), vectors[:1000])
    store.wait()
    folder = _keep(store, tmp_path / "a")
    store.put(np.arange(990, 1010), vectors[990:])
    store.remap(folder)
    assert store._state is not None
    assert [block.name is None for block in store._state.matrix.blocks] == [False, True]
    assert np.array_equal(store.get(999), vectors[999])  # type: ignore[arg-type]
    assert store.size == 1010


def test_files_that_do_not_fit_are_refused(tmp_path: Path) -> None:
    store = small_store()
    store.put(np.arange(200), clusters(200))
    store.wait()
    folder = _keep(store, tmp_path / "a")
    for path in sorted(folder.iterdir()):
        content = path.read_bytes()
        for damaged in (content[: len(content) // 2], b""):
            path.write_bytes(damaged)
            with pytest.raises((ValueError, OSError)):
                EmbeddingStore.load(folder)
        path.unlink()
        with pytest.raises((ValueError, OSError)):
            EmbeddingStore.load(folder)
        path.write_bytes(content)
    assert EmbeddingStore.load(folder).size == 200


def _keep_writing(store: EmbeddingStore, vectors: Floats, done: threading.Event) -> None:
    """Repeatedly move all keys to the next set of vectors, and remove some."""
    every = np.arange(100)
    for round_ in range(1, 40):
        store.put(every, vectors[100 * (round_ % 4) :][:100])
        store.put(100 + every[:50], vectors[:50])
        store.remove(100 + every[:50])
    done.set()


@pytest.mark.parametrize("exact_below", [16, 1000])
def test_readers_see_each_write_whole_or_not_at_all(exact_below: int) -> None:
    vectors, store, done = clusters(400, dimension=8), small_store(exact_below=exact_below), threading.Event()
    store.put(np.arange(100), vectors[:100])
    sets = [dict(enumerate(vectors[100 * place :][:100])) for place in range(4)]
    query = vectors[0]
    allowed = [[score for score, _ in brute_force(entries, query, 100)] for entries in sets]
    wrong: list[Rows] = []

    def read() -> None:
        while not done.is_set():
            keys, scores = store.search(query, 100, np.arange(100, 200))
            right = sorted(keys.tolist()) == list(range(100))
            if not right or not any(np.allclose(scores, expected, rtol=0, atol=1e-9) for expected in allowed):
                wrong.append(keys)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    _keep_writing(store, vectors, done)
    for reader in readers:
        reader.join()
    store.wait()
    assert wrong == []
