"""If inverted lists in a mapped file cannot be linked, they are rewritten completely."""

from pathlib import Path

import numpy as np
import pytest

from neurogated import GraphDelta, MemoryConfig, MemoryNode
from neurogated.config.groups import RuntimeSettings, VectorSettings
from neurogated.storage.sqlite_store import SqliteStore


def test_mapped_lists_are_written_again_where_there_are_no_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    random = np.random.default_rng(0)
    config = MemoryConfig(
        vectors=VectorSettings(exact_below=100, max_unlisted=10), runtime=RuntimeSettings(checkpoint_changes=2)
    )

    def add(store: SqliteStore, first: int, count: int) -> None:
        vectors = random.normal(size=(count, 8)).astype(np.float32)
        nodes = (MemoryNode(f"n{first + row}", "apple", vector) for row, vector in enumerate(vectors))
        store.apply(GraphDelta(nodes=tuple(nodes)))
        store.graph.index.vectors.wait()
        store.keyword_search("apple", 1)

    def no_links(self: Path, target: Path) -> None:  # noqa: ARG001 - as a file system without links
        raise OSError("no links here")

    with SqliteStore.open(tmp_path / "memory.db", config=config) as store:
        add(store, 0, 300)
    monkeypatch.setattr(Path, "hardlink_to", no_links)
    with SqliteStore.open(tmp_path / "memory.db", config=config) as store:
        add(store, 300, 5)
        store.follower.checkpointer.checkpoint(at_once=True)
        store.follower.checkpointer.wait()
        expected = store.nearest([1.0] * 8, 5)
    with SqliteStore.open(tmp_path / "memory.db", config=config) as store:
        assert store.graph.index.vectors.trained_on
        assert store.nearest([1.0] * 8, 5) == expected
        assert store.check() == []
    assert [record.message for record in caplog.records if "could not be written" in record.message] == []
