"""Expiry, questions about the past, and maintenance."""

from datetime import timedelta

import pytest

from neurogated import EdgeType, GraphStore, NeuroGraphMemory
from neurogated.core.delta import HistoryEntry
from neurogated.core.model import MemoryNode
from neurogated.errors import InputError, UnknownIdError
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


def test_maintenance_reads_no_changes_from_before_the_last_one(
    memory: NeuroGraphMemory, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(100):
        memory.add(f"Heron {number}.")
    clock.advance(timedelta(days=2))
    memory.maintenance()
    memory.add("A stone.")
    clock.advance(timedelta(days=2))
    read, history = list[int](), GraphStore.history

    def counted(store: GraphStore, *span: int) -> list[HistoryEntry]:
        entries = history(store, *span)
        read.extend(entry.sequence for entry in entries)
        return entries

    monkeypatch.setattr(GraphStore, "history", counted)
    memory.maintenance()
    memory.energy.tick()
    assert read
    assert min(read) > 80


def test_an_expired_memory_can_be_deleted_and_not_updated(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (first,), (second,) = memory.add_documents(
        [{"text": "A heron.", "ttl": 60}, {"text": "A stone.", "ttl": timedelta(minutes=1)}], progress=False
    )
    clock.advance(timedelta(minutes=2))
    assert memory.delete([first]) == 1
    assert nodes_of(memory) == []
    with pytest.raises(UnknownIdError):
        memory.update(second, "A pebble.")


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
