"""The facade is small, and its coroutines are its calls."""

import asyncio
import copy
import dataclasses
import inspect
import pickle
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import neurogated
from neurogated import AsyncNeuroGraphMemory, MemoryConfig, NeuroGraphMemory
from neurogated.errors import MemoryClosedError
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


def test_a_memory_is_used_by_coroutines(tmp_path: Path) -> None:
    async def use() -> None:
        config = MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")
        async with AsyncNeuroGraphMemory(config) as memory:
            await memory.add("A heron stood by the pond.", user_id="ana")
            assert (await memory.recall("heron", user_id="ana", top_n=1))[0].content == "A heron stood by the pond."
            assert await memory.run(memory.memory.conflicts.list, user_id="ana") == []
            assert await memory.memory.aio.count(user_id="ana") == 1
        with pytest.raises(MemoryClosedError):
            await memory.recall("heron")

    asyncio.run(use())


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
