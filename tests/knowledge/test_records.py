"""Records of answered conflicts: only the memory makes them, each is valid, and one that is not stops nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from neurogated import ANY_USER, Conflict, EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.core.delta import Owner
from neurogated.errors import InputError
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.verify import disagreements


@pytest.fixture(params=["memory", "sqlite"])
def memory(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NeuroGraphMemory]:
    config = MemoryConfig(storage=request.param, embedding_name="hash", save_dir=str(tmp_path / "memory"))
    with NeuroGraphMemory(config) as memory:
        yield memory


@pytest.fixture
def conflict(memory: NeuroGraphMemory) -> Conflict:
    for city in ("Leeds", "York"):
        memory.facts.add("Ana", "city", city, user_id="ana")
    (conflict,) = memory.conflicts.list(None, user_id="ana")
    return memory.conflicts.resolve(conflict.id, "both")


def graph(memory: NeuroGraphMemory) -> GraphStore:
    assert isinstance(memory.store, GraphStore)
    return memory.store


def record_of(memory: NeuroGraphMemory, conflict: Conflict) -> MemoryNode:
    return graph(memory).get_node(conflict.id)


def in_use(memory: NeuroGraphMemory) -> None:
    """Make the calls that read conflicts."""
    memory.recall("Where does Ana live?", user_id="ana")
    memory.get_context("Where does Ana live?", user_id="ana")
    memory.conflicts.list(None, user_id="ana")
    memory.facts.add("Ana", "city", "Bath", user_id="ana")
    memory.maintenance()


def test_no_call_makes_or_changes_a_conflict_or_takes_its_id(memory: NeuroGraphMemory, conflict: Conflict) -> None:
    record = record_of(memory, conflict)
    edge = EdgeType.CONFLICT
    attempts: list[Callable[[], object]] = [
        lambda: memory.add("Ana keeps bees.", id=conflict.id, user_id="ana"),
        lambda: memory.update(conflict.id, "Ana keeps bees."),
        lambda: memory.update(conflict.id, metadata={"first": "x"}),
        lambda: memory.update(conflict.first, kind="conflict"),
        lambda: memory.add("Ana keeps bees.", kind="conflict", metadata=record.metadata),
        lambda: memory.add_document("Ana keeps bees.", kind="conflict"),
        lambda: memory.record_event("Asked Ana.", kind="conflict"),
        lambda: graph(memory).add_node(MemoryNode(conflict.id, "Ana keeps bees.", scope=record.scope)),
        lambda: graph(memory).add_node(record),
        lambda: graph(memory).add_node(MemoryNode("mine", "", kind="conflict", metadata=record.metadata)),
        lambda: graph(memory).remove_edge(graph(memory).get_edge(conflict.id, conflict.first)),
        lambda: graph(memory).add_edge(MemoryEdge(conflict.first, conflict.second, edge)),
    ]
    before = memory.history.list()
    for attempt in attempts:
        with pytest.raises(InputError):
            attempt()
    assert memory.history.list() == before
    assert memory.conflicts.list(None, user_id="ana") == [conflict]


@pytest.mark.parametrize(
    "change",
    [
        {"first": None},
        {"second": ""},
        {"kind": "quarrel"},
        {"confidence": 7},
        {"outcome": "maybe"},
        {"loser": "somebody"},
        {"status": "asleep"},
        {"sentences": [1]},
        {"sentences": "ab"},
        {"by_user": 1},
        {"rule": None},
    ],
)
def test_an_invalid_record_is_refused_and_an_old_one_stops_nobody(
    memory: NeuroGraphMemory, conflict: Conflict, change: dict[str, object]
) -> None:
    record = record_of(memory, conflict)
    broken = replace(record, metadata={**record.metadata, **change})
    for owner in (Owner.MEMORY, Owner.IMPORT):
        with pytest.raises(InputError):
            graph(memory).apply(GraphDelta(nodes=(broken,), owner=owner))
    # A file of an older version may hold it.
    graph(memory).apply(GraphDelta(nodes=(broken,), owner=Owner.LOG))
    assert [line for line in disagreements(graph(memory)) if conflict.id in line]
    in_use(memory)
    assert memory.conflicts.resolve(conflict.id, "both").by_user
    memory.delete(user_id="ana")
    assert memory.count(user_id=ANY_USER, kinds=["conflict"]) == memory.count(user_id=ANY_USER) == 0


def test_a_check_finds_a_conflict_with_a_text_a_fact_that_says_something_else_and_an_edge_between_facts(
    memory: NeuroGraphMemory, conflict: Conflict
) -> None:
    texted = replace(record_of(memory, conflict), content="Ana keeps bees.")
    fact = replace(graph(memory).get_node(conflict.first), content="Ana city: Rome")
    edge = MemoryEdge(conflict.first, conflict.second, EdgeType.CONFLICT)
    for delta in (GraphDelta(nodes=(texted,)), GraphDelta(nodes=(fact,)), GraphDelta(edges=(edge,))):
        graph(memory).apply(replace(delta, owner=Owner.LOG))
        assert len(disagreements(graph(memory))) == 1
        memory.history.undo(user_id=ANY_USER)
        assert disagreements(graph(memory)) == []


def test_a_conflict_without_a_side_is_not_listed_and_goes(memory: NeuroGraphMemory, conflict: Conflict) -> None:
    graph(memory).remove_node(conflict.second)
    assert disagreements(graph(memory))
    assert memory.conflicts.list(None, user_id="ana") == []
    memory.recall("Where does Ana live?", user_id="ana")
    memory.maintenance()
    assert not graph(memory).has_node(conflict.id)
    assert disagreements(graph(memory)) == []


def test_a_long_value_blocks_no_fact_about_its_subject(memory: NeuroGraphMemory) -> None:
    memory.facts.add("Ana", "notes", "word " * 1000)
    memory.facts.add("Ana", "city", "Leeds")
    memory.facts.add("Ana", "notes", "others " * 1000)
    assert len(memory.facts.list()) == 3
