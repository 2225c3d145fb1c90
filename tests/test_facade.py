"""The facade is small, and its coroutines are its calls."""

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import neurogated
from neurogated import AsyncNeuroGraphMemory, MemoryConfig, NeuroGraphMemory
from neurogated.session.compose import build
from neurogated.session.runtime import ACCESS_FLUSH_SECONDS
from neurogated.testing import ManualClock
from tests.knowledge.plain_reader import config_of

SOURCE = Path(neurogated.__file__).parent


def _methods(cls: type) -> dict[str, inspect.Signature]:
    functions = inspect.getmembers(cls, inspect.isfunction)
    return {name: inspect.signature(one) for name, one in functions if not name.startswith("_")}


def test_the_facade_has_at_most_27_calls_and_no_base() -> None:
    assert len(_methods(NeuroGraphMemory)) <= 27
    assert NeuroGraphMemory.__mro__ == (NeuroGraphMemory, object)


def test_each_coroutine_has_the_signature_of_the_call() -> None:
    calls, coroutines = _methods(NeuroGraphMemory), _methods(AsyncNeuroGraphMemory)
    del coroutines["run"]
    assert coroutines == {name: calls[name] for name in coroutines}
    assert coroutines.keys() >= {"add", "recall", "get", "list", "update", "delete", "feedback", "get_context", "close"}
    assert all(inspect.iscoroutinefunction(getattr(AsyncNeuroGraphMemory, name)) for name in coroutines)


@pytest.mark.parametrize("activation", ["gated", "classic"])
def test_a_recall_can_be_stored_and_copied(read_by_model: Mapping[str, Any], activation: str) -> None:
    with NeuroGraphMemory(config_of(read_by_model, storage="memory", ACTIVATION=activation)) as memory:
        memory.add(["I live in Oslo.", "I moved to Bergen.", "Bees need water."], user_id="ana")
        recall = memory.recall("Where do I live?", user_id="ana")
    assert recall.facts or recall.former
    assert pickle.loads(pickle.dumps(recall)) == recall  # noqa: S301 - our own bytes
    assert copy.deepcopy(recall) == recall
    assert dataclasses.asdict(recall)["memories"][0]["node"]["content"] == recall[0].content


def test_one_place_applies_the_deltas_of_a_memory() -> None:
    rooms = ["ingestion", "conflict", "plasticity", "consolidation", "tiers", "context", "components"]
    files = [*SOURCE.glob("*.py"), *(file for room in rooms for file in (SOURCE / room).rglob("*.py"))]
    assert [file.name for file in files if ".apply(" in file.read_text(encoding="utf-8")] == []


def test_a_frozen_memory_learns_nothing_until_it_is_unfrozen(memory: NeuroGraphMemory) -> None:
    """Programs that measure a memory freeze it by this name."""
    ids = memory.add(["A heron.", "A swan."])
    memory.freeze()
    later = datetime.now(UTC) + timedelta(days=5_000)
    assert memory.feedback(ids) == memory.energy.tick(later) == 0
    memory.learning.unfreeze()
    assert memory.feedback(ids) > 0
    assert memory.energy.tick(later) == 2


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
