"""`memory.view()`: a snapshot of the graph, and as a networkx graph."""

from collections.abc import Iterator

import networkx as nx
import pytest

from neurogated import ANY_USER, MemoryConfig, NeuroGraphMemory
from neurogated.errors import MissingExtraError


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


def test_without_networkx_the_error_names_its_extra(memory: NeuroGraphMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "networkx", None)
    with pytest.raises(MissingExtraError):
        memory.view().to_networkx()
