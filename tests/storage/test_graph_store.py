"""The abilities of both stores beyond the port, which test_conformance.py tests."""

from collections.abc import Callable

import pytest

from neurogated import Decay, EdgeType, GraphDelta, GraphStore, MemoryEdge, MemoryNode
from neurogated.errors import InputError, MemoryClosedError, UnknownIdError
from neurogated.testing import ManualClock


def _node(name: str, *vector: float) -> MemoryNode:
    return MemoryNode(id=name, content=f"text of {name}", embedding=vector or (1.0, 0.0))


def _fill(store: GraphStore, names: str = "abc") -> None:
    for place, name in enumerate(names):
        store.add_node(_node(name, 1.0, float(place)))


def test_nodes_and_edges_are_added_replaced_and_removed_one_by_one(store: GraphStore, clock: ManualClock) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ, 0.5)
    store.add_edge(MemoryEdge("b", "c", EdgeType.SIM, 0.25, created_at=clock()))
    store.add_node(MemoryNode(id="a", content="new words", embedding=[0.0, 1.0]))
    assert store.get_edge("a", "b") == MemoryEdge("a", "b", EdgeType.SEQ, 0.5, created_at=clock())
    assert store.get_node("a").content == "new words"
    assert len(store) == 3
    store.remove_node("b")
    assert len(store) == 2
    assert list(store.all_edges()) == []
    assert [entry.reason for entry in store.history()][-2:] == ["add_node", "remove_node"]


def test_add_edge_needs_all_its_parts(store: GraphStore) -> None:
    _fill(store)
    with pytest.raises(InputError, match="source, target and type"):
        store.add_edge("a", "b")  # type: ignore[call-overload]


@pytest.mark.parametrize("call", ["get_node", "remove_node", "get_neighbors"])
def test_unknown_ids_are_named(store: GraphStore, call: str) -> None:
    with pytest.raises(UnknownIdError, match="no node 'ghost'"):
        getattr(store, call)("ghost")


def test_a_delta_that_does_not_exist_is_named_with_the_last_one(store: GraphStore) -> None:
    for sequence in (-1, 1):
        with pytest.raises(InputError, match=f"no delta {sequence}; the last one is 0"):
            store.as_of(sequence)


def test_a_namespace_is_one_object_however_often_it_is_asked_for(store: GraphStore) -> None:
    assert store.in_namespace("'; DROP TABLE nodes; --") is store.in_namespace("'; DROP TABLE nodes; --")


def test_a_closed_store_names_the_remedy(store: GraphStore) -> None:
    other = store.in_namespace("other")
    store.close()
    for closed in (store, other):
        with pytest.raises(MemoryClosedError, match="open it again"):
            closed.view()


def test_operators_stand_in_a_delta_of_their_own(clock: ManualClock) -> None:
    with pytest.raises(InputError, match="two deltas"):
        GraphDelta(nodes=(_node("a"),), operators=(Decay(0.5, clock()),))


def test_a_node_that_is_added_again_has_the_same_place_in_both_stores(open_store: Callable[[], GraphStore]) -> None:
    """The contract leaves the row open, but an export must not depend on the kind of store."""
    with open_store() as store:
        _fill(store)
        store.remove_node("a")
        store.add_node(_node("a"))
        assert [node.id for node in store.all_nodes()] == ["a", "b", "c"]
