"""The settings of the snippets: the instant embedder, and files in a folder of the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from neurogated import EdgeType, GraphStore, MemoryNode


@pytest.fixture(autouse=True)
def _quick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the instant embedder the default for snippets without settings."""
    monkeypatch.setenv("NEUROGATED_EMBEDDING_NAME", "hash")
    monkeypatch.setenv("NEUROGATED_SAVE_DIR", str(tmp_path / "outputs"))


@pytest.fixture
def graph() -> GraphStore:
    """Three chunks in a row. The first two are similar, and the first causes the last."""
    store = GraphStore()
    for name, vector in (("a", [1.0, 0.0]), ("b", [0.6, 0.8]), ("c", [0.0, 1.0])):
        store.add_node(MemoryNode(id=name, content=f"text {name}", embedding=vector))
    store.add_edge("a", "b", EdgeType.SEQ, weight=1.0)
    store.add_edge("b", "c", EdgeType.SEQ, weight=0.5)
    store.add_edge("a", "c", EdgeType.CAUSE, weight=0.8)
    store.add_edge("c", "a", EdgeType.CAUSE, weight=0.8)
    return store
