"""Memories that a store opens, with embeddings of LangChain as their embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import numpy as np
from langchain_core.embeddings import Embeddings
from langgraph.store.base import IndexConfig
from langgraph.store.base.embed import EmbeddingsLambda, ensure_embeddings
from numpy.typing import NDArray

from neurogated import compose
from neurogated.config.memory_config import MemoryConfig
from neurogated.errors import ConfigError, EmbeddingError
from neurogated.memory import NeuroGraphMemory
from neurogated.text.strings import composed
from neurogated.text.words import count_words

_MODEL_NAMES = ("model", "model_name", "model_id")


class LangChainEmbedder:
    """Embeds by an `Embeddings` of LangChain, or by a function, also an asynchronous one.

    Attributes:
        name: made of the class and the model, because memories compare embedders by name.
        dimension: the length of the vectors.
        embeddings: what it embeds by.
    """

    def __init__(self, embed: Any, dimension: int | None = None) -> None:  # noqa: ANN401 - as in LangGraph
        """Take what `IndexConfig.embed` may be; without a dimension, embed a text to learn it."""
        self.embeddings: Embeddings = ensure_embeddings(embed)
        self.dimension = dimension or len(self._vectors(["dimension"], query=True)[0])
        source = embed if isinstance(self.embeddings, EmbeddingsLambda) else type(self.embeddings)
        model = next((str(getattr(embed, name)) for name in _MODEL_NAMES if getattr(embed, name, None)), "")
        kind = getattr(source, "__qualname__", type(source).__qualname__)
        self.name = f"langchain:{source.__module__}.{kind}:{model}-{self.dimension}"

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32 vectors of unit length."""
        return self._checked(self._vectors(texts, query=False))

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, dimension) float32 vectors of unit length."""
        return self._checked(self._vectors(texts, query=True))

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words of each text."""
        return count_words(texts)

    def close(self) -> None:
        """Do nothing: the embeddings belong to the caller."""

    def _vectors(self, texts: Sequence[str], *, query: bool) -> list[list[float]]:
        embeddings, texts = self.embeddings, list(map(composed, texts))
        if isinstance(embeddings, EmbeddingsLambda) and not hasattr(embeddings, "func"):
            return asyncio.run(embeddings.aembed_documents(texts))
        return [embeddings.embed_query(text) for text in texts] if query else embeddings.embed_documents(texts)

    def _checked(self, vectors: Sequence[Sequence[float]]) -> NDArray[np.float32]:
        found = np.array(vectors, dtype=np.float32).reshape(len(vectors), -1)
        if len(found) and (found.shape[1] != self.dimension or not np.isfinite(found).all()):
            raise EmbeddingError(
                f"embedder {self.name!r} returned vectors of {found.shape[1]} numbers, but needs {self.dimension} "
                "finite ones; check `dims` of the index"
            )
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        units: NDArray[np.float32] = np.divide(found, lengths, out=np.zeros_like(found), where=lengths > 0)
        return units


def embedder_of(index: IndexConfig | None) -> LangChainEmbedder | None:
    """Return the embedder that the configuration of an index names; None if it names none.

    Raises:
        ConfigError: `dims` is not a number from 1 on.
    """
    if index is None or index.get("embed") is None:
        return None
    dims: object = index.get("dims")
    if dims is not None and (not isinstance(dims, int) or dims < 1):
        raise ConfigError(f"dims of the index is {dims!r}, but must be the number of dimensions of the vectors")
    return LangChainEmbedder(index["embed"], dims)


RAM = ":memory:"


def checked_type(name: str, given: object, wanted: type, use: str) -> None:
    """Refuse an argument of another type by saying what it is; raises ConfigError."""
    if given is not None and not isinstance(given, wanted):
        raise ConfigError(f"{name} is a {type(given).__name__}, but must be a {wanted.__name__}; {use}")


def open_memory(conn: str, index: IndexConfig | None, config: MemoryConfig | None = None) -> NeuroGraphMemory:
    """Open a memory in the folder `conn`, or in RAM, with the embedder that the index names or else that of `config`.

    Raises:
        StorageError: the memory cannot be opened. Other errors are those of `NeuroGraphMemory`.
    """
    given = compose.load_config() if config is None else config
    chosen = given.replace(storage="memory") if conn == RAM else given.replace(storage="sqlite", save_dir=str(conn))
    embedder = embedder_of(index)
    return NeuroGraphMemory(chosen, parts=None if embedder is None else compose.build(chosen, embedder=embedder))
