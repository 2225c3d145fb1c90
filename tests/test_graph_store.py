"""The unit tests that the specification writes out; those of this project are in `tests/storage`."""

from neurogated import EdgeType, GraphStore, Kernel, MemoryConfig, MemoryNode, SpreadingActivation


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
