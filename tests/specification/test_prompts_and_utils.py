"""Prompts, hashes and vectors."""

from __future__ import annotations

import hashlib
import importlib

import numpy as np
import pytest

from neurogated.prompts.prompt_manager import PromptTemplateManager
from neurogated.utils.hash_utils import compute_mdhash_id
from neurogated.utils.vector_utils import cosine_similarity, retrieve_knn


@pytest.mark.parametrize(
    ("module", "name", "values"),
    [
        ("causal_extraction", "CAUSAL_EXTRACTION_TEMPLATE", {"first": "A.", "second": "B."}),
        ("kernel_generation", "KERNEL_GENERATION_TEMPLATE", {"query": "Why?"}),
        ("ner", "NER_TEMPLATE", {"text": "Ada lived in London."}),
    ],
)
def test_every_template_of_the_tree_is_there(module: str, name: str, values: dict[str, str]) -> None:
    template = getattr(importlib.import_module(f"neurogated.prompts.templates.{module}"), name)
    rendered = PromptTemplateManager().render(module, **values)

    assert [(role, text.format(**values)) for role, text in template] == [
        (message["role"], message["content"]) for message in (rendered[0], rendered[-1])
    ]


def test_an_id_is_a_prefix_and_a_hash() -> None:
    digest = hashlib.md5(b"some text", usedforsecurity=False).hexdigest()

    assert compute_mdhash_id("some text") == digest
    assert compute_mdhash_id("some text", prefix="chunk-") == f"chunk-{digest}"
    assert compute_mdhash_id(content="some text", prefix="doc-") == f"doc-{digest}"


def test_a_vector_has_a_cosine_with_each_row() -> None:
    assert float(cosine_similarity([1.0, 0.0], [0.6, 0.8])) == pytest.approx(0.6)
    similarities = cosine_similarity([1.0, 0.0], [[1.0, 0.0], [0.6, 0.8], [0.0, 1.0]])

    assert similarities == pytest.approx([1.0, 0.6, 0.0])
    assert np.argsort(similarities)[::-1].tolist() == [0, 1, 2]
    assert np.argsort(cosine_similarity([1.0, 0.0], []))[::-1][:5].tolist() == []


def test_the_nearest_rows_are_found() -> None:
    positions, cosines = retrieve_knn([[1.0, 0.0]], [[0.0, 1.0], [1.0, 0.0]], k=1)

    assert (positions.tolist(), cosines.tolist()) == ([[1]], [[1.0]])
    assert retrieve_knn([1.0, 0.0], [[0.0, 1.0], [1.0, 0.0]], 1)[0].tolist() == [[1]]
