"""Vectors through any course of writes, background work, saving and loading."""

import tempfile
from pathlib import Path

import hypothesis.strategies as st
import numpy as np
from hypothesis import settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

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
