"""The contract of scopes and filters: each user's searches are isolated, and no edge joins two users."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from random import Random

import hypothesis.strategies as st
import pytest
from hypothesis import given

from graph_store_kit.contract.base import ContractBase, NewStore, apply
from graph_store_kit.contract.writing import PROPERTY
from graph_store_kit.histories import QUERIES, START, WORDS, edge, node
from graph_store_kit.reads import all_edges, get_node, has_node, keyword_search, nearest, nodes_with
from neurogated.core.abilities import SupportsCompaction
from neurogated.core.clock import to_micros
from neurogated.core.delta import Access, Charge, GraphDelta, NodeChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Filter, field
from neurogated.core.model import MOST_COUNTED, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import SUBJECT
from neurogated.core.scope import ANY_USER, Scope, ScopeFilter
from neurogated.errors import InputError
from neurogated.testing import ManualClock

_USERS = (None, "ana", "bob")
_AGENTS = (None, "robot", "other")
_SESSIONS = (None, "monday", "tuesday")
_PATHS = ((), ("work",), ("work", "notes"), ("home",))
_TAGS = ("red", "用")
_FILTERS = (
    Filter(scope=ScopeFilter()),
    Filter(scope=ScopeFilter("ana")),
    Filter(scope=ScopeFilter("ana", alone=True)),
    Filter(scope=ScopeFilter("ana", session_id="monday")),
    Filter(scope=ScopeFilter("nobody known", alone=True)),
    Filter(scope=ScopeFilter(ANY_USER, path=("work",))),
    Filter(scope=ScopeFilter(ANY_USER, agent_id="robot")),
    Filter(kinds=frozenset({"fact", "policy"})),
    Filter(tags=frozenset({"red"})),
    Filter(tags=frozenset(_TAGS), scope=ScopeFilter("bob")),
    Filter(where=(field("n") >= 2) & ~field("draft").exists()),
    Filter(kinds=frozenset({"fact"}), where=field("n").is_in([1, 3]) | (field("place", "city") == "Lyon")),
)
_SCORE = 1e-9


class ScopesContract(ContractBase):
    """A filtered search has the results of a store that holds only the admitted memories."""

    @PROPERTY
    @given(random=st.randoms(use_true_random=False), which=st.sampled_from(_FILTERS))
    def test_a_filtered_search_finds_what_a_store_of_the_admitted_alone_would(
        self, new_store: NewStore, clock: ManualClock, random: Random, which: Filter
    ) -> None:
        store, alone = new_store(), new_store()
        nodes = [_random_node(random, number) for number in range(random.randint(1, 14))]
        apply(store, clock, nodes=tuple(nodes))
        gone = [one for one in nodes if random.random() < 1 / 5]
        number = apply(store, clock, removed_nodes=tuple(one.id for one in gone))
        nodes = [one for one in nodes if one not in gone]
        admitted = [
            one
            for one in nodes
            if (not which.kinds or one.kind in which.kinds)
            and set(which.tags) <= set(one.tags)
            and (which.scope is None or which.scope.admits(one.scope))
            and (which.where is None or which.where.admits(one.metadata))
        ]
        apply(alone, clock, nodes=tuple(admitted))
        assert [one.id for one in store.snapshot(filters=which).find()] == [one.id for one in admitted]
        _assert_alike(store, alone, which, admitted)
        # A filtered search of the past is not affected by later writes.
        apply(store, clock, nodes=tuple(_random_node(random, len(nodes) + 20 + extra) for extra in range(3)))
        _assert_alike(store.as_of(number), alone, which, admitted)

    def test_no_edge_joins_two_users(self, store: GraphStorePort, clock: ManualClock) -> None:
        apply(store, clock, nodes=(_of("a", "ana"), _of("a2", "ana"), _of("b", "bob"), node("none")))
        apply(store, clock, edges=(edge("a", "a2"),))
        for other in ("b", "none"):
            with pytest.raises(InputError, match="never joined"):
                apply(store, clock, edges=(edge("a", other),))
        with pytest.raises(InputError, match="never joined"):
            apply(store, clock, nodes=(_of("new", "bob"),), edges=(edge("new", "a", EdgeType.SIM),))
        assert not has_node(store, "new")
        assert [one.key for one in all_edges(store)] == [edge("a", "a2").key]

    def test_a_memory_does_not_go_over_to_another_user(self, store: GraphStorePort, clock: ManualClock) -> None:
        apply(store, clock, nodes=(_of("a", "ana"),))
        for scope in (Scope("bob"), Scope()):
            with pytest.raises(InputError, match="cannot move to"):
                apply(store, clock, nodes=(node("a", scope=scope),))
        moved = node("a", scope=Scope("ana", session_id="monday"))
        apply(store, clock, nodes=(moved,))
        assert get_node(store, "a") == moved
        assert [
            one.id for one in store.snapshot(filters=Filter(scope=ScopeFilter("ana", session_id="monday"))).find()
        ] == ["a"]
        # The past still has the memory, so its id stays with its user after the removal.
        apply(store, clock, removed_nodes=("a",))
        with pytest.raises(InputError, match="cannot move to"):
            apply(store, clock, nodes=(_of("a", "bob"),))
        apply(store, clock, nodes=(moved,))
        assert get_node(store, "a") == moved
        with pytest.raises(InputError, match="cannot move to"):
            apply(store, clock, removed_nodes=("a",), nodes=(_of("a", "bob"),))

    def test_the_id_of_a_removed_memory_stays_with_its_user_until_it_is_erased(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        apply(store, clock, nodes=(_of("a", "ana"), _of("b", "ana")))
        apply(store, clock, removed_nodes=("a",))
        again = self.reopened(store)
        with pytest.raises(InputError, match="cannot move to"):
            apply(again, clock, nodes=(_of("a", "bob"),))
        compacting = self.able(again, SupportsCompaction)
        assert compacting.compact() == 1
        apply(again, clock, nodes=(_of("a", "bob"),))
        assert [one.id for one in again.snapshot(filters=Filter(scope=ScopeFilter("bob"))).find()] == ["a"]

    def test_a_touch_sets_the_charges_that_it_names(self, store: GraphStorePort, clock: ManualClock) -> None:
        apply(store, clock, nodes=(node("a", charge=0.5, charged_at=START), node("b"), node("c", charge=0.125)))
        clock.advance(timedelta(hours=1))
        early, late = Charge(0.75, clock() - timedelta(minutes=9)), Charge(0.25, clock())
        apply(store, clock, touch=Access({"a": 1}, charges={"a": early, "gone": late}))
        apply(store, clock, touch=Access(charges={"b": late}))
        found = {one.id: (one.charge, one.charged_at, one.uses) for one in store.all_nodes()}
        assert found == {"a": (*early, 1), "b": (*late, 0), "c": (0.125, START, 0)}
        view = store.view()
        assert view.charge.take(view.rows("abc")).tolist() == [0.75, 0.25, 0.125]
        assert view.charged_at.take(view.rows("abc")).tolist() == list(map(to_micros, (early.at, late.at, START)))

    def test_charges_have_no_past_and_end_with_a_removal(self, store: GraphStorePort, clock: ManualClock) -> None:
        first = apply(store, clock, nodes=(node("a"),))
        apply(store, clock, touch=Access(charges={"a": Charge(0.75, clock())}))
        before = store.history()
        assert get_node(store.as_of(first), "a").charge == 0.75
        apply(store, clock, removed_nodes=("a",))
        apply(store, clock, nodes=(node("a"),))
        assert get_node(store, "a").charge == 0
        assert len(store.history()) == len(before) + 2

    def test_uses_are_counted_up_to_a_bound(self, store: GraphStorePort, clock: ManualClock) -> None:
        apply(store, clock, nodes=(node("a"), node("b", uses=MOST_COUNTED)))
        apply(store, clock, nodes=(node("c"),), touch=Access({"a": 2, "b": 2, "c": 1, "unknown": 5}))
        assert [one.uses for one in store.all_nodes()] == [2, MOST_COUNTED, 1]
        with pytest.raises(InputError):
            Access({"a": 0})
        with pytest.raises(InputError):
            Access({"a": 2**40})

    def test_memories_are_found_in_the_order_that_is_asked_for(self, store: GraphStorePort, clock: ManualClock) -> None:
        nodes = [node(name, importance=importance) for name, importance in (("b", 0.5), ("a", 0.9), ("c", 0.1))]
        apply(store, clock, nodes=tuple(nodes))
        apply(store, clock, node_changes=(NodeChange("c", importance=0.7),))
        assert [one.id for one in store.snapshot().find()] == ["b", "a", "c"]
        assert [one.id for one in store.snapshot().find(order_by="importance")] == ["b", "c", "a"]
        assert [one.id for one in store.snapshot().find(order_by="-importance", limit=1, offset=1)] == ["c"]
        assert [one.id for one in store.snapshot().find(offset=1)] == ["a", "c"]
        with pytest.raises(InputError, match="ordered by"):
            store.snapshot().find(order_by="metadata")

    def test_energy_and_importance_change_without_a_new_version(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        apply(store, clock, nodes=(node("a", at=clock(), base_energy=1.0),))
        before = get_node(store, "a")
        clock.advance(timedelta(days=1))
        number = apply(store, clock, node_changes=(NodeChange("a", 0.25, importance=0.75),), reason="tired")
        now = get_node(store, "a")
        assert (now.base_energy, now.energy_at, now.importance) == (0.25, clock(), 0.75)
        assert (now.content, now.created_at, now.uses) == (before.content, before.created_at, 0)
        entry = store.history()[-1]
        assert (entry.sequence, entry.reason, entry.changes) == (number, "tired", {"nodes changed": 1})
        assert get_node(store.as_of(number - 1), "a").importance == before.importance
        # A new version brings its own energy.
        apply(store, clock, nodes=(node("a", base_energy=0.5),))
        assert get_node(store, "a").base_energy == 0.5

    @pytest.mark.parametrize(
        "delta",
        [
            GraphDelta(node_changes=(NodeChange("a", 0.5), NodeChange("a", importance=0.5))),
            GraphDelta(nodes=(node("a"),), node_changes=(NodeChange("a", 0.5),)),
            GraphDelta(removed_nodes=("a",), node_changes=(NodeChange("a", 0.5),)),
        ],
    )
    def test_a_node_is_changed_once_and_not_beside_a_put(self, store: GraphStorePort, delta: GraphDelta) -> None:
        store.apply(GraphDelta(nodes=(node("a"),)))
        with pytest.raises(InputError):
            store.apply(delta)


def _of(name: str, user: str) -> MemoryNode:
    return node(name, scope=Scope(user))


def _random_node(random: Random, number: int) -> MemoryNode:
    metadata = {"n": number % 4, "place": {"city": random.choice(("Lyon", "Po"))}}
    return node(
        f"{random.choice('xyz')}{number}",
        random.random(),
        random.random(),
        content=" ".join(random.choice(WORDS) for _ in range(4)),
        kind=random.choice(("episode", "fact", "policy")),
        scope=Scope(random.choice(_USERS), random.choice(_AGENTS), random.choice(_SESSIONS), random.choice(_PATHS)),
        tags=random.choice(((), _TAGS[:1], _TAGS)),
        metadata=metadata | ({"draft": True} if random.random() < 1 / 3 else {}),
    )


def _near(found: list[tuple[str, float]]) -> list[tuple[str, float]]:
    return [(name, round(score, 9)) for name, score in found]


def _assert_alike(store: GraphStorePort, alone: GraphStorePort, which: Filter, admitted: Sequence[MemoryNode]) -> None:
    """Compare filtered searches with those of a store that holds only the admitted nodes."""
    view, theirs = store.view(filters=which), alone.view()
    names = [one.id for one in admitted]
    rows, their_rows = view.rows(names), theirs.rows(names)
    for k in (1, 3, len(view.ids) + 1):
        assert _near(nearest(store, [1.0, 0.5], k, view)) == _near(nearest(alone, [1.0, 0.5], k))
        for query in QUERIES:
            assert _near(keyword_search(store, query, k, view)) == _near(keyword_search(alone, query, k))
    for query in QUERIES:
        scores = alone.snapshot(theirs).keyword_scores(query, their_rows).tolist()
        assert store.snapshot(view).keyword_scores(query, rows).tolist() == pytest.approx(scores, abs=_SCORE)
    asked = ["heron", "stone", "lyon", "unknown"]
    subjects = [SUBJECT + one for one in asked]
    assert store.snapshot(view).existing_tags(subjects) == alone.snapshot().existing_tags(subjects)
    assert nodes_with(store, subjects[:1], view=view) == nodes_with(alone, subjects[:1], view=theirs)
    assert nodes_with(store, asked[:1], view=view) == nodes_with(alone, asked[:1], view=theirs)
