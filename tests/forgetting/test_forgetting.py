"""After a deletion, an update or an expiry no word stays, calls skip what is gone, and the rest is as before."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import (
    Document,
    EdgeType,
    FilterOptions,
    GraphStore,
    MemoryConfig,
    MemoryEdge,
    NeuroGraphMemory,
    Passage,
)
from neurogated.core.delta import HistoryEntry
from neurogated.core.model import MemoryNode
from neurogated.core.rendering import render
from neurogated.core.view import GraphView
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import InputError, MemoryLockedError, UnknownIdError
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.session import runtime
from neurogated.session.runtime import Parts
from neurogated.testing import ManualClock
from tests.ingestion.test_mentions import limited


@pytest.fixture
def memory(plain: MemoryConfig, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    parts = Parts(GraphStore(clock=clock), HashEmbedder(), UniformKernelSource(), clock=clock)
    with NeuroGraphMemory(plain, parts=parts) as opened:
        yield opened


TALK = (
    ("Ann", "My cat Mio is ill since Monday."),
    ("Bo", "Oh no!"),
    ("Ann", "The vet gave Mio a blue pill."),
    ("Bo", "Oh no!"),
    ("Ann", "Because of the pill, Mio sleeps."),
    ("Bo", "Let it sleep until tomorrow."),
)


def talk(*turns: tuple[str, str], title: str | None = "Session 1") -> Document:
    return Document(tuple(Passage(text, speaker=speaker) for speaker, text in turns), title)


def nodes_of(memory: NeuroGraphMemory) -> list[MemoryNode]:
    return list(memory.store.all_nodes())


def edges_of(memory: NeuroGraphMemory, node_id: str, kind: EdgeType) -> list[MemoryEdge]:
    return [e for e in memory.store.all_edges() if e.type is kind and node_id in (e.source_id, e.target_id)]


def assert_vectors_fit(memory: NeuroGraphMemory) -> None:
    """Check that every vector is that of its rendering, and every SIM weight the cosine of its ends."""
    nodes = {node.id: node for node in nodes_of(memory)}
    for node in nodes.values():
        assert np.array_equal(np.asarray(node.embedding), HashEmbedder().embed_documents([render(node)])[0])
    for edge in memory.store.all_edges():
        if edge.type is EdgeType.SIM:
            ends = [np.asarray(nodes[end].embedding, dtype=float) for end in (edge.source_id, edge.target_id)]
            cosine = float(ends[0] @ ends[1] / np.linalg.norm(ends[0]) / np.linalg.norm(ends[1]))
            assert edge.weight == pytest.approx(max(0.0, cosine), abs=1e-6)


def everything(memory: NeuroGraphMemory) -> str:
    return repr([(node.content, node.title, node.speaker, node.metadata) for node in nodes_of(memory)])


# Deleting


def test_nothing_is_deleted_where_an_id_is_unknown(memory: NeuroGraphMemory) -> None:
    ids = memory.add_document("A heron in Lyon.")
    for unknown in ("nowhere", uuid4()):
        with pytest.raises(UnknownIdError):
            memory.delete([*ids, unknown])
    assert len(nodes_of(memory)) == 1
    assert memory.delete(ids) == 1
    assert memory.delete(ids) == 0
    assert memory.delete([]) == 0
    assert len(memory.history.list()) == 2


@given(st.lists(st.sets(st.integers(0, 5), max_size=3), min_size=1, max_size=3))
def test_words_of_deleted_turns_are_nowhere_and_restored_they_are_everywhere(rounds: list[set[int]]) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        said = [(speaker, f"{text} Turn{place}.") for place, (speaker, text) in enumerate(TALK)]
        (ids,) = memory.add_documents([talk(*said)], progress=False)
        whole = {node.id: node.metadata for node in nodes_of(memory)}
        for chosen in rounds:
            memory.delete([ids[place] for place in chosen if memory.store.has_node(ids[place])])
            here = [place for place in range(6) if memory.store.has_node(ids[place])]
            assert all((f"Turn{place}." in everything(memory)) == (place in here) for place in range(6))
            assert_vectors_fit(memory)
        memory.add_documents([talk(*said)], progress=False)
        assert {node.id: node.metadata for node in nodes_of(memory)} == whole
        assert_vectors_fit(memory)


texts = st.lists(
    st.tuples(
        st.sampled_from(["A heron in Lyon.", "Lyon has a heron.", "Heron and stone.", "Big Cat saw Lyon.", "A stone."]),
        st.sampled_from([None, "Lyon", "Big Cat", "Heron"]),
    ),
    min_size=1,
    max_size=8,
    unique=True,
)


@given(texts, texts, st.data())
def test_the_remaining_texts_have_the_edges_of_a_memory_without_the_deleted_ones(
    first: list[tuple[str, str | None]], second: list[tuple[str, str | None]], data: st.DataObject
) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    with limited(3, 2), NeuroGraphMemory(config) as memory, NeuroGraphMemory(config) as other:
        added = {pair: memory.add_document(pair[0], title=pair[1])[0] for pair in first}
        gone = data.draw(st.sets(st.sampled_from(first)), "deleted")
        memory.delete([added[pair] for pair in gone])
        for pair in second:
            memory.add_document(pair[0], title=pair[1])
        stored = [(node.content, node.title) for node in nodes_of(memory)]
        for text, title in stored:
            other.add_document(text, title=title)
        assert _weights(memory) == pytest.approx(_weights(other))


def _weights(memory: NeuroGraphMemory) -> dict[tuple[object, ...], float]:
    named = {node.id: (node.content, str(node.title)) for node in nodes_of(memory)}
    found: dict[tuple[object, ...], float] = {}
    for edge in memory.store.all_edges():
        ends = [named[edge.source_id], named[edge.target_id]]
        if edge.type in {EdgeType.TERM, EdgeType.MENTION}:
            found[(edge.type.name, *(sorted(ends) if edge.type is EdgeType.TERM else ends))] = edge.weight
    return found


@pytest.mark.parametrize("filters", [{"user_id": None}, {"where": None}, {"path": ()}, {"tags": []}, {"kinds": None}])
def test_filters_without_a_value_delete_nothing(memory: NeuroGraphMemory, filters: FilterOptions) -> None:
    memory.add(["The ferry left at dawn.", "The lantern was lit."])
    with pytest.raises(InputError):
        memory.delete(**filters)
    assert memory.count() == 2


# Updating


def test_an_update_keeps_the_id_and_the_past(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (node_id,) = memory.add_document("The pump is broken since Monday.", title="Pump", metadata={"mood": "bad", "n": 1})
    sequence, born = memory.store.view().sequence, clock()
    clock.advance(timedelta(days=1))
    new = memory.update(node_id, "The pump works.", metadata={"mood": "good", "n": None})
    assert new == memory.store.get_node(node_id)
    assert (new.id, new.content, new.created_at) == (node_id, "The pump works.", born)
    assert (new.title, new.metadata["mood"]) == ("Pump", "good")
    assert new.metadata == {"mood": "good"}
    assert new.found.times == ()
    assert memory.store.as_of(sequence).get_node(node_id).content == "The pump is broken since Monday."
    assert memory.retrieve("Does the pump work?", top_n=1) == ["The pump works."]
    assert memory.retrieve("pump?", as_of=sequence) == ["The pump is broken since Monday."]
    assert memory.retrieve("pump?", as_of=born) == ["The pump is broken since Monday."]
    assert memory.history.list()[-1].reason == "update"
    assert_vectors_fit(memory)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "the update is empty"),
        ({"content": "  "}, "blank"),
        ({"content": 42}, "must be text"),
        ({"title": 42}, "must be text"),
        ({"metadata": {"x": {1}}}, "not JSON"),
        ({"ttl": timedelta(0)}, "above 0"),
        (
            {"valid_from": datetime(2026, 1, 2, tzinfo=UTC), "valid_to": datetime(2026, 1, 1, tzinfo=UTC)},
            "must lie after",
        ),
    ],
)
def test_an_update_that_cannot_be_stored_changes_nothing(
    memory: NeuroGraphMemory, arguments: dict[str, Any], message: str
) -> None:
    (node_id,) = memory.add_document("A heron.")
    with pytest.raises(InputError, match=message):
        memory.update(node_id, **arguments)
    with pytest.raises(UnknownIdError):
        memory.update("nowhere", "A heron.")
    assert len(memory.history.list()) == 1


def test_causes_of_a_new_text_are_judged_again_and_learned_edges_stay(memory: NeuroGraphMemory) -> None:
    turns = (("Ann", "The pump failed."), ("Ann", "Because of this, the field was flooded."))
    (ids,) = memory.add_documents([talk(*turns)], progress=False)
    (other,) = memory.add_document("A pebble.")
    memory.feedback([ids[1], other])
    assert len(edges_of(memory, ids[1], EdgeType.CAUSE)) == 2
    memory.update(ids[1], "The field is green.")
    assert edges_of(memory, ids[1], EdgeType.CAUSE) == []
    assert len(edges_of(memory, ids[1], EdgeType.SEQ)) == len(edges_of(memory, ids[1], EdgeType.ASSOC)) == 1
    memory.update(ids[1], "Because of this, the field was flooded again.")
    assert len(edges_of(memory, ids[1], EdgeType.CAUSE)) == 2


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


TEXTS = ("A heron stood in the reeds.", "The heron flew over Lyon.", "Rain fell on Lyon all day.")


@pytest.fixture(params=["sqlite", "memory"])
def shared(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[NeuroGraphMemory]:
    settings = MemoryConfig(
        storage=request.param,
        save_dir=str(tmp_path),
        embedding_name="hash",
    )
    monkeypatch.setattr(runtime, "ACCESS_FLUSH_SECONDS", 0.0)
    with NeuroGraphMemory(settings) as opened:
        yield opened


@pytest.fixture
def ids(shared: NeuroGraphMemory) -> list[str]:
    return [shared.add_document(text)[0] for text in TEXTS]


def test_feedback_skips_memories_deleted_since_the_recall(
    shared: NeuroGraphMemory, ids: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    recall = shared.recall("heron in Lyon", top_n=3)
    shared.delete([ids[0]])
    with caplog.at_level(logging.INFO):
        feedback = shared.feedback(recall.ids)
    assert feedback == 1
    assert feedback.gone == (ids[0],)
    assert f"skips 1 memories that are gone: {ids[0]}" in caplog.text
    assert shared.history.list()[-1].reason == "feedback on 2 memories"


@pytest.mark.parametrize("part", [lambda recall: recall, lambda recall: recall.memories[:3]])
def test_memories_of_a_recall_are_gone_and_not_unknown_even_after_a_compaction(
    shared: NeuroGraphMemory, ids: list[str], part: Callable[[object], list[object]]
) -> None:
    recall = shared.recall("heron in Lyon", top_n=3)
    shared.delete([ids[1]])
    shared.store.compact()
    assert shared.feedback(part(recall)).gone == (ids[1],)  # type: ignore[arg-type]
    # A bare id leaves no trace, as a compaction promises.
    with pytest.raises(UnknownIdError):
        shared.feedback(recall.ids)


def test_nobody_writes_between_the_look_of_a_feedback_at_the_graph_and_its_write(
    shared: NeuroGraphMemory, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    present, refused = GraphView.present, list[BaseException | None]()

    def write() -> None:
        with shared.session.committer.exclusively(0):
            pass

    def look(view: GraphView, *given: Any) -> list[str]:  # noqa: ANN401
        with ThreadPoolExecutor(1) as pool:
            refused.append(pool.submit(write).exception())
        return present(view, *given)

    monkeypatch.setattr(GraphView, "present", look)
    assert shared.feedback(ids) == 3
    assert [type(one) for one in refused] == [MemoryLockedError]


def test_accesses_of_deleted_memories_are_skipped(shared: NeuroGraphMemory, ids: list[str]) -> None:
    kept = shared.store.get_node(ids[2]).last_accessed
    shared.learning.freeze()
    shared.learning.unfreeze()
    recall = shared.recall("heron in Lyon", top_n=3)
    shared.session.runtime.accesses.add(shared.store, recall.access)
    shared.delete(ids[:2])
    shared.learning.flush()
    assert shared.store.get_node(ids[2]).last_accessed > kept
