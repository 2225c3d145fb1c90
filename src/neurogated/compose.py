"""From settings to built parts: the only module that names concrete adapters and reads the environment."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, utc_now
from neurogated.core.ports import Embedder, GraphStorePort, KernelSource
from neurogated.embedding.cache import CachedEmbedder
from neurogated.embedding.registry import build_embedder
from neurogated.errors import ConfigError
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.storage.registry import open_store

__all__ = ["Parts", "build", "load_config"]

_CACHE_FILE = "embedding_cache.db"


@dataclass(frozen=True, slots=True)
class Parts:
    """What a memory is put together from; any of them can be one of your own."""

    store: GraphStorePort
    embedder: Embedder
    kernel_source: KernelSource
    clock: Clock = utc_now


def build(config: MemoryConfig, clock: Clock = utc_now) -> Parts:
    """Build the parts that `config` names.

    Raises:
        StorageError: the memory cannot be opened; see its subclasses.
        EmbedderMismatchError: the memory was built with another embedder.
        ConfigError: a chosen part lacks a setting.
    """
    embedder = build_embedder(config, api_key=os.environ.get("OPENAI_API_KEY"))
    store = open_store(config, clock)
    try:
        store.bind_embedder(embedder.name, None)
        if config.storage != "memory":
            embedder = CachedEmbedder(embedder, Path(config.save_dir) / _CACHE_FILE)
    except BaseException:
        store.close()
        raise
    return Parts(store, embedder, UniformKernelSource(), clock)


def load_config(
    path: str | Path | None = None,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> MemoryConfig:
    """Gather settings from a YAML or JSON file, then the environment, then `overrides`; the later wins.

    Args:
        path: settings file; its keys are the names of `MemoryConfig`.
        environ: variables, those named `NEUROGATED_<SETTING>` count; the process's own when left out.
        overrides: settings by name.

    Raises:
        ConfigError: the file cannot be read, or a setting is unknown or out of range.
    """
    values = _read_settings(Path(path)) if path is not None else {}
    values.update(MemoryConfig.environment_values(os.environ if environ is None else environ))
    values.update(overrides or {})
    return MemoryConfig.from_mapping(values)


def _read_settings(path: Path) -> dict[str, Any]:
    import yaml  # imported here, since few runs read a settings file

    try:
        text = path.read_text(encoding="utf-8")
        values = json.loads(text) if path.suffix == ".json" else yaml.safe_load(text)
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise ConfigError(f"settings file {path} cannot be read ({' '.join(str(error).split())})") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise ConfigError(f"settings file {path} holds a {type(values).__name__}, but must hold names and values")
    return {str(name): value for name, value in values.items()}
