"""A recall wakes dormant memories as a slow reference does that ranks all memories and reads each energy by itself."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import EdgeType, GraphStore, MemoryConfig, MemoryNode, NeuroRetriever, Recall, field
from neurogated.core.scope import Scope
from neurogated.core.trace import RecalledMemory
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.retrieval.neuro_retriever import WOKEN
from neurogated.testing import ManualClock
from tests.retrieval.compass import Compass

NAMES = [f"m{number}" for number in range(9)]
AGED = timedelta(days=60)

memories = st.fixed_dictionaries(
    {
        "angle": st.integers(0, 4),
        "energy": st.sampled_from([0.05, 0.9]),
        "importance": st.sampled_from([0.1, 0.2, 0.9]),
        "user": st.sampled_from([None, None, "ana"]),
        "colour": st.sampled_from(["red", "blue"]),
    }
)
graphs = st.fixed_dictionaries(
    {
        "nodes": st.lists(memories, min_size=4, max_size=len(NAMES)),
        "links": st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)), max_size=5),
        "groups": st.dictionaries(st.integers(2, 8), st.integers(0, 1), max_size=5),
        "echoes": st.dictionaries(st.integers(0, 8), st.integers(0, 8), max_size=2),
    }
)
settings_of_waking = st.fixed_dictionaries(
    {
        "metabolism.wake_score": st.sampled_from([0.0, 0.0, 0.6]),
        "metabolism.wake_factor": st.sampled_from([0.0, 0.5, 0.8, 1.0]),
        "metabolism.wake_share": st.sampled_from([0.0, 0.8, 0.95]),
        "ACTIVATION": st.sampled_from(["gated", "classic"]),
    }
)
filters = st.sampled_from([{}, {"user_id": "ana"}, {"user_id": "ana", "where": field("colour") == "red"}])


def _stored(clock: ManualClock, graph: dict[str, Any]) -> GraphStore:
    store = GraphStore(clock=clock)
    names, users = NAMES[: len(graph["nodes"])], [one["user"] for one in graph["nodes"]]
    for name, one in zip(names, graph["nodes"], strict=True):
        store.add_node(
            MemoryNode(
                name,
                f"text of {name}",
                embedding=[1.0, one["angle"]],
                base_energy=one["energy"],
                importance=one["importance"],
                created_at=clock(),
                last_accessed=clock(),
                metadata={"colour": one["colour"]},
                scope=Scope(user_id=one["user"]),
            )
        )
    kinds = [(pair, EdgeType.SEQ) for pair in sorted(graph["links"])]
    kinds += [(pair, EdgeType.SAME_AS) for pair in graph["groups"].items()]
    kinds += [(pair, EdgeType.ECHO) for pair in graph["echoes"].items()]
    for (one, other), kind in kinds:
        if one != other and max(one, other) < len(names) and users[one] == users[other]:
            store.add_edge(NAMES[one], NAMES[other], kind, 1.0)
    clock.advance(AGED)
    return store


def _sleeps(node: MemoryNode, config: MemoryConfig, now: datetime) -> bool:
    """Return whether a memory without uses is dormant, by the formula of the docs."""
    law = config.metabolism
    energy = node.base_energy * 2 ** -((now - node.created_at) / timedelta(days=law.half_life_days))
    idle = now - node.last_accessed >= timedelta(days=law.dormant_idle_days)
    return idle and energy < law.dormant_energy and node.importance < law.dormant_importance


def _fit(memory: RecalledMemory) -> float:
    gains = memory.contributions
    return memory.score - gains.get("recency", 0.0) - gains.get("energy", 0.0)


def _wakes(ranked: list[RecalledMemory], asleep: set[str], wanted: int, config: MemoryConfig) -> bool | None:
    """Return whether a recall wakes dormant memories; None: the memories that it finds without them decide."""
    law, shown = config.metabolism, ranked[:wanted]
    awake = [_fit(one) for one in ranked if one.id not in asleep][:wanted]
    if not awake:
        return True if law.wake_factor else None
    best_asleep = max((_fit(one) for one in shown if one.id in asleep), default=0.0)
    if max(awake) < law.wake_score or max(awake) < law.wake_factor * best_asleep:
        return True
    return law.wake_factor > 0 and sum(awake) < law.wake_share * sum(map(_fit, shown[: len(awake)]))


@given(
    graph=graphs,
    changes=settings_of_waking,
    wanted=st.integers(1, 5),
    options=filters,
    question=st.sampled_from(["1 0", "1 1", "0 1"]),
)
def test_a_recall_wakes_dormant_memories_as_the_reference_does(
    graph: dict[str, Any], changes: dict[str, Any], wanted: int, options: dict[str, Any], question: str
) -> None:
    clock = ManualClock()
    store = _stored(clock, graph)
    config = MemoryConfig().replace(**changes)

    def ask(top_n: int, settings: MemoryConfig = config, **others: Any) -> Recall:  # noqa: ANN401 - options
        retriever = NeuroRetriever(
            store, settings, embedder=Compass(), kernel_source=UniformKernelSource(), clock=clock
        )
        return retriever.recall(question, top_n=top_n, **others, **options)

    dormant = {node.id for node in store.get_nodes(NAMES, missing_ok=True) if _sleeps(node, config, clock())}
    # A dormant memory is not asleep while an awake memory of its group says the same to this reader.
    seen = {one.id for one in ask(len(NAMES), include_dormant=True, include_duplicates=True)}
    front = {edge.source_id: edge.target_id for edge in store.all_edges() if edge.type is EdgeType.SAME_AS}
    said = {front.get(name, name) for name in seen - dormant}
    asleep = {name for name in dormant if front.get(name, name) not in said}

    ranked = list(ask(len(NAMES), include_dormant=True))
    every, found = ask(wanted, include_dormant=True), ask(wanted)
    assert [one.id for one in every] == [one.id for one in ranked[:wanted]]
    never = {"metabolism.wake_score": 0.0, "metabolism.wake_factor": 0.0}
    wakes: bool | None = False
    if any(one.id in dormant for one in every):
        wakes = _wakes(ranked, asleep, wanted, config)
        without = ask(wanted, config.replace(**never))
        if wakes is None:
            wakes = max(map(_fit, without), default=-1.0) < config.metabolism.wake_score
        wakes = wakes or not (set(without.ids) - dormant)
        every = every if wakes else without
    assert (found.ids, found.notes) == (every.ids, (WOKEN,) if wakes else ())
    assert [one.score for one in found] == pytest.approx([one.score for one in every])
    assert wakes or not dormant & set(found.ids)
