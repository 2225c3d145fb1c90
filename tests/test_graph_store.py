"""The unit tests that the specification writes out; those of this project are in `tests/storage`."""

from graph_store_kit.reads import keyword_search
from neurogated import EdgeType, GraphStore, Kernel, MemoryConfig, MemoryEdge, MemoryNode, SpreadingActivation
from neurogated.storage.log.memory_log import MemoryEngine


def test_add_node() -> None:
    store = GraphStore()
    node = MemoryNode(id="test-1", content="Test", embedding=[0.1, 0.2])
    store.add_node(node)
    assert store.get_node("test-1") == node


def test_spreading_activation() -> None:
    store = GraphStore()
    for name in ("a", "b"):
        store.add_node(MemoryNode(id=name, content=name))
    store.add_edge("a", "b", EdgeType.SEQ, weight=0.5)

    config = MemoryConfig(ACTIVATION="classic", MAX_HOPS=1, ENERGY_DECAY_RATE=0.5)
    view = store.view()
    activation = SpreadingActivation(config).spread(view, {"a": 1.0}, Kernel({EdgeType.SEQ: 2.0}))
    assert activation.total.at(view.rows(["a", "b"])).tolist() == [1.0, 0.5 * 2.0 * 0.5]


def test_two_stores_of_one_engine_follow_each_other() -> None:
    engine = MemoryEngine()
    first, second = GraphStore(engine=engine), GraphStore(engine=engine)
    first.add_node(MemoryNode("a", "heron", [1.0, 0.0]))
    second.add_node(MemoryNode("b", "stone", [0.0, 1.0]))
    first.add_edge("a", "b", EdgeType.SEQ)
    for store in (first, second):
        assert [node.id for node in store.all_nodes()] == ["a", "b"]
        assert store.get_edge("a", "b").type is EdgeType.SEQ
        assert [name for name, _ in keyword_search(store, "heron", 2)] == ["a"]
        assert len(store.history()) == 3
    second.remove_node("a")
    assert second.compact(history=True) == 1
    assert [node.id for node in first.all_nodes()] == ["b"]
    assert list(first.all_edges()) == []


def test_edges_are_found_by_their_relations() -> None:
    store = GraphStore()
    for name in ("a", "b", "c"):
        store.add_node(MemoryNode(name, name))
    store.add_edge(MemoryEdge("a", "b", EdgeType.ASSOC, relation="about"))
    store.add_edge(MemoryEdge("b", "c", EdgeType.SEQ, relation="about"))
    store.add_edge(MemoryEdge("a", "c", EdgeType.ASSOC, relation="against"))
    assert [edge.key[:2] for edge in store.find_edges("about")] == [("a", "b"), ("b", "c")]
    assert [edge.target_id for edge in store.find_edges("about", edge_type=EdgeType.ASSOC)] == ["b"]
    assert store.find_edges("because") == []
