import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.embedding.registry import HashEmbedder

TEXTS = ["The cat sat on the mat.", "我愛你。", "Straße nach Köln", "!!!", "a a a b"]
PRINT_VECTORS = """
import json, sys
from neurogated.embedding.registry import HashEmbedder
print(json.dumps(HashEmbedder().embed_documents(json.loads(sys.argv[1])).tolist()))
"""


@pytest.fixture(scope="module")
def embedder() -> HashEmbedder:
    return HashEmbedder()


@pytest.mark.parametrize("seed", ["0", "12345"])
def test_another_process_with_another_hash_seed_gives_the_same_vectors(embedder: HashEmbedder, seed: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", PRINT_VECTORS, json.dumps(TEXTS)],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=True,
    )

    assert json.loads(answer.stdout) == embedder.embed_documents(TEXTS).tolist()


@given(st.lists(st.sampled_from(["cat", "dog", "river", "我", "愛", "42"]), min_size=1, max_size=20))
def test_a_text_with_words_has_a_vector_of_unit_length(words: list[str]) -> None:
    (vector,) = HashEmbedder().embed_documents([" ".join(words)])

    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-6)
