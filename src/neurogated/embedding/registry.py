"""From the name of an embedding model to the embedder."""

from __future__ import annotations

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Embedder

__all__ = ["build_embedder"]

_OPENAI_PREFIX = "openai:"
_HASH_NAME = "hash"


def build_embedder(config: MemoryConfig, *, api_key: str | None = None) -> Embedder:
    """Return the embedder that `config.embedding_name` names; its package is imported here and not before.

    Args:
        config: names the model, its server, prompts and devices.
        api_key: for a server that wants one.
    """
    name = config.embedding_name
    if name == _HASH_NAME:
        from neurogated.embedding.hash_embedder import HashEmbedder

        return HashEmbedder()
    if name.startswith(_OPENAI_PREFIX) or config.embedding_base_url:
        from neurogated.embedding.openai_embedder import OpenAIEmbedder

        return OpenAIEmbedder(
            name.removeprefix(_OPENAI_PREFIX),
            api_key=api_key,
            base_url=config.embedding_base_url,
            batch_size=config.embedding_batch_size,
            query_prompt=config.embedding_query_prompt,
            document_prompt=config.embedding_document_prompt,
        )
    from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder

    devices = [device.strip() for device in (config.embedding_devices or "").split(",") if device.strip()]
    return SentenceTransformersEmbedder(
        name,
        batch_size=config.embedding_batch_size,
        query_prompt=config.embedding_query_prompt,
        document_prompt=config.embedding_document_prompt,
        devices=devices,
        trust_remote_code=config.trust_remote_code,
    )
