"""What every store does, run over each of them."""

import threading
from datetime import timedelta
from uuid import uuid4

import numpy as np
import pytest

from neurogated import (
    AccessMark,
    Decay,
    EdgeKey,
    EdgeType,
    GraphDelta,
    GraphStore,
    MemoryEdge,
    MemoryNode,
    WeightChange,
)
from neurogated.errors import (
    AmbiguousEdgeError,
    EmbedderMismatchError,
    InputError,
    MemoryClosedError,
    NeurogatedError,
    UnknownIdError,
)
from neurogated.testing import ManualClock


def _node(name: str, *vector: float) -> MemoryNode:
    return MemoryNode(id=name, content=f"text of {name}", embedding=vector or (1.0, 0.0))


def _fill(store: GraphStore, names: str = "abc") -> None:
    for place, name in enumerate(names):
        store.add_node(_node(name, 1.0, float(place)))


def _state(store: GraphStore) -> tuple[list[MemoryNode], list[MemoryEdge]]:
    return sorted(store.all_nodes(), key=lambda n: n.id), sorted(store.all_edges(), key=lambda e: str(e.key))


def test_a_node_comes_back_equal(store: GraphStore, clock: ManualClock) -> None:
    node = MemoryNode(
        id=str(uuid4()),
        content="Nevena tightened the 锚 bolts",
        embedding=[0.1, 0.2],
        base_energy=0.7,
        metadata={"timestamp": 12.5, "entities": ["Nevena"], "nested": {"x": None}},
        valid_from=clock(),
        valid_to=clock() + timedelta(days=1),
    )
    store.add_node(node)
    assert store.get_node(node.id) == node
    assert len(store) == 1


def test_a_node_without_embedding_is_kept_but_not_found_by_similarity(store: GraphStore) -> None:
    store.add_node(MemoryNode(id="tag", content="a tag"))
    _fill(store, "a")
    assert store.get_node("tag").embedding is None
    assert [node.id for node, _ in store.vector_search([1.0, 0.0], 5)] == ["a"]


def test_putting_a_node_again_replaces_it_and_keeps_its_edges(store: GraphStore) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ, 0.5)
    store.add_node(MemoryNode(id="a", content="new words", embedding=[0.0, 1.0]))
    assert store.get_node("a").content == "new words"
    assert store.get_edge("a", "b").weight == 0.5
    assert len(store) == 3


def test_edges_of_different_types_may_connect_one_pair(store: GraphStore) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ, 0.5)
    store.add_edge("a", "b", EdgeType.SIM, 0.25)
    assert store.get_edge("a", "b", EdgeType.SIM).weight == 0.25
    with pytest.raises(AmbiguousEdgeError, match="SEQ and SIM"):
        store.get_edge("a", "b")


def test_putting_an_edge_again_replaces_it(store: GraphStore) -> None:
    _fill(store)
    for weight in (0.5, 0.75, 0.125):
        store.add_edge("a", "b", EdgeType.SEQ, weight)
    assert [edge.weight for edge in store.all_edges()] == [0.125]
    assert [neighbor for neighbor, _ in store.get_neighbors("a")] == ["b"]


def test_neighbors_follow_stored_directions(store: GraphStore) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ)
    store.add_edge("c", "a", EdgeType.SIM, 0.5)
    assert [(name, edge.type) for name, edge in store.get_neighbors("a")] == [("b", EdgeType.SEQ)]
    assert list(store.get_neighbors("b")) == []


def test_an_edge_comes_back_equal(store: GraphStore, clock: ManualClock) -> None:
    _fill(store)
    edge = MemoryEdge(
        "a", "c", EdgeType.CAUSE, 0.3, created_at=clock(), last_activated=clock() + timedelta(hours=1), valid_to=clock()
    )
    store.add_edge(edge)
    assert store.get_edge("a", "c") == edge


def test_removing_a_node_removes_its_edges_and_its_vector(store: GraphStore) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ)
    store.add_edge("c", "b", EdgeType.SIM, 0.5)
    store.add_edge("a", "c", EdgeType.SEQ)
    store.remove_node("b")
    assert [edge.key for edge in store.all_edges()] == [EdgeKey("a", "c", EdgeType.SEQ)]
    assert "b" not in [node.id for node, _ in store.vector_search([1.0, 1.0], 5)]
    with pytest.raises(UnknownIdError, match="'b'"):
        store.get_node("b")


def test_a_removed_node_can_be_added_again_and_has_no_old_edges(store: GraphStore) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ)
    store.remove_node("b")
    store.add_node(_node("b", 0.0, 1.0))
    assert list(store.all_edges()) == []
    assert store.vector_search([0.0, 1.0], 1)[0][0].id == "b"


def test_remove_edge_takes_an_edge_or_its_key(store: GraphStore) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ)
    store.add_edge("b", "c", EdgeType.SEQ)
    store.remove_edge(store.get_edge("a", "b"))
    store.remove_edge(EdgeKey("b", "c", EdgeType.SEQ))
    assert list(store.all_edges()) == []


@pytest.mark.parametrize(
    "delta",
    [
        GraphDelta(nodes=(_node("x"),), edges=(MemoryEdge("x", "nowhere", EdgeType.SEQ),)),
        GraphDelta(nodes=(_node("x"), _node("x"))),
        GraphDelta(nodes=(_node("x"), _node("y", 1.0, 2.0, 3.0))),
        GraphDelta(nodes=(_node("x", 1.0, 2.0, 3.0),)),
        GraphDelta(nodes=(_node("x"),), removed_nodes=("nowhere",)),
        GraphDelta(nodes=(_node("x"),), removed_edges=(EdgeKey("a", "c", EdgeType.SEQ),)),
        GraphDelta(nodes=(_node("x"),), weights=(WeightChange(EdgeKey("a", "c", EdgeType.SEQ), 0.5),)),
        GraphDelta(removed_nodes=("a",), edges=(MemoryEdge("a", "b", EdgeType.CAUSE),)),
        GraphDelta(removed_nodes=("a",), weights=(WeightChange(EdgeKey("a", "b", EdgeType.SEQ), 0.5),)),
    ],
)
def test_a_bad_delta_is_refused_whole(store: GraphStore, delta: GraphDelta) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ)
    before, sequence = _state(store), store.view().sequence
    with pytest.raises(NeurogatedError):
        store.apply(delta)
    assert _state(store) == before
    assert store.view().sequence == sequence


def test_weights_change_and_count_as_use(store: GraphStore, clock: ManualClock) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ, 0.5)
    clock.advance(timedelta(days=3))
    store.apply(GraphDelta(weights=(WeightChange(EdgeKey("a", "b", EdgeType.SEQ), 0.75),), at=clock()))
    edge = store.get_edge("a", "b")
    assert (edge.weight, edge.last_activated) == (0.75, clock())


def test_decay_weakens_idle_plastic_edges_only_and_prunes(store: GraphStore, clock: ManualClock) -> None:
    _fill(store, "abcd")
    start = clock()
    store.add_edge("a", "b", EdgeType.SEQ, 0.5)
    store.add_edge("a", "c", EdgeType.CAUSE, 0.15)
    store.add_edge("a", "d", EdgeType.SIM, 0.15)
    clock.advance(timedelta(days=1))
    store.add_edge("b", "c", EdgeType.SEQ, 0.5)
    store.apply(GraphDelta(operators=(Decay(0.5, start + timedelta(hours=1), 0.1),), at=clock()))
    weights = {edge.key[:2]: edge.weight for edge in store.all_edges()}
    assert weights == {("a", "b"): 0.25, ("a", "d"): 0.15, ("b", "c"): 0.5}


def test_touch_moves_times_and_passes_over_what_is_gone(store: GraphStore, clock: ManualClock) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ, 0.5)
    clock.advance(timedelta(hours=2))
    key = EdgeKey("a", "b", EdgeType.SEQ)
    mark = AccessMark(frozenset({"a", "gone"}), frozenset({key, EdgeKey("gone", "b", EdgeType.SEQ)}))
    store.apply(GraphDelta(touch=mark, at=clock()))
    assert store.get_node("a").last_accessed == clock()
    assert store.get_node("b").last_accessed != clock()
    edge = store.get_edge("a", "b")
    assert (edge.weight, edge.last_activated) == (0.5, clock())


def test_operators_stand_in_a_delta_of_their_own(clock: ManualClock) -> None:
    with pytest.raises(InputError, match="two deltas"):
        GraphDelta(nodes=(_node("a"),), operators=(Decay(0.5, clock()),))


def test_vector_search_is_exact_and_breaks_ties_by_id(store: GraphStore) -> None:
    rng = np.random.default_rng(7)
    vectors = rng.integers(-2, 3, (40, 3)).astype(np.float32)
    for place, vector in enumerate(vectors):
        store.add_node(MemoryNode(id=f"n{(place * 7) % 40:02}", content="x", embedding=vector))
    query = np.array([1.0, 2.0, -1.0], dtype=np.float32)
    nodes = {node.id: np.asarray(node.embedding, dtype=np.float64) for node in store.all_nodes()}

    def cosine(vector: np.ndarray) -> float:
        norms = float(np.linalg.norm(vector) * np.linalg.norm(query))
        return round(float(vector @ query) / norms, 5) if norms else 0.0

    expected = sorted(nodes, key=lambda name: (-cosine(nodes[name]), name))[:12]
    found = store.vector_search(query, 12)
    assert [round(score, 5) for _, score in found] == [cosine(nodes[name]) for name in expected]
    assert len({node.id for node, _ in found}) == 12


def test_equal_vectors_come_in_order_of_id(store: GraphStore) -> None:
    for name in "dbca":
        store.add_node(_node(name, 3.0, 4.0))
    assert [node.id for node, _ in store.vector_search([1.0, 1.0], 3)] == ["a", "b", "c"]


def test_search_with_another_dimension_names_both(store: GraphStore) -> None:
    _fill(store)
    with pytest.raises(InputError, match=r"dimension 3.*dimension 2"):
        store.vector_search([1.0, 2.0, 3.0], 1)


def test_search_in_an_empty_store_finds_nothing(store: GraphStore) -> None:
    assert store.vector_search([1.0], 3) == []


def test_a_view_does_not_change_with_later_writes(store: GraphStore) -> None:
    _fill(store)
    store.add_edge("a", "b", EdgeType.SEQ, 0.5)
    view = store.view()
    store.add_edge("a", "c", EdgeType.SEQ, 0.5)
    store.apply(GraphDelta(weights=(WeightChange(EdgeKey("a", "b", EdgeType.SEQ), 0.75),)))
    store.add_node(_node("z"))
    store.remove_node("c")
    arcs = view.arcs(view.rows(["a"]), EdgeType.SEQ)
    assert [(view.ids[target], weight) for target, weight in zip(arcs.target, arcs.weight, strict=True)] == [("b", 0.5)]
    assert view.find("z") is None
    assert view.find("c") is not None
    assert store.view().find("c") is None


def test_namespaces_never_see_each_other(store: GraphStore) -> None:
    _fill(store, "a")
    other = store.in_namespace("'; DROP TABLE nodes; --")
    assert len(other) == 0
    other.add_node(MemoryNode(id="a", content="another a", embedding=[1.0, 0.0]))
    assert store.get_node("a").content == "text of a"
    assert [node.content for node, _ in other.vector_search([1.0, 0.0], 5)] == ["another a"]
    assert store.in_namespace("'; DROP TABLE nodes; --") is other


def test_the_embedder_is_recorded_once_and_compared(store: GraphStore) -> None:
    store.bind_embedder("one", None)
    store.bind_embedder("one", 2)
    store.bind_embedder("one", None)
    with pytest.raises(EmbedderMismatchError, match=r"'one' \(dimension 2\).*'two' \(dimension 3\)"):
        store.bind_embedder("two", 3)
    with pytest.raises(EmbedderMismatchError, match=r"dimension 2.*dimension 3"):
        store.bind_embedder("one", 3)


def test_a_closed_store_says_so(store: GraphStore) -> None:
    other = store.in_namespace("other")
    store.close()
    store.close()
    for closed in (store, other):
        with pytest.raises(MemoryClosedError, match="open it again"):
            closed.view()


@pytest.mark.parametrize("call", ["get_node", "remove_node", "get_neighbors"])
def test_unknown_ids_are_named(store: GraphStore, call: str) -> None:
    with pytest.raises(UnknownIdError, match="no node 'ghost'"):
        getattr(store, call)("ghost")


def test_an_unknown_edge_is_named(store: GraphStore) -> None:
    _fill(store)
    with pytest.raises(UnknownIdError, match=r"no CAUSE edge from 'a' to 'b'"):
        store.get_edge("a", "b", EdgeType.CAUSE)
    with pytest.raises(UnknownIdError, match=r"no SEQ edge from 'a' to 'b'"):
        store.remove_edge(EdgeKey("a", "b", EdgeType.SEQ))


def test_add_edge_needs_all_its_parts(store: GraphStore) -> None:
    _fill(store)
    with pytest.raises(InputError, match="source, target and type"):
        store.add_edge("a", "b")  # type: ignore[call-overload]


def test_a_new_edge_type_is_stored_and_walked(store: GraphStore) -> None:
    mention = EdgeType.register("TEST_MENTION", "test mention", plastic=False, both_ways=False)
    _fill(store)
    store.add_edge("a", "b", mention, 0.5)
    assert store.get_edge("a", "b").type is mention


def test_threads_may_write_and_read_at_once(store: GraphStore) -> None:
    _fill(store, "a")
    failures: list[BaseException] = []

    def work(worker: int) -> None:
        try:
            for step in range(15):
                store.add_node(_node(f"{worker}-{step}", 1.0, float(step)))
                store.add_edge(f"{worker}-{step}", "a", EdgeType.SEQ, 0.5)
                assert len(store.vector_search([1.0, 1.0], 3)) <= 3
                assert store.get_node(f"{worker}-{step}").id == f"{worker}-{step}"
        except BaseException as failure:  # noqa: BLE001 - carried to the main thread
            failures.append(failure)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(store) == 1 + 4 * 15
    assert len(list(store.all_edges())) == 4 * 15
