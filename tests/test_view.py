"""`memory.view()`: a snapshot of the graph, and as a networkx graph."""

from collections.abc import Iterator

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from neurogated import ANY_USER, EdgeType, GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory


@pytest.fixture
def memory() -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as opened:
        opened.add(["The pump failed on Monday.", "Because the pump failed, the field was flooded."], session_id="s")
        opened.add("Ana keeps bees.", user_id="ana", importance=0.75, kind="fact")
        yield opened


def test_a_view_becomes_a_networkx_graph_with_all_nodes_and_edges(memory: NeuroGraphMemory) -> None:
    graph = memory.view(user_id=ANY_USER).to_networkx()
    assert isinstance(graph, nx.MultiDiGraph)
    assert set(graph) == {node.id for node in memory.store.all_nodes()}
    edges = {(edge.source_id, edge.target_id, edge.type.name): edge.weight for edge in memory.store.all_edges()}
    assert {(one, other, key): data["weight"] for one, other, key, data in graph.edges(data=True, keys=True)} == edges
    assert edges
    (fact,) = (node for node in memory.find(user_id="ana", kinds=["fact"]))
    assert graph.nodes[fact.id] == {
        "kind": "fact", "importance": 0.75, "base_energy": 0.75, "charge": 0.0, "uses": 0
    }  # fmt: skip


def test_a_networkx_graph_shows_no_memory_of_another_user(memory: NeuroGraphMemory) -> None:
    graph = memory.view().to_networkx()
    assert set(graph) == {node.id for node in memory.list()}
    assert len(graph) == 2


@pytest.mark.usefixtures("small_overlay")
@given(
    st.lists(
        st.tuples(st.integers(0, 5), st.integers(0, 5), st.sampled_from([EdgeType.SEQ, EdgeType.SIM])), max_size=20
    )
)
def test_arcs_of_both_directions_are_those_of_each(ends: list[tuple[int, int, EdgeType]]) -> None:
    store = GraphStore()
    for number in range(6):
        store.add_node(MemoryNode(f"n{number}", "text"))
    for source, target, kind in ends:
        if source != target:
            store.add_edge(f"n{source}", f"n{target}", kind, 0.5)
    view, frontier = store.view(), np.array([4, 0, 3])
    for wanted in (None, EdgeType.SIM):
        parts = [view.arcs(frontier, wanted, inwards=inwards) for inwards in (False, True)]
        apart = sorted((*arc,) for part in parts for arc in zip(*(column.tolist() for column in part[:3]), strict=True))
        both = view.arcs(frontier, wanted, both_ways=True)
        found = list(zip(*(column.tolist() for column in both[:3]), strict=True))
        assert sorted(found) == apart
        assert [(origin, edge) for origin, _, edge in found] == sorted((origin, edge) for origin, _, edge in found)
