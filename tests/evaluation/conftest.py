"""Data sets and graphs that tests of experiments share."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.evaluation.datasets import Dataset, load_dataset
from neurogated.evaluation.runner import config_for

GraphOf = Callable[..., list[tuple[Any, ...]]]

ROOT = Path(__file__).parents[2]


@pytest.fixture
def sample() -> Dataset:
    return load_dataset("sample", ROOT / "dataset", "hipporag")


@pytest.fixture
def sample_config(sample: Dataset, config: MemoryConfig) -> MemoryConfig:
    """Settings of the sample's own memory."""
    return config_for(sample, config)


@pytest.fixture
def talks(tmp_path: Path) -> Dataset:
    """Return two conversations. The second repeats the facts that the questions about the first ask for."""

    def conversation(name: str, texts: Sequence[str], qa: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        turns = [
            {"speaker": "Ann" if place % 2 else "Bo", "dia_id": f"D1:{place}", "text": text}
            for place, text in enumerate(texts, start=1)
        ]
        return {"sample_id": name, "conversation": {"session_1": turns}, "qa": list(qa)}

    def asked(question: str, *evidence: str, category: int = 4) -> dict[str, Any]:
        return {"question": question, "category": category, "evidence": list(evidence), "answer": "x"}

    boats = (
        "I bought a kayak.",
        "My sister paints harbours.",
        "The kayak leaks.",
        "Patch it with tar.",
        "Tar is black.",
    )
    bees = ("Who bought a kayak?", "Bees hum in June.", "Honey is sweet.", "The hive is old.", "Old hives leak.")
    first = [
        asked("Who bought a kayak?", "D1:1"),
        asked("What leaks and is patched?", "D1:3", "D1:4", category=1),
        asked("What is black?", "D1:5"),
        asked("What does the sister paint?", "D1:2", category=1),
    ]
    second = [asked("Who hums in June?", "D1:2"), asked("What leaks?", "D1:4", "D1:5", category=1)]
    path = tmp_path / "talks.json"
    path.write_text(json.dumps([conversation("one", boats, first), conversation("two", bees, second)]), "utf-8")
    return load_dataset("talks", tmp_path, "locomo")


@pytest.fixture
def graph_of() -> GraphOf:
    """Return a function that returns the whole state of a memory: nodes, edges and history of each namespace."""

    def read(config: MemoryConfig, *namespaces: str) -> list[tuple[Any, ...]]:
        graphs = []
        for namespace in namespaces or ("default",):
            with NeuroGraphMemory(config.replace(namespace=namespace)) as memory:
                nodes, edges = list(memory.store.all_nodes()), list(memory.store.all_edges())
                graphs.append((nodes, edges, memory.history(), memory.store.view().sequence))
        return graphs

    return read
