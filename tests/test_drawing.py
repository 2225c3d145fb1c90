"""The graph for programs that draw and count: networkx, pandas, GraphML and Cytoscape."""

import json
from collections.abc import Iterator
from pathlib import Path

import networkx as nx
import pytest

from neurogated import ANY_USER, MemoryConfig, NeuroGraphMemory
from neurogated.cli import main
from neurogated.errors import InputError

SAID = "The pump\x0b failed & stopped."


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[NeuroGraphMemory]:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path / "m"), embedding_name="hash")) as opened:
        opened.add({"role": "user", "content": SAID}, session_id="s", timestamp="2026-05-04T09:00:00Z", tags=["a", "b"])
        opened.add("Because of this, the field was flooded.", session_id="s", title="The flood")
        opened.add("Ana keeps bees.", user_id="ana")
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


def test_a_portable_memory_needs_a_user(memory: NeuroGraphMemory, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="pam has the memories of one user"):
        memory.admin.export_to("pam", tmp_path / "all.json")
