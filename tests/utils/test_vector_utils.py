"""Vectors and freed memory."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity as reference_cosine  # type: ignore[import-untyped]
from sklearn.neighbors import NearestNeighbors  # type: ignore[import-untyped]

from neurogated.utils.vector_utils import cosine_similarity, retrieve_knn, top_k

SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cosine_agrees_with_scikit_learn(seed: int, dtype: type[np.floating]) -> None:
    random = np.random.default_rng(seed)
    left = random.normal(size=(random.integers(1, 40), 17)).astype(dtype)
    right = random.normal(size=(random.integers(1, 40), 17)).astype(dtype)

    cosines = cosine_similarity(left, right)

    assert cosines.shape == (len(left), len(right))
    np.testing.assert_allclose(cosines, reference_cosine(left, right), atol=1e-6)


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=8), st.floats(-100, 100, width=32))
def test_cosine_never_leaves_its_range(vector: list[float], factor: float) -> None:
    cosine = cosine_similarity(vector, [factor * value for value in vector]).item()

    assert -1.0 <= cosine <= 1.0


@given(
    # Few different values, so that most examples have ties.
    scores=st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]) | st.floats(-1, 1), max_size=30),
    k=st.integers(-2, 35),
)
def test_top_k_sorts_by_score_and_then_by_position(scores: list[float], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda position: (-scores[position], position))[: max(0, k)]

    assert top_k(np.array(scores, dtype=np.float64), k).tolist() == expected


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [1, 4, 30])
def test_knn_agrees_with_scikit_learn(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    queries, keys = random.normal(size=(9, 12)), random.normal(size=(30, 12))

    positions, cosines = retrieve_knn(queries, keys, k)

    distances, expected = NearestNeighbors(n_neighbors=k, metric="cosine").fit(keys).kneighbors(queries)
    assert positions.tolist() == expected.tolist()
    np.testing.assert_allclose(cosines, 1 - distances, atol=1e-9)


def test_one_query_may_be_given_by_itself() -> None:
    assert retrieve_knn([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], 1)[0].tolist() == [[1]]


_SCRIPT = """
import ctypes, sys
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.cli import main

libc = ctypes.CDLL(None)
libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]

def is_mapped(size):
    # A bit in the size before a block says that it returns to the system when it is freed.
    return bool(ctypes.c_size_t.from_address(libc.malloc(size) - ctypes.sizeof(ctypes.c_size_t)).value & 2)

with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
    before = is_mapped(30_000_000)
    memory.admin.import_from("mem0", sys.argv[1], user_id="ana")
    print(before == is_mapped(30_000_000))
main(["import", sys.argv[1], "--from", "mem0", "--storage", "memory", "--embedding_name", "hash"])
print(is_mapped(30_000_000))
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only glibc marks such blocks")
def test_only_an_import_by_the_command_line_changes_how_the_process_returns_memory(tmp_path: Path) -> None:
    export = tmp_path / "mem0.jsonl"
    export.write_text(json.dumps({"id": "1", "memory": "I live in Lyon.", "user_id": "ana"}), encoding="utf-8")
    done = subprocess.run([sys.executable, "-c", _SCRIPT, export], capture_output=True, text=True, check=True)
    lines = done.stdout.split("\n")
    assert (lines[0], lines[-2]) == ("True", "True"), done.stdout
