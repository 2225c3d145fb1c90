"""The contract of writes: puts can be read, removed nodes are gone, and every delta is atomic."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from graph_store_kit.contract.base import ContractBase, NewStore, apply, assert_tells
from graph_store_kit.histories import edge, history_of, node
from graph_store_kit.model import GraphModel
from graph_store_kit.reads import all_edges, get_edge, get_node, has_node, keyword_search, nearest
from neurogated.core.delta import Access, GraphDelta, PendingTask, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import Found
from neurogated.core.model import EdgeKey
from neurogated.core.ports import GraphStorePort
from neurogated.errors import InputError, UnknownIdError
from neurogated.testing import ManualClock

# Several classes run each property, on a new store for each example.
PROPERTY = settings(
    deadline=None,
    max_examples=15,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.differing_executors,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
_SEQ = EdgeKey("a", "b", EdgeType.SEQ)
_SIM = EdgeKey("b", "c", EdgeType.SIM)
_NONE = EdgeKey("a", "c", EdgeType.SEQ)
# Invalid parts of a delta, for the graph of `three_nodes`.
_UNFIT: dict[str, tuple[type[Exception], GraphDelta]] = {
    "edge to nowhere": (InputError, GraphDelta(edges=(edge("x", "nowhere"),))),
    "edge from nowhere": (InputError, GraphDelta(edges=(edge("nowhere", "x"),))),
    "edge to a node that it removes": (
        InputError, GraphDelta(removed_nodes=("c",), edges=(edge("a", "c", EdgeType.CAUSE),))
    ),
    "node twice": (InputError, GraphDelta(nodes=(node("y"), node("y")))),
    "edge twice": (InputError, GraphDelta(edges=(edge("a", "c"), edge("a", "c", weight=0.25)))),
    "vector of another dimension": (InputError, GraphDelta(nodes=(node("y", 1.0, 2.0, 3.0),))),
    "vectors of two dimensions": (InputError, GraphDelta(nodes=(node("y", 1.0, 2.0), node("z", 1.0)))),
    "unknown node removed": (UnknownIdError, GraphDelta(removed_nodes=("nowhere",))),
    "node removed twice": (InputError, GraphDelta(removed_nodes=("c", "c"))),
    "unknown edge removed": (UnknownIdError, GraphDelta(removed_edges=(_NONE,))),
    "edge of unknown nodes removed": (
        UnknownIdError, GraphDelta(removed_edges=(EdgeKey("nowhere", "a", EdgeType.SEQ),))
    ),
    "edge of another type removed": (UnknownIdError, GraphDelta(removed_edges=(_SEQ._replace(type=EdgeType.CAUSE),))),
    "edge removed twice": (InputError, GraphDelta(removed_edges=(_SIM, _SIM))),
    "weight of an unknown edge": (UnknownIdError, GraphDelta(weights=(WeightChange(_NONE, 0.5),))),
    "weight twice": (InputError, GraphDelta(weights=(WeightChange(_SEQ, 0.5), WeightChange(_SEQ, 0.75)))),
    "weight of an edge that it removes": (
        InputError, GraphDelta(removed_edges=(_SEQ,), weights=(WeightChange(_SEQ, 0.5),))
    ),
    "weight of an edge that it puts": (
        InputError, GraphDelta(edges=(edge(*_SEQ, 0.75),), weights=(WeightChange(_SEQ, 0.5),))
    ),
    "weight of an edge of a node that it removes": (
        InputError, GraphDelta(removed_nodes=("a",), weights=(WeightChange(_SEQ, 0.5),))
    ),
}  # fmt: skip
# Valid parts beside the invalid one; a store that is not atomic would keep them.
_FIT = GraphDelta(
    nodes=(node("x", 3.0, 4.0),),
    edges=(edge("x", "b"),),
    queued=(PendingTask("cause", ("x",)),),
    settled=(PendingTask("entities", ("a",)),),
    touch=Access.of(frozenset("a"), frozenset({_SIM})),
)


def three_nodes(store: GraphStorePort) -> GraphModel:
    """Put nodes a, b and c, a SEQ edge from a to b and a SIM edge from b to c; return the model."""
    model = GraphModel()
    delta = GraphDelta(
        nodes=(node("a", 1.0, 0.0), node("b", 1.0, 1.0), node("c", 1.0, 2.0)),
        edges=(edge(*_SEQ, 0.5), edge(*_SIM, 0.25)),
        queued=(PendingTask("entities", ("a",)),),
    )
    store.apply(delta)
    model.apply(delta)
    return model


class WritingContract(ContractBase):
    """Nodes and edges are put and removed by atomic deltas."""

    def test_a_node_comes_back_equal(self, store: GraphStorePort, clock: ManualClock) -> None:
        full = node(
            "'; DROP TABLE nodes; -- 锚 \U0001f600",
            0.1,
            0.2,
            at=clock(),
            content="Nevena tightened the 锚 bolts\0\n\ttwice",
            base_energy=0.7,
            metadata={"timestamp": 12.5, "entities": ["Nevena"], "nested": {"x": None}, "": [True, 1, 1e300]},
            found=Found(["Nevena"], ["昨天"], ["The 锚"], "doc-1", (0, 90)),
            valid_from=clock(),
            valid_to=clock() + timedelta(days=1, microseconds=1),
            expires_at=clock() + timedelta(days=2, microseconds=3),
        )
        apply(store, clock, nodes=(full, node("bare", content="", embedding=None)))
        assert get_node(store, full.id) == full
        assert get_node(store, "bare") == node("bare", content="", embedding=None)
        assert has_node(store, full.id)
        assert not has_node(store, "nobody")

    def test_an_edge_comes_back_equal(self, store: GraphStorePort, clock: ManualClock) -> None:
        three_nodes(store)
        full = edge(
            "a", "c", EdgeType.CAUSE, 0.3, at=clock(), last_activated=clock() + timedelta(hours=1), valid_to=clock()
        )
        apply(store, clock, edges=(full,))
        assert get_edge(store, "a", "c") == full
        assert [found for found in all_edges(store) if found.key == full.key] == [full]

    def test_what_is_handed_out_is_not_what_is_kept(self, store: GraphStorePort, clock: ManualClock) -> None:
        apply(store, clock, nodes=(node("a", metadata={"list": [1]}),))
        handed_out = get_node(store, "a").metadata
        assert isinstance(handed_out, dict)
        handed_out["list"].append(2)
        assert get_node(store, "a").metadata == {"list": [1]}

    def test_nodes_come_in_the_order_of_their_ids(self, store: GraphStorePort) -> None:
        three_nodes(store)
        assert [found.id for found in store.get_nodes(["c", "a", "c"])] == ["c", "a", "c"]
        assert [found.id for found in store.get_nodes(["c", "ghost", "a"], missing_ok=True)] == ["c", "a"]
        assert store.get_nodes([]) == []
        with pytest.raises(UnknownIdError, match="ghost"):
            store.get_nodes(["a", "ghost"])

    def test_edges_of_several_types_and_both_directions_connect_one_pair(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        three_nodes(store)
        apply(store, clock, edges=(edge("a", "b", EdgeType.SIM, 0.25), edge("b", "a", EdgeType.SEQ, 0.75)))
        assert get_edge(store, "a", "b", EdgeType.SIM).weight == 0.25
        assert get_edge(store, "a", "b", EdgeType.SEQ).weight == 0.5
        assert get_edge(store, "b", "a").weight == 0.75

    def test_a_newly_registered_edge_type_is_stored_and_walked(self, store: GraphStorePort, clock: ManualClock) -> None:
        kind = EdgeType.register("KIT_LINK", "link of the kit's", plastic=True, both_ways=False)
        model = three_nodes(store)
        delta = GraphDelta(edges=(edge("c", "a", kind, 0.5), edge("a", "c", kind, 0.25)), at=clock())
        store.apply(delta)
        model.apply(delta)
        assert_tells(store, model)
        assert get_edge(store, "c", "a").type is kind

    @pytest.mark.parametrize("fault", list(_UNFIT))
    def test_a_delta_with_one_bad_part_changes_nothing(
        self, store: GraphStorePort, clock: ManualClock, fault: str
    ) -> None:
        model = three_nodes(store)
        error, unfit = _UNFIT[fault]
        both = {
            name: getattr(_FIT, name) + getattr(unfit, name)
            for name in ("removed_edges", "removed_nodes", "nodes", "edges", "weights", "queued", "settled")
        }
        before = store.view().sequence, store.history(), [entry.sequence for entry in store.journal()]
        clock.advance(timedelta(days=1))
        with pytest.raises(error):
            store.apply(GraphDelta(**both, touch=_FIT.touch, at=clock()))
        assert_tells(store, model)
        assert store.pending() == list(model.waiting)
        assert (store.view().sequence, store.history(), [entry.sequence for entry in store.journal()]) == before
        assert sorted(name for name, _ in nearest(store, [3.0, 4.0], 5)) == ["a", "b", "c"]
        assert "x" not in dict(keyword_search(store, "text of x", 5))
        # The store still works, and the refused delta left no name behind.
        fit = replace(_FIT, at=clock())
        store.apply(fit)
        model.apply(fit)
        assert_tells(store, model)

    def test_what_was_refused_does_not_fix_the_dimension(self, store: GraphStorePort, clock: ManualClock) -> None:
        with pytest.raises(InputError, match="dimension"):
            apply(store, clock, nodes=(node("a", 1.0), node("b", 1.0, 2.0)))
        apply(store, clock, nodes=(node("a", 1.0, 2.0, 3.0),))
        assert nearest(store, [1.0, 2.0, 3.0], 1)[0][0] == "a"

    def test_weights_change_and_count_as_use(self, store: GraphStorePort, clock: ManualClock) -> None:
        three_nodes(store)
        clock.advance(timedelta(days=3))
        apply(store, clock, weights=(WeightChange(_SEQ, 0.75),))
        changed = get_edge(store, "a", "b")
        assert (changed.weight, changed.last_activated) == (0.75, clock())
        apply(store, clock, weights=(WeightChange(_SEQ, 0.1, clock() - timedelta(days=1)),))
        changed = get_edge(store, "a", "b")
        assert (changed.weight, changed.last_activated) == (0.1, clock() - timedelta(days=1))

    def test_touch_moves_times_and_passes_over_what_is_gone(self, store: GraphStorePort, clock: ManualClock) -> None:
        three_nodes(store)
        clock.advance(timedelta(hours=2))
        gone = EdgeKey("gone", "b", EdgeType.SEQ)
        apply(store, clock, touch=Access.of(frozenset({"a", "gone"}), frozenset({_SEQ, gone, _NONE})))
        assert get_node(store, "a").last_accessed == clock()
        assert get_node(store, "b").last_accessed != clock()
        touched = get_edge(store, "a", "b")
        assert (touched.weight, touched.last_activated) == (0.5, clock())
        view = store.view()
        assert view.last_accessed.take(view.rows(["a"]))[0] > view.last_accessed.take(view.rows(["b"]))[0]

    def test_judgements_wait_until_they_are_settled(self, store: GraphStorePort, clock: ManualClock) -> None:
        one, two = PendingTask("cause", ("a", "b")), PendingTask("entities", ("a",))
        apply(store, clock, queued=(one, two))
        apply(store, clock, queued=(one,))
        assert store.pending() == [one, two]
        apply(store, clock, settled=(one, PendingTask("cause", ("x", "y"))))
        assert store.pending() == [two]
        assert store.history() == []

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(1, 14))
    @PROPERTY
    def test_any_life_is_told_as_dictionaries_tell_it(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int
    ) -> None:
        store = new_store()
        for delta, model in history_of(random, clock, deltas):
            assert store.apply(delta) == store.view().sequence
            assert_tells(store, model)
            assert store.pending() == list(model.waiting)
