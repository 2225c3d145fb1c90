"""Construction of an embedder by the name of its model; and the one without a model, which hashes words."""

import hashlib
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Embedder
from neurogated.embedding.exported_model import unit_vectors
from neurogated.text.keywords import count_words, split_words

_BYTES_PER_HASH = 8


class HashEmbedder:
    """The hashing trick: each word adds the square root of its count, with a hashed sign, at a hashed position.

    Source: Weinberger et al., "Feature Hashing for Large Scale Multitask Learning", ICML 2009.
    """

    DIMENSION = 256

    name = f"hash-{DIMENSION}"
    dimension = DIMENSION

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        matrix = np.zeros((len(texts), self.DIMENSION), dtype=np.float32)
        for row, text in zip(matrix, texts, strict=True):
            for word, count in Counter(split_words(text)).items():
                digest = hashlib.blake2b(word.encode("utf-8"), digest_size=_BYTES_PER_HASH).digest()
                number = int.from_bytes(digest, "big")
                row[number // 2 % self.DIMENSION] += math.sqrt(count) * (1 if number % 2 else -1)
        return unit_vectors(matrix, f"embedder {self.name!r}")

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self.embed_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return count_words(texts)

    def close(self) -> None:
        pass


_OPENAI_PREFIX = "openai:"
_HASH_NAMES = ("hash", "hash-256")
"""Names of the embedder without a model; the second is recorded in memories."""
MULTILINGUAL_NAMES = ("multilingual", "multilingual-e5-small")
"""Names of the model of the extra `multilingual`; the second is recorded in memories."""


def build_embedder(config: MemoryConfig, *, api_key: str | None = None, exact: bool = False) -> Embedder:
    """Return the embedder of `config.embedding_name`, whose package it imports; see `load_graph` for `exact`."""
    name, settings = config.embedding_name, config.embedding
    prompts: dict[str, Any] = {"query_prompt": settings.query_prompt, "document_prompt": settings.document_prompt}
    if name in _HASH_NAMES:
        return HashEmbedder()
    if name in MULTILINGUAL_NAMES:
        from neurogated.embedding.multilingual_model import MultilingualEmbedder

        return MultilingualEmbedder(**prompts, exact=exact)
    if name.startswith(_OPENAI_PREFIX) or settings.base_url:
        from neurogated.embedding.openai_embedder import OpenAIEmbedder

        return OpenAIEmbedder(
            name.removeprefix(_OPENAI_PREFIX),
            api_key=api_key,
            base_url=settings.base_url,
            batch_size=settings.batch_size,
            **prompts,
        )
    from neurogated.embedding.sentence_transformers_embedder import BUNDLED_NAMES, SentenceTransformersEmbedder

    backend = settings.backend
    is_bundled = name in BUNDLED_NAMES
    by_graph = is_bundled and backend in ("openvino", "auto")
    by_library = SentenceTransformersEmbedder(
        name,
        batch_size=settings.batch_size,
        **prompts,
        trust_remote_code=settings.trust_remote_code,
        backend="torch" if by_graph or backend == "auto" else backend,
    )
    if not by_graph:
        return by_library
    from neurogated.embedding.bundled_model import BundledEmbedder

    return BundledEmbedder(by_library, exact=exact, on_cpu=backend == "openvino")
