"""The facade's learning: feedback, maintenance, history, undo, freezing, and the backlog of judgements."""

import asyncio
import dataclasses
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from neurogated import EdgeType, GraphDelta, MemoryConfig, NeuroGraphMemory
from neurogated.compose import Parts, build
from neurogated.config.groups import IndexingSettings
from neurogated.core.judgements import CausalJudgement
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.errors import InputError, LLMError, StorageError, UnknownIdError
from neurogated.ingestion.document import Document, Passage
from neurogated.retrieval.kernel_generator import UniformKernelSource
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


def _ids(memory: NeuroGraphMemory) -> list[str]:
    return [node.id for node in memory.store.all_nodes()]


def test_indexing_finds_causes_in_pairs_of_equal_weight(memory: NeuroGraphMemory) -> None:
    causes = {edge.key[:2]: edge.weight for edge in memory.store.all_edges() if edge.type is EdgeType.CAUSE}
    first, second = _ids(memory)[:2]
    assert (first, second) in causes
    assert all(causes[target, source] == weight for (source, target), weight in causes.items())


def test_indexing_notes_the_names_in_a_text(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        (node_id,) = memory.add_document("Yesterday Lucan Dray met the harbour master at Cawthrip Quarry.")
        assert "Lucan Dray" in memory.store.get_node(node_id).found.entities


def test_feedback_strengthens_and_associates(memory: NeuroGraphMemory) -> None:
    ids = _ids(memory)
    before = _weights(memory)
    assert memory.feedback([ids[0], ids[1], ids[4]]) > 0
    after = _weights(memory)
    assert any(key.type is EdgeType.ASSOC for key in after)  # type: ignore[attr-defined]
    assert {key: weight for key, weight in after.items() if key.type is EdgeType.SIM} == {  # type: ignore[attr-defined]
        key: weight
        for key, weight in before.items()
        if key.type is EdgeType.SIM  # type: ignore[attr-defined]
    }


def test_feedback_on_an_unknown_id_changes_nothing(memory: NeuroGraphMemory) -> None:
    before = memory.store.view().sequence
    with pytest.raises(UnknownIdError, match="'ghost'"):
        memory.feedback([_ids(memory)[0], "ghost"])
    assert memory.store.view().sequence == before


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


def test_maintenance_takes_the_present_as_given(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    before = _weights(memory)
    memory.maintenance()
    assert _weights(memory) == before
    memory.maintenance(clock() + timedelta(days=5))
    assert _weights(memory) != before


def test_undo_takes_back_the_last_change_and_then_more(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    start = _weights(memory)
    sequence = memory.history()[-1].sequence
    memory.feedback(_ids(memory)[:3])
    learned = _weights(memory)
    clock.advance(timedelta(days=9))
    memory.maintenance()
    entry = memory.undo()
    assert entry is not None
    assert entry.reason.startswith("undo to ")
    assert _weights(memory) == learned
    memory.undo(to=sequence)
    assert _weights(memory) == start
    memory.undo(to=0)
    assert len(_ids(memory)) == 0
    memory.undo()
    assert _weights(memory) == start


def test_undo_of_nothing_is_nothing(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        assert memory.undo() is None
        assert memory.undo(to=0) is None
        with pytest.raises(InputError, match="no delta 7"):
            memory.undo(to=7)


def test_history_names_reasons_in_order(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    memory.feedback(_ids(memory)[:2])
    clock.advance(timedelta(days=3))
    memory.maintenance()
    reasons = [entry.reason for entry in memory.history()]
    assert reasons == ["add", "feedback on 2 memories", "decay_unused"]


def test_a_frozen_memory_learns_nothing(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    memory.freeze()
    before = memory.store.view().sequence
    clock.advance(timedelta(days=30))
    assert memory.feedback(_ids(memory)[:3]) == 0
    assert memory.maintenance() == 0
    memory.retrieve("flood")
    memory.flush()
    assert memory.store.view().sequence == before
    assert memory.stats()["frozen"]
    memory.unfreeze()
    assert memory.feedback(_ids(memory)[:3]) > 0


def test_stats_count_nodes_and_edges(memory: NeuroGraphMemory) -> None:
    stats = memory.stats()
    assert stats["nodes"] == 6
    assert stats["edges"]["SEQ"] == 3
    assert stats["pending"] == 0
    assert stats["language model"] is None
    assert stats["embedder"] == "hash-256"


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
        recalls = await asyncio.gather(*(memory.arecall(question, top_n=2) for question in questions))
        assert [[one.content for one in recall] for recall in recalls] == expected
        return list(await asyncio.gather(*(memory.aretrieve(question, top_n=2) for question in questions)))

    assert asyncio.run(ask()) == expected


def test_recalls_beside_a_transaction_and_in_it_wait_for_no_one(memory: NeuroGraphMemory) -> None:
    question = "What broke at dawn?"
    expected = memory.retrieve(question)
    assert isinstance(memory.store, GraphStore)
    with ThreadPoolExecutor() as threads, memory.store.transaction():
        others = [threads.submit(memory.retrieve, question) for _ in range(2 * (os.cpu_count() or 1))]
        assert memory.retrieve(question) == expected
        assert [other.result(timeout=60) for other in others] == [expected] * len(others)


class _Flaky:
    """A judge that fails until it is repaired."""

    def __init__(self) -> None:
        self.broken = True

    def judge(self, first: str, second: str) -> CausalJudgement:
        if self.broken:
            raise LLMError("the server is down")
        is_causal = "Because" in second
        return CausalJudgement(is_causal, 0.7 if is_causal else 0.0, f"{len(first)} characters before")

    def find(self, text: str) -> tuple[str, ...]:
        if self.broken:
            raise LLMError("the server is down")
        return tuple(text.split()[:1])


def test_judgements_of_a_failing_model_are_queued_and_made_later(caplog: pytest.LogCaptureFixture) -> None:
    flaky = _Flaky()
    parts = Parts(GraphStore(), HashEmbedder(), UniformKernelSource(), flaky, flaky)
    with NeuroGraphMemory(
        MemoryConfig(storage="memory", indexing=IndexingSettings(batch_size=3)), parts=parts
    ) as memory:
        memory.add_documents([STORY])
        assert len(_ids(memory)) == 4
        assert memory.stats()["pending"] == 4 + 6
        assert "queued for a retry" in caplog.text
        assert memory.resume() == (0, 10)
        gone = _ids(memory)[-1]
        memory.store.apply(GraphDelta(removed_nodes=(gone,)))
        flaky.broken = False
        assert memory.resume() == (10, 0)
        assert memory.stats()["pending"] == 0
        assert memory.stats()["edges"]["CAUSE"] == 2
        assert all(node.found.entities == (node.content.split()[0],) for node in memory.store.all_nodes())


def test_too_long_a_text_is_refused(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config.replace(indexing={"max_document_chars": 1000})) as memory:
        with pytest.raises(InputError, match=r"1001 characters.* 1000 of indexing\.max_document_chars"):
            memory.add_document("x" * 1001)
        assert memory.history() == []


def test_undo_passes_over_changes_that_changed_nothing(memory: NeuroGraphMemory) -> None:
    start = _weights(memory)
    memory.feedback(_ids(memory)[:3])
    memory.maintenance()
    assert memory.undo() is not None
    assert _weights(memory) == start


def test_use_counts_from_when_it_was(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (first,) = memory.recall("bread baked in the morning", top_n=1).ids
    used = clock()
    clock.advance(timedelta(days=60))
    memory.flush()
    assert memory.store.get_node(first).last_accessed == used


def test_a_restored_node_keeps_its_last_access(memory: NeuroGraphMemory) -> None:
    first = _ids(memory)[0]
    before = memory.store.get_node(first).last_accessed
    memory.store.apply(GraphDelta(removed_nodes=(first,)))
    memory.undo()
    assert memory.store.get_node(first).last_accessed == before


def test_names_that_come_with_a_text_stay_the_callers(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        for _ in range(2):
            (node_id,) = memory.add_document("Lucan Dray met Edda Moor.", metadata={"entities": ["X"]})
            assert memory.get(node_id).metadata == {"entities": ["X"]}
            assert memory.get(node_id).found.entities == ("Lucan Dray", "Edda Moor")
        assert len(memory.history()) == 1


def test_resume_keeps_changes_made_while_it_judged() -> None:
    flaky = _Flaky()
    parts = Parts(GraphStore(), HashEmbedder(), UniformKernelSource(), flaky, flaky)
    with NeuroGraphMemory(MemoryConfig(storage="memory"), parts=parts) as memory:
        (ids,) = memory.add_documents([STORY])
        flaky.broken = False
        judge = flaky.judge

        def slow(first: str, second: str) -> CausalJudgement:
            if memory.store.has_node(ids[3]):
                memory.store.apply(GraphDelta(removed_nodes=(ids[3],)))
                memory.add_documents([Document(STORY.passages, STORY.title, {"tag": "new"})])
                memory.store.apply(GraphDelta(removed_nodes=(ids[3],)))
            return judge(first, second)

        flaky.judge = slow  # type: ignore[method-assign]
        memory.resume()
        assert memory.store.get_node(ids[0]).metadata["tag"] == "new"
        assert not memory.store.has_node(ids[3])


def test_threads_that_add_the_same_documents_store_them_once(config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory, ThreadPoolExecutor(4) as pool:
        texts = [f"Entry {number} of the log." for number in range(20)]
        stored = list(pool.map(lambda _: memory.add_documents(texts, progress=False), range(4)))
        assert all(ids == stored[0] for ids in stored)
        assert len(_ids(memory)) == 20


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
