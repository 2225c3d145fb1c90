"""An export of a memory that other threads and processes change has one state of that memory."""

import threading
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.archive import export

A_WHILE = 0.3


@pytest.fixture
def durable(tmp_path: Path) -> MemoryConfig:
    return MemoryConfig(save_dir=str(tmp_path / "source"), embedding_name="hash")


@pytest.fixture
def target(tmp_path: Path) -> MemoryConfig:
    return MemoryConfig(save_dir=str(tmp_path / "target"), embedding_name="hash")


@pytest.mark.parametrize("storage", ["memory", "sqlite"])
def test_namespaces_are_exported_as_they_were_at_one_moment(
    durable: MemoryConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, storage: str
) -> None:
    survey, threads = export._survey, []
    with NeuroGraphMemory(durable.replace(storage=storage)) as memory:
        store: Any = memory.store
        other = store.in_namespace("other")

        def both() -> None:
            with store.transaction():
                for graph in (store, other):
                    graph.add_node(MemoryNode(f"n{len(graph)}", "one of a pair"))

        def survey_then_write(*arguments):  # type: ignore[no-untyped-def] # noqa: ANN002, ANN202
            found = survey(*arguments)
            threads.append(threading.Thread(target=both))
            threads[-1].start()
            # A thread that had to wait for the export continues afterwards.
            threads[-1].join(A_WHILE)
            return found

        both()
        with monkeypatch.context() as patch:
            patch.setattr(export, "_survey", survey_then_write)
            manifest = memory.admin.export(tmp_path / "out", progress=False)
        for thread in threads:
            thread.join()
        assert len(store) == len(other) == 3
    assert [counts.nodes for counts in manifest.namespaces] == [1, 1]
