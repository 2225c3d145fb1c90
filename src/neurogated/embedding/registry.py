"""From the name of an embedding model to the embedder."""

from __future__ import annotations

from pathlib import Path

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Embedder

__all__ = ["build_embedder"]

_OPENAI_PREFIX = "openai:"
_HASH_NAME = "hash"
_CACHE_HOME = "~/.cache"
_EXPORTS = "neurogated/models"


def build_embedder(config: MemoryConfig, *, api_key: str | None = None, cache_home: str | None = None) -> Embedder:
    """Return the embedder that `config.embedding_name` names; its package is imported here and not before.

    Args:
        config: names the model, its server, prompts and devices.
        api_key: for a server that wants one.
        cache_home: where programs keep what they can make anew; "~/.cache" if left out. What is exported goes there,
            unless `config.embedding_export_dir` names another folder.
    """
    name = config.embedding_name
    if name == _HASH_NAME:
        from neurogated.embedding.hash_embedder import HashEmbedder

        return HashEmbedder()
    if name.startswith(_OPENAI_PREFIX) or config.embedding.base_url:
        from neurogated.embedding.openai_embedder import OpenAIEmbedder

        return OpenAIEmbedder(
            name.removeprefix(_OPENAI_PREFIX),
            api_key=api_key,
            base_url=config.embedding.base_url,
            batch_size=config.embedding.batch_size,
            query_prompt=config.embedding.query_prompt,
            document_prompt=config.embedding.document_prompt,
        )
    return _local(config, Path(config.embedding.export_dir or Path(cache_home or _CACHE_HOME) / _EXPORTS).expanduser())


def _local(config: MemoryConfig, export_dir: Path) -> Embedder:
    """Return a model that runs here; by torch alone where several devices share the work, or one is no CPU."""
    from neurogated.embedding.sentence_transformers_embedder import SentenceTransformersEmbedder

    devices = [device.strip() for device in (config.embedding.devices or "").split(",") if device.strip()]
    by_torch = SentenceTransformersEmbedder(
        config.embedding_name,
        batch_size=config.embedding.batch_size,
        query_prompt=config.embedding.query_prompt,
        document_prompt=config.embedding.document_prompt,
        devices=devices,
        trust_remote_code=config.embedding.trust_remote_code,
    )
    backend = config.embedding.backend
    if backend == "torch" or (backend == "auto" and devices not in ([], ["cpu"])):
        return by_torch
    from neurogated.embedding.export_cache import ExportCache
    from neurogated.embedding.local_embedder import LocalEmbedder

    exact = config.embedding.precision == "float32"
    exports = ExportCache(export_dir, config.embedding.cpu_batch_size, exact=exact)
    return LocalEmbedder(by_torch, exports, backend, on_cpu=bool(devices))
