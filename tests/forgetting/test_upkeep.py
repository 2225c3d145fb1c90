"""Expiry, questions about the past, and maintenance."""

from datetime import datetime, timedelta

import pytest

from neurogated import EdgeType, GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.core.model import MemoryNode
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.errors import InputError, UnknownIdError
from neurogated.parts import Parts
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.testing import ManualClock


def nodes_of(memory: NeuroGraphMemory) -> list[MemoryNode]:
    return list(memory.store.all_nodes())


# Expiring


def test_maintenance_removes_expired_memories_with_their_edges(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    kept = [memory.add_document(text)[0] for text in ("A heron.", "The heron.")]
    (lost,) = memory.add_document("Heron and stone.", ttl=timedelta(hours=1))
    assert memory.store.get_node(lost).expires_at == clock() + timedelta(hours=1)
    assert memory.maintenance() == 0
    assert memory.store.has_node(lost)
    memory.learning.freeze()
    clock.advance(timedelta(hours=1))
    assert memory.maintenance() == 0
    assert [node.id for node in nodes_of(memory)] == kept
    assert [edge.weight for edge in memory.store.all_edges() if edge.type is EdgeType.TERM] == [0.5]
    entry = memory.history.list()[-1]
    assert (entry.reason, entry.changes["nodes removed"]) == ("expired", 1)


def test_a_memory_lasts_as_long_as_the_last_call_says(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    def add(ttl: timedelta | None) -> datetime | None:
        (node_id,) = memory.add_document("A heron.", ttl=ttl)
        return memory.store.get_node(node_id).expires_at

    first = add(timedelta(hours=1))
    assert first == clock() + timedelta(hours=1)
    clock.advance(timedelta(minutes=30))
    assert add(None) is None
    assert add(timedelta(hours=2)) == clock() + timedelta(hours=2)
    clock.advance(timedelta(hours=3))
    assert add(None) is None
    assert [entry.reason for entry in memory.history.list()] == ["add", "add", "add", "expired", "add"]
    assert memory.update(nodes_of(memory)[0].id, ttl=timedelta(hours=1)).expires_at == clock() + timedelta(hours=1)
    assert add(timedelta.max) is None


def test_an_expired_memory_can_be_deleted_and_not_updated(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (first,), (second,) = memory.add_documents(
        [{"text": "A heron.", "ttl": 60}, {"text": "A stone.", "ttl": timedelta(minutes=1)}], progress=False
    )
    clock.advance(timedelta(minutes=2))
    assert memory.delete([first]) == 1
    assert nodes_of(memory) == []
    with pytest.raises(UnknownIdError):
        memory.update(second, "A pebble.")


def test_valid_time_is_kept_and_must_have_a_length(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    begin, end = clock(), clock() + timedelta(days=1)
    (node_id,) = memory.add_document("A heron.", valid_from=begin, valid_to=end)
    assert (memory.store.get_node(node_id).valid_from, memory.store.get_node(node_id).valid_to) == (begin, end)
    memory.add_documents([{"text": "A heron.", "valid_from": begin, "valid_to": end}], progress=False)
    assert len(memory.history.list()) == 1
    with pytest.raises(InputError):
        memory.add_document("A stone.", valid_from=end, valid_to=begin)
    with pytest.raises(InputError):
        memory.update(node_id, valid_to=begin)
    with pytest.raises(InputError):
        memory.add_documents([{"text": "A stone.", "valid_to": "tomorrow"}])


# Asking the past


def test_asking_the_past_leaves_no_mark(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (node_id,) = memory.add_document("A heron.")
    (gone,) = memory.add_document("The heron flies.")
    used = memory.store.get_node(node_id).last_accessed
    memory.delete([gone])
    clock.advance(timedelta(hours=1))
    assert set(memory.recall("heron?", as_of=2).ids) == {node_id, gone}
    assert memory.recall("heron?", as_of=used - timedelta(seconds=1)).ids == ()
    assert memory.retrieve_batch(["heron?"], as_of=1) == [["A heron."]]
    memory.recall("heron?", valid_at=clock())
    memory.learning.flush()
    assert memory.store.get_node(node_id).last_accessed == used
    memory.recall("heron?")
    memory.learning.flush()
    assert memory.store.get_node(node_id).last_accessed == clock()
    with pytest.raises(InputError):
        memory.recall("heron?", as_of=99)


# Upkeep


def test_compacting_empties_every_cache(settings_used: MemoryConfig) -> None:
    class Cache:
        cleared = 0

        def clear(self) -> None:
            self.cleared += 1

    caches = Cache(), Cache()
    parts = Parts(GraphStore(), HashEmbedder(), UniformKernelSource(), caches=caches)
    with NeuroGraphMemory(settings_used, parts=parts) as memory:
        memory.delete(memory.add_document("A heron."))
        assert memory.admin.compact() == 1
        assert [cache.cleared for cache in caches] == [1, 1]
        memory.add_document("A stone.")
