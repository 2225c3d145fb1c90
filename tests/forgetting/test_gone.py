"""A call skips memories that another thread has deleted. An id that never existed is an error."""

from __future__ import annotations

import logging
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import LearningSettings
from neurogated.core.column_view import ColumnView
from neurogated.errors import UnknownIdError

TEXTS = ("A heron stood in the reeds.", "The heron flew over Lyon.", "Rain fell on Lyon all day.")
WORKERS = 8
STEPS = 8


@pytest.fixture(params=["sqlite", "memory"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NeuroGraphMemory]:
    settings = MemoryConfig(
        storage=request.param,
        save_dir=str(tmp_path),
        embedding_name="hash",
        learning=LearningSettings(access_flush_seconds=0.0),
    )
    with NeuroGraphMemory(settings) as opened:
        yield opened


@pytest.fixture
def ids(memory: NeuroGraphMemory) -> list[str]:
    return [memory.add_document(text)[0] for text in TEXTS]


def test_feedback_skips_memories_deleted_since_the_recall(
    memory: NeuroGraphMemory, ids: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    recall = memory.recall("heron in Lyon", top_n=3)
    memory.delete([ids[0]])
    with caplog.at_level(logging.INFO):
        feedback = memory.feedback(recall.ids)
    assert feedback == 1
    assert feedback.gone == (ids[0],)
    assert f"skips 1 memories that are gone: {ids[0]}" in caplog.text
    assert memory.history()[-1].reason == "feedback on 2 memories"


@pytest.mark.parametrize("part", [lambda recall: recall, lambda recall: recall.memories[:3]])
def test_memories_of_a_recall_are_gone_and_not_unknown_even_after_a_compaction(
    memory: NeuroGraphMemory, ids: list[str], part: Callable[[object], list[object]]
) -> None:
    recall = memory.recall("heron in Lyon", top_n=3)
    memory.delete([ids[1]])
    memory.store.compact()  # type: ignore[attr-defined]
    assert memory.feedback(part(recall)).gone == (ids[1],)  # type: ignore[arg-type]
    # A bare id leaves no trace, as a compaction promises.
    with pytest.raises(UnknownIdError, match=ids[1]):
        memory.feedback(recall.ids)


def test_expired_memories_are_gone(memory: NeuroGraphMemory, ids: list[str]) -> None:
    (mortal,) = memory.add_document("A moth.", ttl=timedelta(days=1))
    memory.maintenance(memory._parts.clock() + timedelta(days=2))
    assert memory.feedback([*ids, mortal]).gone == (mortal,)


def test_an_id_that_never_was_stays_an_error(memory: NeuroGraphMemory, ids: list[str]) -> None:
    memory.delete([ids[0]])
    before = memory.store.view().sequence
    for use in (memory.feedback, memory.delete):
        with pytest.raises(UnknownIdError, match="'ghost'"):
            use([*ids, "ghost"])
    assert memory.store.view().sequence == before


def test_deleted_memories_are_skipped(
    memory: NeuroGraphMemory, ids: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    assert memory.delete(ids[:1]) == 1
    with caplog.at_level(logging.INFO):
        assert memory.delete(ids[:2]) == 1
    assert f"delete skips 1 memories that are gone: {ids[0]}" in caplog.text
    with pytest.raises(UnknownIdError, match=ids[0]):
        memory.update(ids[0], "A stork.")
    assert [node.id for node in memory.store.all_nodes()] == ids[2:]


def test_a_delete_waits_for_the_feedback_that_has_seen_the_memory(
    memory: NeuroGraphMemory, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The deletion begins after the feedback has read the graph and before it writes."""
    seen, deleting = threading.Event(), threading.Event()
    present = ColumnView.present

    def stop(view: ColumnView, *given: object) -> list[str]:
        found = present(view, *given)  # type: ignore[arg-type]
        if threading.current_thread().name.startswith("feedback"):
            seen.set()
            assert deleting.wait(60)
        return found

    def delete() -> int:
        deleting.set()
        return memory.delete(ids)

    monkeypatch.setattr(ColumnView, "present", stop)
    with ThreadPoolExecutor(1, "feedback") as feeding, ThreadPoolExecutor(1, "delete") as pool:
        feedback = feeding.submit(memory.feedback, ids)
        assert seen.wait(60)
        deleted = pool.submit(delete)
        assert feedback.result(60) == 3
        assert deleted.result(60) == 3
    assert [entry.reason for entry in memory.history()][-2:] == ["feedback on 3 memories", "delete"]


def test_accesses_of_deleted_memories_are_skipped(memory: NeuroGraphMemory, ids: list[str]) -> None:
    kept = memory.store.get_node(ids[2]).last_accessed
    memory.freeze()
    memory.unfreeze()
    recall = memory.recall("heron in Lyon", top_n=3)
    memory._runtime.accesses.add(memory.store, recall.access)
    memory.delete(ids[:2])
    memory.flush()
    assert memory.store.get_node(ids[2]).last_accessed > kept


def test_eight_threads_add_recall_give_feedback_and_delete(memory: NeuroGraphMemory, ids: list[str]) -> None:
    """Only an update fails if another thread has deleted its memory. Every other call succeeds."""
    start = threading.Barrier(WORKERS)
    shared: list[str] = list(ids)

    def work(seed: int) -> None:
        chance = random.Random(seed)
        graph = memory.in_namespace(memory.config.namespace) if seed % 2 else memory
        start.wait()
        for number in range(STEPS):
            shared.extend(graph.add_document(f"Agent {seed} saw heron {number} over Lyon."))
            recall = graph.recall(f"Which heron did agent {chance.randrange(WORKERS)} see?", top_n=5)
            graph.feedback(recall.ids)
            graph.feedback(chance.sample(shared, 3))
            graph.delete(chance.sample(shared, 2))
            kind = (seed + number) % 4
            if kind == 0:
                graph.maintenance()
            elif kind == 1:
                graph.undo()
            elif kind == 2:
                with suppress(UnknownIdError):
                    graph.update(chance.choice(shared), f"Agent {seed} saw a stork.")
            else:
                graph.flush()

    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(work, seed) for seed in range(WORKERS)]:
            done.result(timeout=300)
    assert memory.check() == []
    assert set(memory.recall("heron", top_n=5).ids) <= {node.id for node in memory.store.all_nodes()}


def test_threads_give_feedback_on_recalls_while_others_compact(memory: NeuroGraphMemory, ids: list[str]) -> None:
    start = threading.Barrier(WORKERS)

    def work(seed: int) -> None:
        start.wait()
        for number in range(STEPS):
            (own,) = memory.add_document(f"Agent {seed} saw heron {number} over Lyon.")
            recall = memory.recall("Which heron was seen?", top_n=5)
            memory.delete([own])
            if seed == 0:
                memory.store.compact()  # type: ignore[attr-defined]
            memory.feedback(recall)

    with ThreadPoolExecutor(WORKERS) as pool:
        for done in [pool.submit(work, seed) for seed in range(WORKERS)]:
            done.result(timeout=300)
    assert {node.id for node in memory.store.all_nodes()} == set(ids)
