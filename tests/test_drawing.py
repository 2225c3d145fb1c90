"""The graph for programs that draw and count: networkx, pandas, GraphML and Cytoscape."""

import json
from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from neurogated import ANY_USER, EdgeType, GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.cli import main

SAID = "The pump\x0b failed & stopped."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path / "m"), embedding_name="hash")) as opened:
        opened.add({"role": "user", "content": SAID}, session_id="s", timestamp="2026-05-04T09:00:00Z", tags=["a", "b"])
        opened.add("Because of this, the field was flooded.", session_id="s", title="The flood")
        opened.add("Ana keeps bees.", user_id="ana", importance=0.75, kind="fact")
        yield opened


def test_a_networkx_graph_has_the_texts_and_types_of_the_memories_that_filters_admit(memory: NeuroGraphMemory) -> None:
    graph = memory.graph.to_networkx()
    (first,) = memory.find(tags=["a"])
    assert set(graph) == {one.id for one in memory.list()}
    node = graph.nodes[first.id]
    assert (node["role"], node["session_id"], node["tags"]) == ("user", "s", "a, b")
    assert node["timestamp"] == "2026-05-04T09:00:00+00:00"
    assert node["text"] == SAID.replace("\x0b", "\ufffd")
    assert {(key, data["type"]) for *_, key, data in graph.edges(keys=True, data=True)} >= {("SEQ", "SEQ")}
    assert len(memory.graph.to_networkx(user_id=ANY_USER)) == 3


def test_a_data_frame_has_a_row_for_each_memory(memory: NeuroGraphMemory) -> None:
    frame = memory.graph.to_pandas(user_id="ana")
    assert sorted(frame.index) == sorted(one.id for one in memory.list(user_id="ana"))
    assert "Ana keeps bees." in set(frame["text"])
    assert set(frame.loc[frame["user_id"] == "ana", "text"]) == {"Ana keeps bees."}
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as empty:
        assert empty.graph.to_pandas().empty


def test_a_graphml_file_has_the_graph_with_edges_of_different_ids(memory: NeuroGraphMemory, tmp_path: Path) -> None:
    file = tmp_path / "graph.graphml"
    assert memory.admin.export_to("graphml", file) == 3
    read, whole = nx.read_graphml(file, force_multigraph=True), memory.graph.to_networkx(user_id=ANY_USER)
    assert dict(read.nodes(data="text")) == dict(whole.nodes(data="text"))
    assert sorted(read.edges(data="type")) == sorted(whole.edges(data="type"))
    assert len({key for *_, key in read.edges(keys=True)}) == whole.number_of_edges() > 0


def test_a_cytoscape_file_of_a_user_has_only_his_memories(memory: NeuroGraphMemory, tmp_path: Path) -> None:
    file, folder = tmp_path / "graph.cyjs", str(tmp_path / "m")
    memory.close()
    words = ["export", "--save_dir", folder, "--embedding_name", "hash", str(file), "--to", "cytoscape"]
    assert main([*words, "--user_id", "ana"]) == 0
    (node,) = json.loads(file.read_text(encoding="utf-8"))["elements"]["nodes"]
    assert (node["data"]["text"], node["data"]["name"]) == ("Ana keeps bees.", "Ana keeps bees.")
    assert SAID[:8] not in file.read_text(encoding="utf-8")
    assert main([*words[:-3], str(tmp_path / "x"), "--to", "pam"]) == 2


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
