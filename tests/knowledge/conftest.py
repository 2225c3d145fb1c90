"""Memories with a language model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.knowledge import backlog
from tests.knowledge.model_server import ModelServer, serving


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def config(model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MemoryConfig:
    """Return settings with the model, which judges pairs and reads no claims, and without a cache of its answers."""
    monkeypatch.setattr(backlog, "REST_SECONDS", 0.0)
    values = {"embedding_name": "hash", "llm_base_url": model.url, "llm.retries": 0, "llm.cache_bytes": 0}
    values["metabolism.read_claims"] = "offline"
    return MemoryConfig.from_mapping({"save_dir": str(tmp_path / "memory"), **values})


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    """Return a memory whose embedder knows no meanings, so that texts with a few words in common are near."""
    config = MemoryConfig(storage="memory", embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        yield memory
