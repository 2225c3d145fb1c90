"""A call skips memories that another thread has deleted. An id that never existed is an error."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.view import GraphView
from neurogated.errors import MemoryLockedError, UnknownIdError
from neurogated.session import runtime

TEXTS = ("A heron stood in the reeds.", "The heron flew over Lyon.", "Rain fell on Lyon all day.")


@pytest.fixture(params=["sqlite", "memory"])
def memory(
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
    assert memory.history.list()[-1].reason == "feedback on 2 memories"


@pytest.mark.parametrize("part", [lambda recall: recall, lambda recall: recall.memories[:3]])
def test_memories_of_a_recall_are_gone_and_not_unknown_even_after_a_compaction(
    memory: NeuroGraphMemory, ids: list[str], part: Callable[[object], list[object]]
) -> None:
    recall = memory.recall("heron in Lyon", top_n=3)
    memory.delete([ids[1]])
    memory.store.compact()
    assert memory.feedback(part(recall)).gone == (ids[1],)  # type: ignore[arg-type]
    # A bare id leaves no trace, as a compaction promises.
    with pytest.raises(UnknownIdError):
        memory.feedback(recall.ids)


def test_nobody_writes_between_the_look_of_a_feedback_at_the_graph_and_its_write(
    memory: NeuroGraphMemory, ids: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    present, refused = GraphView.present, list[BaseException | None]()

    def write() -> None:
        with memory.session.committer.exclusively(0):
            pass

    def look(view: GraphView, *given: Any) -> list[str]:  # noqa: ANN401
        with ThreadPoolExecutor(1) as pool:
            refused.append(pool.submit(write).exception())
        return present(view, *given)

    monkeypatch.setattr(GraphView, "present", look)
    assert memory.feedback(ids) == 3
    assert [type(one) for one in refused] == [MemoryLockedError]


def test_accesses_of_deleted_memories_are_skipped(memory: NeuroGraphMemory, ids: list[str]) -> None:
    kept = memory.store.get_node(ids[2]).last_accessed
    memory.learning.freeze()
    memory.learning.unfreeze()
    recall = memory.recall("heron in Lyon", top_n=3)
    memory.session.runtime.accesses.add(memory.store, recall.access)
    memory.delete(ids[:2])
    memory.learning.flush()
    assert memory.store.get_node(ids[2]).last_accessed > kept
