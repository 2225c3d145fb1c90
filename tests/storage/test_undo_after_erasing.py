"""Undo never removes live data because a compaction has erased what was there before."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.errors import InputError
from neurogated.session.administration import import_memory, restore_snapshot

TEXTS = ["Ana planted an oak near the river.", "The river near the oak floods.", "Ana repairs the bridge at the river."]


@pytest.fixture(params=["memory", "sqlite"])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryConfig:
    return MemoryConfig(save_dir=str(tmp_path / "source"), embedding_name="hash", storage=request.param)


@pytest.fixture
def memory(config: MemoryConfig) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config) as memory:
        ids = [memory.add(text, title="River")[0] for text in TEXTS]
        memory.update(ids[0], "Ana planted an old oak near the river in spring.")
        memory.update(ids[1], title="Floods")
        yield memory


def _content(memory: NeuroGraphMemory) -> tuple[dict[str, str], set[tuple[str, str, EdgeType]]]:
    return (
        {node.id: node.content for node in memory.store.all_nodes()},
        {(edge.source_id, edge.target_id, edge.type) for edge in memory.store.all_edges()},
    )


UNDOES: list[Callable[[NeuroGraphMemory], object]] = [
    lambda memory: memory.undo(),
    lambda memory: memory.undo(2),
    lambda memory: memory.undo(0),
]


@pytest.mark.parametrize("undo", UNDOES, ids=["last", "to 2", "to 0"])
def test_a_change_before_the_erasure_is_not_undone(
    memory: NeuroGraphMemory, undo: Callable[[NeuroGraphMemory], object]
) -> None:
    before = _content(memory)
    memory.admin.compact(history=True)
    with pytest.raises(InputError):
        undo(memory)
    assert _content(memory) == before
    assert memory.admin.check() == []


@pytest.mark.parametrize("how", ["reopened", "restored", "exported"])
def test_a_copy_knows_what_was_erased(tmp_path: Path, how: str) -> None:
    config = MemoryConfig(save_dir=str(tmp_path / "source"), embedding_name="hash")
    target = config.replace(save_dir=str(tmp_path / "target"))
    with NeuroGraphMemory(config) as memory:
        ids = [memory.add(text)[0] for text in TEXTS]
        memory.update(ids[0], "Ana felled the oak near the river.")
        memory.admin.compact(history=True)
        memory.add("A heron stands in the river near the oak.")
        memory.admin.snapshot(tmp_path / "taken")
        memory.admin.export(tmp_path / "out", progress=False)
    if how == "restored":
        restore_snapshot(target, tmp_path / "taken")
    elif how == "exported":
        import_memory(target, tmp_path / "out", progress=False)
    with NeuroGraphMemory(config if how == "reopened" else target) as memory:
        memory.undo()
        before = _content(memory)
        with pytest.raises(InputError):
            memory.undo(0)
        assert _content(memory) == before
