"""Construction of an embedder by the name of its model."""

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
    """Return the embedder of `config.embedding_name`. This function imports the embedder's package.

    Args:
        config: settings of the model, its server, prompts and devices.
        api_key: key of the server, if it needs one.
        cache_home: the user's folder for caches; default "~/.cache". Exported models are cached there, unless
            `config.embedding.export_dir` is set.
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
    """Return a model on this machine. Torch runs it if `devices` has several devices or one that is not the CPU."""
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
