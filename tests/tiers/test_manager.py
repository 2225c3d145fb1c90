"""Tiers and layers, the journal of moves to and from dormancy, and the focus of a canvas."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neurogated import GraphDelta, GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.config.groups import MetabolismSettings
from neurogated.core.energy import LAYERS
from neurogated.embedding.registry import HashEmbedder
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.session import compose, runtime
from neurogated.session.runtime import Parts
from neurogated.storage.log.sqlite.connection import connect
from neurogated.testing import ManualClock
from neurogated.tiers.facts import TIERS, TierManager

DAY = timedelta(days=1)


def _put(store: GraphStore, now: datetime, days: float, **fields: Any) -> None:  # noqa: ANN401 - fields of a node
    created = now - days * DAY
    times = {"created_at": created, "last_accessed": created}
    name = f"n{len(store)}"
    store.apply(GraphDelta(nodes=(MemoryNode(name, name, **{**times, **fields}),), at=now))


MEMORIES = st.fixed_dictionaries(
    {
        "days": st.sampled_from([0.5, 3.0, 20.0, 100.0, 400.0]),
        "used": st.sampled_from([0.0, 0.25, 2.0, 30.0]),
        "uses": st.integers(0, 4),
        "kind": st.sampled_from(["episode", "fact"]),
        "importance": st.sampled_from([0.1, 0.5, 0.9]),
        "base_energy": st.sampled_from([0.0, 0.05, 0.15, 0.9]),
    }
)


def _expected(memory: dict[str, Any]) -> tuple[str, str, float]:
    """Return tier but for the canvas, layer and energy, by their definitions."""
    idle = min(memory["days"], memory["used"]) if memory["uses"] else memory["days"]
    energy = memory["base_energy"] * 0.5 ** (memory["days"] / (3650 if memory["kind"] == "fact" else 180))
    dormant = energy < 0.1 and memory["importance"] < 0.55 and idle >= 14
    tier = "dormant" if dormant else "crystal" if memory["kind"] == "fact" else "web"
    if memory["days"] < 1:
        return tier, "emerging", energy
    if memory["uses"] and idle < 7:
        return tier, "active", energy
    return tier, "decaying" if energy < 0.1 and memory["uses"] < 3 else "stable", energy


@given(st.lists(MEMORIES, max_size=12), st.integers(0, 4))
@settings(deadline=None)
def test_every_memory_is_in_one_tier_and_one_layer(memories: list[dict[str, Any]], size: int) -> None:
    now = ManualClock().now
    store = GraphStore(clock=lambda: now)
    memories = sorted(memories, key=lambda memory: -memory["days"])
    for memory in memories:
        fields = {name: memory[name] for name in ("uses", "kind", "importance", "base_energy")}
        if memory["uses"]:
            fields["last_accessed"] = now - min(memory["days"], memory["used"]) * DAY
        _put(store, now, memory["days"], **fields)
    found = TierManager(MetabolismSettings(canvas_size=size)).tiers(store, store.view(), now)
    expected = [_expected(memory) for memory in memories]
    web = sorted((-energy, n) for n, (tier, _, energy) in enumerate(expected) if tier == "web")
    assert [name for name, _ in found.most_energy] == [f"n{n}" for _, n in web[:size]]
    assert [energy for _, energy in found.most_energy] == pytest.approx([-energy for energy, _ in web[:size]])
    assert found.energy == pytest.approx(sum(energy for *_, energy in expected) / max(1, len(expected)))
    counts = {tier: sum(one == tier for one, _, _ in expected) for tier in TIERS}
    moved = min(size, counts["web"])
    assert found.counts == {**counts, "canvas": moved, "web": counts["web"] - moved}
    assert found.layers == {layer: sum(one == layer for _, one, _ in expected) for layer in LAYERS}


class Memory(NeuroGraphMemory):
    """A memory with a clock of its own."""

    def __init__(self, clock: ManualClock, **changes: Any) -> None:  # noqa: ANN401 - settings
        config = MemoryConfig(storage="memory").replace(**changes)
        parts = Parts(GraphStore(config=config, clock=clock), HashEmbedder(), UniformKernelSource(), clock=clock)
        super().__init__(config, parts=parts)

    def put(self, text: str, importance: float) -> str:
        (node_id,) = self.add_document(text, importance=importance)
        return node_id


@pytest.fixture
def memory(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setattr(runtime, "ACCESS_FLUSH_SECONDS", 0.0)
    with Memory(clock) as opened:
        yield opened


def _moves(memory: NeuroGraphMemory) -> Sequence[tuple[str, int]]:
    return [(entry.reason, entry.changes.get("nodes changed", 0)) for entry in memory.history.list()[2:]]


def test_the_journal_has_every_fall_into_dormancy_and_every_waking_once(memory: Memory, clock: ManualClock) -> None:
    asleep, awake = memory.put("The heron stood in the reeds.", 0.1), memory.put("The valve was repaired.", 0.9)
    assert memory.energy.tick() == 0
    clock.advance(60 * DAY)
    before = memory.energy.of(asleep), memory.energy.tiers().counts
    assert memory.energy.tick() == 1
    assert (memory.energy.of(asleep), memory.energy.tiers().counts) == before
    assert before[1] == {"canvas": 1, "web": 0, "crystal": 0, "dormant": 1}
    clock.advance(DAY)
    assert memory.energy.tick() == 0
    assert memory.recall("reeds valve repaired", top_n=1).ids == (awake,)
    assert memory.get(asleep).id == asleep
    assert memory.recall("heron in the reeds", top_n=1).ids == (asleep,)
    assert memory.energy.tiers().counts["dormant"] == 0
    clock.advance(200 * DAY)
    assert memory.energy.tick() == 1
    fell = ("tick: 1 memories fell dormant", 1)
    assert _moves(memory) == [fell, ("use: 1 dormant memories woke", 1), fell]
    assert memory.get(awake).importance == 0.9


def test_a_compaction_erases_the_energies_of_deleted_memories_from_the_file(tmp_path: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        gone, kept = memory.add("The heron stood in the reeds."), memory.add("The valve was repaired.")
        memory.recall("heron reeds valve repaired")
        memory.feedback(gone + kept)
        memory.learning.flush()
        memory.delete(gone)
        memory.admin.compact()
        assert memory.energy.of(kept[0]) > 0.5
    with closing(connect(tmp_path / "memory" / "memory.db")) as file:
        accesses = file.execute("SELECT count(DISTINCT node) FROM accesses").get
        changes = file.execute("SELECT count(DISTINCT node) FROM node_changes").get
    assert (accesses, changes) == (1, 1)


@pytest.fixture
def timed(clock: ManualClock) -> Iterator[NeuroGraphMemory]:
    config = MemoryConfig(storage="memory")
    with NeuroGraphMemory(config, parts=compose.build(config, clock)) as opened:
        yield opened


def test_the_present_task_moves_the_scores_of_a_canvas(timed: NeuroGraphMemory) -> None:
    told = ["The tax return is due on Friday.", "The garden needs tulips and roses.", "The bus was late."]
    tax, garden, bus = (timed.add(text, user_id="ana", session_id="s")[0] for text in told)
    before = {one.id: one.score for one in timed.energy.canvas(user_id="ana")}
    for task, about in (("Plant flowers in the garden", garden), ("Finish the taxes", tax)):
        timed.energy.focus(task, user_id="ana")
        after = timed.energy.canvas(user_id="ana", session_id="s")
        assert after[0].id == about
        assert all(0 < one.score <= before[one.id] for one in after)
        assert {one.id for one in after} == {tax, garden, bus}
    timed.energy.focus(None, user_id="ana")
    assert {one.id: one.score for one in timed.energy.canvas(user_id="ana")} == pytest.approx(before)


def test_the_task_of_another_user_moves_nothing(timed: NeuroGraphMemory) -> None:
    timed.add(["The bus was late.", "The garden needs tulips."], user_id="ana")
    before = [one.score for one in timed.energy.canvas(user_id="ana")]
    timed.energy.focus("Plant flowers in the garden", user_id="ben")
    assert [one.score for one in timed.energy.canvas(user_id="ana")] == pytest.approx(before)
