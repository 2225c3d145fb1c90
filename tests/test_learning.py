"""The facade's learning: feedback, maintenance, history, undo, freezing, and the backlog of judgements."""

import asyncio
import dataclasses
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import StorageError
from neurogated.ingestion.document import Document, Passage
from neurogated.session.compose import build
from neurogated.storage.graph_store import GraphStore
from neurogated.testing import ManualClock

STORY = Document(
    tuple(
        map(
            Passage,
            (
                "The dam above the village broke at dawn.",
                "Because of this, the lower fields were flooded and the harvest was lost.",
                "The council raised a loan to buy grain.",
                "In spring the dam was rebuilt in stone.",
            ),
        )
    ),
    "The flood",
)


@pytest.fixture
def memory(config: MemoryConfig, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config, parts=build(config, clock)) as opened:
        opened.add_documents([STORY, "Bread is baked at four in the morning.", "The mill has two stones."])
        yield opened


def _weights(memory: NeuroGraphMemory) -> dict[object, float]:
    return {edge.key: edge.weight for edge in memory.store.all_edges()}


def test_maintenance_fades_idle_edges_and_reports_how_many_are_gone(
    memory: NeuroGraphMemory, clock: ManualClock
) -> None:
    fixed = {key: weight for key, weight in _weights(memory).items() if not key.type.plastic}  # type: ignore[attr-defined]
    plastic = len(_weights(memory)) - len(fixed)
    removed = 0
    for _ in range(300):
        clock.advance(timedelta(days=2))
        removed += memory.maintenance()
    assert removed == plastic
    assert _weights(memory) == fixed


def test_async_and_batch_calls_agree_with_plain_calls(memory: NeuroGraphMemory) -> None:
    questions = ["What broke at dawn?", "When is bread baked?"]
    expected = [memory.retrieve(question, top_n=2) for question in questions]
    assert memory.retrieve_batch(questions, top_n=2) == expected
    assert memory.retrieve_batch([]) == []
    together, alone = memory.retriever.recall_batch(questions), [memory.recall(question) for question in questions]
    for left, right in zip(together, alone, strict=True):
        assert left.seconds.keys() == right.seconds.keys()
        assert dataclasses.replace(left, seconds={}) == dataclasses.replace(right, seconds={})

    async def ask() -> list[list[str]]:
        recalls = await asyncio.gather(*(memory.aio.recall(question, top_n=2) for question in questions))
        assert [[one.content for one in recall] for recall in recalls] == expected
        return list(await asyncio.gather(*(memory.aio.retrieve(question, top_n=2) for question in questions)))

    assert asyncio.run(ask()) == expected


def test_recalls_beside_a_transaction_and_in_it_wait_for_no_one(memory: NeuroGraphMemory) -> None:
    question = "What broke at dawn?"
    expected = memory.retrieve(question)
    assert isinstance(memory.store, GraphStore)
    with ThreadPoolExecutor() as threads, memory.store.transaction():
        others = [threads.submit(memory.retrieve, question) for _ in range(2 * (os.cpu_count() or 1))]
        assert memory.retrieve(question) == expected
        assert [other.result(timeout=60) for other in others] == [expected] * len(others)


def test_a_memory_whose_marks_cannot_be_written_still_closes(
    config: MemoryConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = NeuroGraphMemory(config)
    memory.add_document("The dam broke.")
    memory.retrieve("dam")

    def full(_: object) -> int:
        raise StorageError("disk full")

    monkeypatch.setattr(memory.store, "apply", full)
    memory.close()
    NeuroGraphMemory(config).close()


def test_feedback_names_the_memories_that_learned(memory: NeuroGraphMemory) -> None:
    first, second, third = memory.add(["I like tea.", "I like jam.", "I like rye bread."])
    memory.delete(third)
    done = memory.feedback([first, second, third])
    assert (done.memories, done.gone, int(done)) == ((first, second), (third,), 1)
    assert first in repr(done)
    assert str(done) == f"{done}" == "1"
    memory.freeze()
    assert memory.feedback([first, second]).memories == ()
