"""The calls that an agent's author needs first, and those of learning: feedback, maintenance, undo, freezing."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import EdgeType, GraphDelta, MemoryConfig, MemoryEdge, NeuroGraphMemory
from neurogated.errors import InputError, StorageError, UnknownIdError
from neurogated.ingestion.document import Document, Passage
from neurogated.session.compose import build
from neurogated.storage.graph_store import GraphStore
from neurogated.testing import ManualClock

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_pages_together_are_the_whole_list(memory: NeuroGraphMemory) -> None:
    ids = [memory.add(f"Note {number}.", user_id="ana")[0] for number in range(7)]
    memory.add("Of nobody.")
    memory.add("Of Bob.", user_id="bob")
    seen: list[str] = []
    cursor = None
    while True:
        page = memory.list(limit=3, cursor=cursor, user_id="ana")
        seen += [node.id for node in page]
        cursor = page.cursor
        if cursor is None:
            break
        # A memory that is deleted between two pages does not move the others.
        if cursor == ids[2]:
            memory.delete([ids[2], ids[3]])
    assert seen[:3] == ids[:3]
    assert seen[3:-1] == ids[4:]
    assert memory.count(user_id="ana") == 6
    assert memory.count() == 1
    with pytest.raises(InputError, match="cursor"):
        memory.list(cursor="of another memory")


def test_the_history_of_a_memory_has_all_its_versions(memory: NeuroGraphMemory) -> None:
    memory.add("A heron.", id="h")
    memory.add("Two herons.", id="h")
    memory.update("h", "Three herons.", importance=1.0)
    memory.delete(["h"])
    versions = memory.history.of("h")
    assert [version.node and version.node.content for version in versions] == [
        "A heron.",
        "Two herons.",
        "Three herons.",
        None,
    ]
    assert [version.sequence for version in versions] == sorted({version.sequence for version in versions})
    with pytest.raises(UnknownIdError):
        memory.history.of("nobody")


def test_a_user_is_exported_with_her_past_and_nobody_elses(memory: NeuroGraphMemory, tmp_path: Path) -> None:
    memory.add("Old words.", id="a", user_id="ana")
    memory.add("New words.", id="a", user_id="ana", metadata={"k": 1})
    memory.add("Bob's reed.", user_id="bob")
    file = tmp_path / "ana.jsonl"
    assert memory.admin.export_user("ana", file) == 1
    (line,) = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert [version["content"] for version in line["versions"]] == ["Old words.", "New words."]
    assert line["versions"][1]["metadata"] == {"k": 1}
    with pytest.raises(StorageError, match="already"):
        memory.admin.export_user("ana", file)


def test_callbacks_are_told_and_can_be_ended(memory: NeuroGraphMemory, caplog: pytest.LogCaptureFixture) -> None:
    told: list[tuple[Any, ...]] = []
    ends = [
        memory.on(event, lambda *about, event=event: told.append((event, *about)))
        for event in ("added", "updated", "deleted", "recalled", "learned")
    ]
    other = memory.in_namespace("other")
    ids = memory.add("A heron.")
    other.add("A pond.")
    recall = memory.recall("heron")
    memory.feedback(recall, "fail")
    node = memory.update(ids[0], "A grey heron.")
    memory.delete(ids)
    assert [name for name, *_ in told] == ["added", "added", "recalled", "learned", "updated", "deleted"]
    assert told[0] == ("added", ids)
    assert told[2] == ("recalled", recall)
    assert told[4] == ("updated", node)
    for end in (*ends, *ends):
        end()

    def breaks(_: object) -> None:
        raise RuntimeError("of the caller")

    memory.on("added", breaks)
    assert memory.add("A reed.")
    assert "of the caller" in caplog.text
    assert len(told) == 6
    with pytest.raises(InputError, match="event"):
        memory.on("unknown", breaks)  # type: ignore[arg-type]


def test_a_freeze_is_kept_and_holds_in_all_processes(tmp_path: Path) -> None:
    config = MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")
    with NeuroGraphMemory(config) as memory, NeuroGraphMemory(config) as beside:
        ids = memory.add(["A heron.", "A pond."])
        memory.learning.freeze()
        assert beside.admin.stats()["frozen"]
        assert beside.feedback(ids) == 0
        beside.recall("heron")
        beside.learning.flush()
        assert beside.get(ids[0]).uses == 0
    with NeuroGraphMemory(config.replace(read_only=True)) as reader:
        reader.learning.unfreeze()
    with NeuroGraphMemory(config) as memory:
        assert memory.feedback(ids) == 0
        memory.in_namespace("other").learning.unfreeze()
        assert memory.feedback(ids) == 1
    with NeuroGraphMemory(config) as memory:
        assert memory.feedback(ids) == 1
        memory.learning.freeze(lasting=False)
        assert memory.feedback(ids) == 0
    with NeuroGraphMemory(config) as memory:
        assert not memory.admin.stats()["frozen"]


def test_as_text_holds_whole_memories_within_the_budget_and_cuts_only_the_best(memory: NeuroGraphMemory) -> None:
    memory.add(
        [f"The heron flew over {'the wide river and ' * 60}the hill.", "A heron slept.", "The heron ate a frog."]
    )
    recall = memory.recall("Which heron ate or slept?", top_n=3)

    def count(texts: list[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    quoted = recall.as_text(token_budget=30, count_tokens=count)  # type: ignore[arg-type]
    assert sum(count([quoted])) <= 30
    assert set(re.findall("(?m)^- .*: (.*heron .*)$", quoted)) == {"A heron slept.", "The heron ate a frog."}
    longest = memory.recall("the wide river and the hill", top_n=1).as_text(token_budget=30, count_tokens=count)  # type: ignore[arg-type]
    assert re.search("(?m)^- .*: The heron flew .*…$", longest)
    assert sum(count([longest])) <= 30
    assert recall.as_text(token_budget=1) == ""
    assert recall.as_text().count("\n- ") == 3
    with pytest.raises(InputError, match="token_budget"):
        recall.as_text(token_budget=0)


def _faded(clock: ManualClock, days: list[int]) -> float:
    """Return the weight of an edge after maintenance on these days."""
    config = MemoryConfig(storage="memory", embedding_name="hash", TIME_DECAY_FACTOR=0.9, MIN_EDGE_WEIGHT=0.0)
    with NeuroGraphMemory(config, parts=build(config, clock)) as memory:
        one, other = memory.add("A heron.")[0], memory.add("A pond.")[0]
        edge = MemoryEdge(one, other, EdgeType.ASSOC, 1.0, created_at=clock())
        memory.store.apply(GraphDelta(edges=(edge,), at=clock()))
        begin = clock()
        for day in days:
            memory.maintenance(begin + timedelta(days=day))
        return memory.store.get_edge(one, other, EdgeType.ASSOC).weight


@given(st.lists(st.integers(0, 30), max_size=8))
def test_forgetting_counts_time_and_not_calls(days: list[int]) -> None:
    clock = ManualClock()
    once = _faded(clock, [30])
    assert _faded(clock, [*sorted(days), 30]) == pytest.approx(once, rel=1e-9)
    assert once == pytest.approx(0.9**29)


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
def learner(config: MemoryConfig, clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(config, parts=build(config, clock)) as opened:
        opened.add_documents([STORY, "Bread is baked at four in the morning.", "The mill has two stones."])
        yield opened


def _weights(learner: NeuroGraphMemory) -> dict[object, float]:
    return {edge.key: edge.weight for edge in learner.store.all_edges()}


def test_maintenance_fades_idle_edges_and_reports_how_many_are_gone(
    learner: NeuroGraphMemory, clock: ManualClock
) -> None:
    fixed = {key: weight for key, weight in _weights(learner).items() if not key.type.plastic}  # type: ignore[attr-defined]
    plastic = len(_weights(learner)) - len(fixed)
    removed = 0
    for _ in range(300):
        clock.advance(timedelta(days=2))
        removed += learner.maintenance()
    assert removed == plastic
    assert _weights(learner) == fixed


def test_async_and_batch_calls_agree_with_plain_calls(learner: NeuroGraphMemory) -> None:
    questions = ["What broke at dawn?", "When is bread baked?"]
    expected = [learner.retrieve(question, top_n=2) for question in questions]
    assert learner.retrieve_batch(questions, top_n=2) == expected
    assert learner.retrieve_batch([]) == []
    together, alone = learner.retriever.recall_batch(questions), [learner.recall(question) for question in questions]
    for left, right in zip(together, alone, strict=True):
        assert left.seconds.keys() == right.seconds.keys()
        assert dataclasses.replace(left, seconds={}) == dataclasses.replace(right, seconds={})

    async def ask() -> list[list[str]]:
        recalls = await asyncio.gather(*(learner.aio.recall(question, top_n=2) for question in questions))
        assert [[one.content for one in recall] for recall in recalls] == expected
        return list(await asyncio.gather(*(learner.aio.retrieve(question, top_n=2) for question in questions)))

    assert asyncio.run(ask()) == expected


def test_recalls_beside_a_transaction_and_in_it_wait_for_no_one(learner: NeuroGraphMemory) -> None:
    question = "What broke at dawn?"
    expected = learner.retrieve(question)
    assert isinstance(learner.store, GraphStore)
    with ThreadPoolExecutor() as threads, learner.store.transaction():
        others = [threads.submit(learner.retrieve, question) for _ in range(2 * (os.cpu_count() or 1))]
        assert learner.retrieve(question) == expected
        assert [other.result(timeout=60) for other in others] == [expected] * len(others)


def test_a_memory_whose_marks_cannot_be_written_still_closes(
    config: MemoryConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = NeuroGraphMemory(config)
    learner.add_document("The dam broke.")
    learner.retrieve("dam")

    def full(_: object) -> int:
        raise StorageError("disk full")

    monkeypatch.setattr(learner.store, "apply", full)
    learner.close()
    NeuroGraphMemory(config).close()


def test_feedback_names_the_memories_that_learned(learner: NeuroGraphMemory) -> None:
    first, second, third = learner.add(["I like tea.", "I like jam.", "I like rye bread."])
    learner.delete(third)
    done = learner.feedback([first, second, third])
    assert (done.memories, done.gone, int(done)) == ((first, second), (third,), 1)
    assert first in repr(done)
    assert str(done) == f"{done}" == "1"
    learner.freeze()
    assert learner.feedback([first, second]).memories == ()
