"""`EmbeddingStore`, at the path that the specification names."""

from neurogated.storage.index.vectors.embedding_store import EmbeddingStore

__all__ = ["EmbeddingStore"]
