"""The facade: add, ask, close, and open again."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.compose import build
from neurogated.runtime import ACCESS_FLUSH_SECONDS
from neurogated.testing import ManualClock

STORY = (
    "The ferry left at dawn with forty crates of lamp oil.",
    "Fog closed the strait before noon and the pilots waited.",
    "The harbour master lit the second lantern by hand.",
)


@pytest.fixture
def timed(config: MemoryConfig, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config, parts=build(config, clock)) as memory:
        yield memory


def test_use_is_marked_now_and_then_and_on_close(timed: NeuroGraphMemory, clock: ManualClock) -> None:
    (first,) = timed.add_document(STORY[0])
    clock.advance(timedelta(seconds=1))
    timed.retrieve("ferry")
    assert timed.store.get_node(first).last_accessed < clock()
    clock.advance(timedelta(seconds=ACCESS_FLUSH_SECONDS))
    timed.retrieve("ferry")
    assert timed.store.get_node(first).last_accessed == clock()
    clock.advance(timedelta(seconds=1))
    timed.retrieve("ferry")
    timed.close()
    with NeuroGraphMemory(timed.config) as again:
        assert again.store.get_node(first).last_accessed == clock()


def test_namespaces_share_the_file_and_never_the_memories(memory: NeuroGraphMemory) -> None:
    other = memory.in_namespace("other")
    memory.add_document(STORY[0])
    other.add_document(STORY[1])
    assert memory.retrieve("ferry fog", top_n=9) == [STORY[0]]
    assert other.retrieve("ferry fog", top_n=9) == [STORY[1]]
    other.close()
    assert memory.retrieve("ferry", top_n=1) == [STORY[0]]


def test_force_index_from_scratch_forgets_the_graph_and_keeps_the_vectors(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memory.add_document(STORY[0])
    with NeuroGraphMemory(config.replace(force_index_from_scratch=True)) as memory:
        assert memory.retrieve("ferry") == []
    assert (Path(config.save_dir) / "embedding_cache.db").stat().st_size > 0


def test_the_same_messages_in_the_same_order_have_the_same_scores_in_every_run(
    tmp_path: Path, clock: ManualClock
) -> None:
    def told(name: str) -> list[tuple[int, float]]:
        config = MemoryConfig(save_dir=str(tmp_path / name))
        with NeuroGraphMemory(config, parts=build(config, clock)) as memory:
            # Many equal texts, so that the order of equal scores decides which take part.
            added = [memory.add(STORY[place % 3], session_id=f"s{place // 4}")[0] for place in range(48)]
            return [(added.index(one.id), one.score) for one in memory.recall("Who lit the lantern?", top_n=8).memories]

    assert told("one") == told("two")
