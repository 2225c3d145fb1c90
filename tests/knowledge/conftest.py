"""Memories with a language model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.knowledge import backlog
from neurogated.session import runtime
from tests.knowledge.model_server import ModelServer, serving
from tests.knowledge.plain_reader import config_of


@pytest.fixture
def model() -> Iterator[ModelServer]:
    with serving() as server:
        yield server


@pytest.fixture
def config(model: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> MemoryConfig:
    """Return settings with the model, which judges pairs and reads no claims, and without a cache of its answers."""
    monkeypatch.setattr(backlog, "REST_SECONDS", 0.0)
    monkeypatch.setattr(runtime, "GATHER_SECONDS", 1e6)
    values: dict[str, Any] = {
        "embedding_name": "hash",
        "llm_base_url": model.url,
        "metabolism.knowledge": "slots, pairs",
    }
    values |= {"cache_bytes": 0, "llm.wait": True}
    return MemoryConfig.from_mapping({"save_dir": str(tmp_path / "memory"), **values})


@pytest.fixture
def memory(read_by_model: Mapping[str, Any]) -> Iterator[NeuroGraphMemory]:
    """Return a memory that a model reads, whose embedder knows no meanings: texts with a few common words are near."""
    with NeuroGraphMemory(config_of(read_by_model, storage="memory")) as memory:
        yield memory
