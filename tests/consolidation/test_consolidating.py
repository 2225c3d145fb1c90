"""`consolidate`: which memories become facts, the content of a fact, and its later life."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated import EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory, Scope
from neurogated.core.delta import Access
from tests.consolidation.clusters import TEXTS, add_cluster, use_together
from tests.knowledge.plain_reader import config_of

MAY, JUNE = datetime(2024, 5, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)


def sources_of(memory: NeuroGraphMemory, fact: str) -> set[str]:
    return {edge.target_id for edge in memory.store.all_edges() if edge.source_id == fact}


def contents(memory: NeuroGraphMemory) -> tuple[object, ...]:
    """Return all of a graph that an undo restores."""
    nodes = {node.id: node for node in memory.store.all_nodes()}
    return nodes, {edge.key: edge.weight for edge in memory.store.all_edges()}


def test_memories_that_are_used_together_get_a_title(memory: NeuroGraphMemory) -> None:
    ids = add_cluster(memory, user_id="ana", tags=["hobby"], metadata={"place": "Velmouth"})
    alone = memory.add("It rained in the hills.", user_id="ana")
    (fact_id,) = memory.learning.consolidate()
    fact = memory.get(fact_id)
    assert fact.kind == "segment"
    assert sources_of(memory, fact_id) == set(ids)
    assert {"pottery", "course", "velmouth"} <= set(fact.content.split())
    assert not set(fact.content.splitlines()) & set(TEXTS)
    assert (fact.scope.user_id, fact.tags, dict(fact.metadata)) == ("ana", ("hobby",), {"place": "Velmouth"})
    assert memory.store.has_node(alone[0])
    assert memory.history.list()[-1].reason == "consolidate"


def test_a_fact_is_found_with_its_sources_in_a_recall(memory: NeuroGraphMemory) -> None:
    ids = add_cluster(memory)
    (fact,) = memory.learning.consolidate()
    found = memory.recall("Where does the pottery course end?", top_n=5).ids
    assert fact in found
    assert set(found) & set(ids)


def test_undo_takes_the_facts_back_and_restores_the_energies(memory: NeuroGraphMemory) -> None:
    ids = add_cluster(memory)
    before, energies = contents(memory), list(map(memory.energy.of, ids))
    (fact,) = memory.learning.consolidate()
    now = memory.get(fact).created_at
    assert [memory.energy.of(one, now) for one in ids] == pytest.approx([0.5 * energy for energy in energies], rel=1e-4)
    memory.undo()
    assert not memory.store.has_node(fact)
    assert contents(memory) == before


def test_memories_of_different_validity_and_agents_are_in_no_common_fact(memory: NeuroGraphMemory) -> None:
    old = [memory.add_document(text, valid_to=MAY)[0] for text in TEXTS]
    new = [memory.add_document(f"Now: {text}", valid_from=MAY)[0] for text in TEXTS]
    agents = [
        memory.add_document(f"Note: {text}", agent_id=f"agent {place % 2}")[0] for place, text in enumerate(TEXTS)
    ]
    use_together(memory, [*old, *new, *agents])
    facts = memory.learning.consolidate()
    assert facts
    for fact in facts:
        sources = [memory.get(one) for one in sources_of(memory, fact)]
        assert len({(node.valid_from, node.valid_to, node.scope.agent_id) for node in sources}) == 1
        assert memory.get(fact).valid_to == sources[0].valid_to


def test_contested_memories_are_in_no_fact_until_the_conflict_is_resolved(read_by_model: Mapping[str, Any]) -> None:
    with NeuroGraphMemory(config_of(read_by_model, storage="memory")) as memory:
        ids = add_cluster(memory, (*TEXTS, "I live in Leeds."), user_id="ana")
        (fact,) = memory.learning.consolidate()
        assert sources_of(memory, fact) == set(ids)
        memory.add("I live in York.", user_id="ana")
        (conflict,) = memory.conflicts.list(user_id="ana")
        assert not memory.store.has_node(fact)
        (fact,) = memory.learning.consolidate()
        assert sources_of(memory, fact) == set(ids[:-1])
        memory.delete(fact)
        memory.conflicts.resolve(conflict.id, "both")
        (fact,) = memory.learning.consolidate()
        assert sources_of(memory, fact) == set(ids)


@pytest.mark.parametrize("how", ["delete", "delete_document", "update", "retitle", "expire", "add again"])
def test_a_fact_goes_with_the_text_of_a_source(memory: NeuroGraphMemory, how: str) -> None:
    ids = [memory.add_document(text)[0] for text in TEXTS]
    use_together(memory, ids)
    (fact,) = memory.learning.consolidate()
    match how:
        case "delete":
            assert memory.delete(ids[0]) == 1
        case "delete_document":
            assert memory.delete_document(str(memory.get(ids[0]).found.document_id)) == 1
        case "update":
            memory.update(ids[0], "The pottery course was cancelled.")
        case "retitle":
            memory.update(ids[0], title="Pottery")
        case "expire":
            memory.update(ids[0], ttl=timedelta(days=1))
        case _:
            memory.add_document(TEXTS[0], timestamp=MAY)
    assert not memory.store.has_node(fact)
    assert memory.admin.check() == []


TEXT = st.lists(
    st.sampled_from([*"abcdefgh", "2024", "17", "Monday", "Rex", "Ana", "kiln"]), min_size=1, max_size=5
).map(" ".join)


@given(
    st.lists(st.tuples(TEXT, st.sampled_from(["ana", "bob", None]), st.integers(0, 5)), min_size=1, max_size=14),
    st.sets(st.tuples(st.integers(0, 13), st.integers(0, 13)), max_size=40),
    st.data(),
)
def test_promises_hold_for_any_graph(
    texts: Sequence[tuple[str, str | None, int]], pairs: set[tuple[int, int]], data: st.DataObject
) -> None:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        nodes = [MemoryNode(f"n{place}", f"{text}.", scope=Scope(user)) for place, (text, user, _) in enumerate(texts)]
        owner = {node.id: node.scope.user_id for node in nodes}
        edges = [
            MemoryEdge(f"n{one}", f"n{other}", EdgeType.ASSOC)
            for one, other in pairs
            if one < other < len(nodes) and owner[f"n{one}"] == owner[f"n{other}"]
        ]
        memory.store.apply(GraphDelta(nodes=tuple(nodes), edges=tuple(edges)))
        uses = {f"n{place}": count for place, (_, _, count) in enumerate(texts) if count}
        memory.store.apply(GraphDelta(touch=Access(uses)))
        before = contents(memory)
        facts = memory.learning.consolidate()
        for fact in facts:
            sources = memory.store.get_nodes(sorted(sources_of(memory, fact)))
            assert {node.scope.user_id for node in sources} == {memory.get(fact).scope.user_id}
            assert set(memory.get(fact).content.splitlines()) <= {node.content for node in sources}
        for one, other in combinations(facts, 2):
            assert not sources_of(memory, one) & sources_of(memory, other)
        assert memory.learning.consolidate() == []
        if facts:
            memory.undo()
            assert contents(memory) == before
            assert sorted(memory.learning.consolidate()) == sorted(facts)
        gone = data.draw(st.sampled_from(nodes)).id
        left = [fact for fact in facts if gone not in sources_of(memory, fact)]
        memory.delete(gone)
        assert [fact for fact in facts if memory.store.has_node(fact)] == left
