"""The contract of closing, the embedder, durability, checks, compaction, transactions and threads."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from random import Random
from threading import Barrier, Event
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given

from graph_store_kit.contract.base import NewStore, apply, assert_shows, assert_tells
from graph_store_kit.contract.history import assert_searched_alike, found_by, live_through, replayed
from graph_store_kit.contract.namespaces import ADVERSARIAL, NamespacesContract
from graph_store_kit.contract.writing import PROPERTY, three_nodes
from graph_store_kit.histories import edge, node
from graph_store_kit.model import GraphModel
from graph_store_kit.reads import all_edges, get_edge, get_node, has_node, keyword_search, nearest
from neurogated.core.abilities import (
    SupportsCheck,
    SupportsCompaction,
    SupportsNamespaces,
)
from neurogated.core.delta import Access, GraphDelta, NodeChange, PendingTask, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey
from neurogated.core.ports import GraphStorePort
from neurogated.errors import EmbedderMismatchError, InputError, MemoryClosedError
from neurogated.testing import ManualClock

_WORKERS = 4
_STEPS = 12
_NEW_TYPE = EdgeType.register("KIT_LINK", "link of the kit's", plastic=True, both_ways=False)


class _Failed(Exception):  # noqa: N818 - not an error: the test raises it
    """The exception that a block of changes raises."""


class AbilitiesContract(NamespacesContract):
    """Closing and the embedder for all stores; durability, erasure, checks, transactions and threads by ability."""

    # Every store

    def test_the_embedder_is_recorded_once_and_compared(self, store: GraphStorePort) -> None:
        store.bind_embedder("one", None)
        recorded = [store.embedder]
        store.bind_embedder("one", 2)
        store.bind_embedder("one", None)
        assert [*recorded, store.embedder] == [None, ("one", 2)]
        with pytest.raises(EmbedderMismatchError, match=r"'one' \(dimension 2\).*'two' \(dimension 3\)"):
            store.bind_embedder("two", 3)
        with pytest.raises(EmbedderMismatchError, match=r"dimension 2.*dimension 3"):
            store.bind_embedder("one", 3)
        assert store.embedder == ("one", 2)

    def test_whether_it_learns_is_kept(self, store: GraphStorePort) -> None:
        spaces = self.spaces(store)
        assert not spaces.is_frozen()
        for frozen in (True, True, False, False, True):
            spaces.record_frozen(frozen=frozen)
            assert spaces.is_frozen() == frozen
        assert self.spaces(spaces.in_namespace("other")).is_frozen()
        with pytest.raises(_Failed), spaces.transaction():  # noqa: PT012 - the whole block is under test
            spaces.record_frozen(frozen=False)
            raise _Failed
        assert spaces.is_frozen()

    def test_places_with_copies_are_kept(self, store: GraphStorePort) -> None:
        spaces = self.spaces(store)
        for place in ("redis://b", "redis://a", "redis://a"):
            spaces.record_copy(place)
        assert self.spaces(spaces.in_namespace("other")).copies() == ["redis://a", "redis://b"]
        spaces.record_copy("redis://a", exists=False)
        assert spaces.copies() == ["redis://b"]

    def test_a_closed_store_says_so(self, store: GraphStorePort, clock: ManualClock) -> None:
        three_nodes(store)
        view = store.view()
        graphs = [store]
        if isinstance(store, SupportsNamespaces):
            graphs.append(store.in_namespace("other"))
        assert not store.closed
        store.close()
        store.close()
        for closed in graphs:
            assert closed.closed
            uses: tuple[Callable[[], object], ...] = (
                closed.view,
                closed.pending,
                lambda closed=closed: apply(closed, clock, nodes=(node("x"),)),  # type: ignore[misc]
                lambda closed=closed: nearest(closed, [1.0, 0.0], 1),  # type: ignore[misc]
                lambda closed=closed: keyword_search(closed, "text", 1),  # type: ignore[misc]
                lambda closed=closed: list(closed.all_nodes()),  # type: ignore[misc]
                lambda closed=closed: closed.as_of(1),  # type: ignore[misc]
            )
            for use in uses:
                with pytest.raises(MemoryClosedError):
                    use()
        # A view is a value and stays valid.
        assert view.find("a") is not None

    # Durability

    @pytest.mark.parametrize("way", ["reopen", "kill"])
    def test_all_there_is_comes_back(self, store: GraphStorePort, clock: ManualClock, way: str) -> None:
        again: Callable[[GraphStorePort], GraphStorePort] = {"reopen": self.reopened, "kill": self.killed}[way]
        store.bind_embedder("one", 2)
        model = three_nodes(store)
        moments = [(store.view().sequence, model.copy())]
        clock.advance(timedelta(hours=1))
        key = EdgeKey("a", "b", EdgeType.SEQ)
        for changes in (
            {"edges": (edge("c", "a", _NEW_TYPE, 0.1),), "reason": "一"},
            {"nodes": (node("m", expires_at=clock() + timedelta(hours=1), valid_to=clock(), metadata={"x": [1]}),)},
            {"weights": (WeightChange(key, 0.3),), "queued": (PendingTask("cause", ("a", "b")),)},
            {"touch": Access.of(frozenset("a"), frozenset({key}))},
            {"removed_nodes": ("b",)},
        ):
            delta = GraphDelta(at=clock(), **changes)
            number = store.apply(delta)
            model.apply(delta)
            moments.append((number, model.copy()))
        told, found = (store.history(), list(store.journal()), store.view().sequence), found_by(store)
        store = again(store)
        assert_tells(store, model)
        assert store.pending() == list(model.waiting)
        assert get_edge(store, "c", "a").type is _NEW_TYPE
        assert (store.history(), list(store.journal()), store.view().sequence) == told
        assert_searched_alike(store, found)
        assert store.embedder == ("one", 2)
        for number, then in moments:
            assert_tells(store.as_of(number), then, past=True)
        assert_shows(store.view(valid_at=clock()), model.at(clock(), clock()))
        clock.advance(timedelta(hours=1))
        assert_tells(store, model, now=clock())
        assert apply(store, clock, nodes=(node("z"),)) > number

    @pytest.mark.parametrize("way", ["reopen", "kill"])
    def test_every_namespace_comes_back(self, store: GraphStorePort, clock: ManualClock, way: str) -> None:
        again: Callable[[GraphStorePort], GraphStorePort] = {"reopen": self.reopened, "kill": self.killed}[way]
        spaces = self.spaces(store)
        for name in ADVERSARIAL:
            apply(spaces.in_namespace(name), clock, nodes=(node("shared", content=name),))
        dropped = ADVERSARIAL[0]
        spaces.drop_namespace(dropped)
        names = spaces.namespaces()
        spaces = self.spaces(again(store))
        assert spaces.namespaces() == names
        for name in ADVERSARIAL[1:]:
            assert [one.content for one in spaces.in_namespace(name).all_nodes()] == [name]
        assert list(spaces.in_namespace(dropped).all_nodes()) == []

    def test_what_was_refused_is_not_there_when_opened_again(self, store: GraphStorePort, clock: ManualClock) -> None:
        model = three_nodes(store)
        with pytest.raises(ValueError, match="nowhere"):
            apply(store, clock, nodes=(node("x"),), edges=(edge("x", "nowhere"),), removed_nodes=("a",))
        assert_tells(self.reopened(store), model)

    # Checks

    def test_a_sound_store_finds_nothing_wrong_with_itself(self, store: GraphStorePort, clock: ManualClock) -> None:
        checked: SupportsCheck = self.able(store, SupportsCheck)
        assert checked.check() == []
        live_through(store, Random(7), clock, 20)
        assert checked.check() == []

    # Erasure

    @given(random=st.randoms(use_true_random=False), deltas=st.integers(0, 12))
    @PROPERTY
    def test_compaction_erases_removed_nodes_and_leaves_the_rest(
        self, new_store: NewStore, clock: ManualClock, random: Random, deltas: int
    ) -> None:
        store = new_store()
        compacted: SupportsCompaction = self.able(store, SupportsCompaction)
        moments = live_through(store, random, clock, deltas)
        now = moments[-1]
        there = [set(moment.model.nodes) for moment in moments]
        erased = set().union(*there) - there[-1]
        waiting = [task for task in now.model.waiting if not set(task.nodes) & erased]
        assert compacted.compact() == len(erased)
        assert_tells(store, now.model)
        assert_searched_alike(store, now.found)
        assert [task for task in store.pending() if not set(task.nodes) & erased] == waiting
        for entry in store.journal():
            named = {one.id for one in entry.delta.nodes} | set(entry.delta.removed_nodes)
            named |= {end for one in entry.delta.edges for end in one.key[:2]}
            assert not named & erased
        assert_tells(replayed(store, clock), now.model, past=True)
        # Before its last removal, a node that was put again is erased, too.
        for place, moment in enumerate(moments[1:], 1):
            lost = {name for name in there[place] if not all(name in names for names in there[place:])}
            assert_tells(store.as_of(moment.number), moment.model.without(lost), past=True)
        assert compacted.compact() == 0

    def test_compaction_erases_what_was_before_a_removal_and_what_was_derived_from_it(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        compacted: SupportsCompaction = self.able(store, SupportsCompaction)
        source, other = (edge("derived", name, EdgeType.DERIVED_FROM) for name in ("a", "b"))
        far = edge("far", "derived", EdgeType.DERIVED_FROM)
        told: dict[str, Any] = {"content": "old secret", "embedding": (0.0, 1.0)}
        apply(store, clock, nodes=(node("a", **told), node("b"), node("derived", content="kept"), node("far")))
        apply(store, clock, nodes=(node("derived", **told), node("far", **told)), edges=(source, other, far))
        apply(
            store, clock, node_changes=(NodeChange("derived", 0.3, clock()),), touch=Access.of(frozenset({"derived"}))
        )
        apply(store, clock, removed_nodes=("a",), nodes=(node("derived", content="of b"), node("far", content="of b")))
        last = apply(store, clock, nodes=(node("a", content="new"),))
        present = {one.id: one for one in store.all_nodes()}, {one.key: one for one in all_edges(store)}
        told_of = store.history()
        assert compacted.compact() == 0
        for kept in (store, replayed(store, clock)):
            assert {one.id: one.content for one in kept.all_nodes()} == {
                "a": "new", "b": "text of b", "derived": "of b", "far": "of b",
            }  # fmt: skip
        assert ({one.id: one for one in store.all_nodes()}, {one.key: one for one in all_edges(store)}) == present
        assert store.history() == told_of
        texts = {one.content for entry in store.journal() for one in entry.delta.nodes}
        assert texts == {"new", "kept", "of b", "text of b", "text of far"}
        past = {one.id: one.content for one in store.as_of(last - 1).all_nodes()}
        assert past == {"b": "text of b", "derived": "of b", "far": "of b"}
        assert compacted.compact() == 0

    def test_compaction_keeps_to_what_was_removed(self, store: GraphStorePort, clock: ManualClock) -> None:
        compacted: SupportsCompaction = self.able(store, SupportsCompaction)
        model = three_nodes(store)
        assert compacted.compact() == 0
        assert_tells(store, model)
        view = store.view()
        apply(store, clock, removed_nodes=("b",))
        assert compacted.compact() == 1
        assert_shows(view, model)
        assert [one.id for one in store.all_nodes()] == ["a", "c"]
        apply(store, clock, nodes=(node("b", content="again"),))
        assert get_node(store, "b").content == "again"

    def test_compaction_with_history_leaves_the_present_version_alone(
        self, store: GraphStorePort, clock: ManualClock
    ) -> None:
        compacted: SupportsCompaction = self.able(store, SupportsCompaction)
        first = apply(store, clock, nodes=(node("a", content="old words"), node("b")), edges=(edge("a", "b"),))
        clock.advance(timedelta(hours=1))
        removed = apply(store, clock, removed_nodes=("b",), touch=Access.of(frozenset({"a"})))
        clock.advance(timedelta(hours=1))
        apply(store, clock, nodes=(node("a", content="new words", embedding=(0.0, 1.0)), node("b", content="again")))
        apply(store, clock, edges=(edge("b", "a"),), nodes=(node("c", content="secret"),))
        apply(store, clock, removed_nodes=("c",))
        present, told = [list(store.all_nodes()), all_edges(store)], store.history()
        assert compacted.compact(history=True) == 1
        assert [list(store.all_nodes()), all_edges(store)] == present
        assert store.history() == told
        for number in (first, removed):
            assert [one.content for one in store.as_of(number).all_nodes()] == ["new words"]
            assert all_edges(store.as_of(number)) == []
        texts = [one.content for entry in store.journal() for one in entry.delta.nodes]
        assert texts == ["new words", "again"]
        assert keyword_search(store, "old secret", 9) == []
        assert compacted.compact(history=True) == 0

    def test_compaction_erases_in_every_namespace(self, store: GraphStorePort, clock: ManualClock) -> None:
        compacted: SupportsCompaction = self.able(store, SupportsCompaction)
        other = self.spaces(store).in_namespace("other")
        for space in (store, other):
            apply(space, clock, nodes=(node("a"), node("b")))
            apply(space, clock, removed_nodes=("a",))
        assert compacted.compact() == 2
        for space in (store, other):
            assert [[one.id for one in entry.delta.nodes] for entry in space.journal()] == [["b"], []]
            assert has_node(space, "b")

    def test_compaction_is_no_part_of_a_block(self, store: GraphStorePort, clock: ManualClock) -> None:
        compacted: SupportsCompaction = self.able(store, SupportsCompaction)
        block = self.spaces(store)
        three_nodes(store)
        with pytest.raises(InputError), block.transaction():
            compacted.compact()
        apply(store, clock, removed_nodes=("a",))
        assert compacted.compact() == 1

    # Transactions

    def test_a_block_that_raises_was_never_made(self, store: GraphStorePort, clock: ManualClock) -> None:
        block = self.spaces(store)
        model = three_nodes(store)
        before = (store.view().sequence, store.history(), store.pending(), found_by(store))
        with pytest.raises(_Failed), block.transaction():  # noqa: PT012 - the whole block is under test
            apply(store, clock, nodes=(node("x"),), queued=(PendingTask("cause", ("x",)),))
            apply(store, clock, removed_nodes=("a",), edges=(edge("x", "b"),))
            assert has_node(store, "x")
            raise _Failed
        assert_tells(store, model)
        assert (store.view().sequence, store.history(), store.pending(), found_by(store)) == before
        with block.transaction():
            apply(store, clock, nodes=(node("x"),))
            apply(store, clock, edges=(edge("x", "b"),))
        assert get_edge(store, "x", "b").weight == 0.5

    # Threads

    def test_threads_may_write_and_read_at_once(self, store: GraphStorePort, clock: ManualClock) -> None:
        self.require_threads()
        apply(store, clock, nodes=(node("hub"),))
        start = Barrier(_WORKERS)

        def work(worker: int) -> None:
            start.wait()
            for step in range(_STEPS):
                name = f"{worker}-{step}"
                apply(store, clock, nodes=(node(name, 1.0, float(step)),), edges=(edge(name, "hub"),))
                assert get_node(store, name).id == name
                assert len(nearest(store, [1.0, 1.0], 3)) <= 3
                assert name in dict(keyword_search(store, f"text {worker} {step}", 999))
                apply(store, clock, weights=(WeightChange(EdgeKey(name, "hub", EdgeType.SEQ), 0.25),))
                if step % 3 == 0:
                    apply(store, clock, removed_nodes=(name,))

        _run(work)
        kept = {f"{worker}-{step}" for worker in range(_WORKERS) for step in range(_STEPS) if step % 3}
        assert {one.id for one in store.all_nodes()} == kept | {"hub"}
        assert {(one.key[:2], one.weight) for one in all_edges(store)} == {((name, "hub"), 0.25) for name in kept}
        assert {name for name, _ in nearest(store, [1.0, 0.0], 999)} == kept | {"hub"}
        numbers = [entry.sequence for entry in store.journal()]
        assert numbers == sorted(set(numbers))
        model = GraphModel()
        for entry in store.journal():
            model.apply(entry.delta)
        assert_tells(store, model, past=True)

    def test_a_view_holds_whole_deltas_whenever_it_is_taken(self, store: GraphStorePort, clock: ManualClock) -> None:
        self.require_threads()
        start, written = Barrier(_WORKERS), Event()

        def write() -> None:
            for step in range(2 * _STEPS):
                pair = (node(f"{step} left"), node(f"{step} right"))
                apply(store, clock, nodes=pair, edges=(edge(pair[0].id, pair[1].id),))
                if step % 2:
                    apply(store, clock, removed_nodes=(f"{step - 1} left", f"{step - 1} right"))

        def read() -> None:
            last = 0
            while not written.is_set():
                view = store.view()
                assert view.sequence >= last
                last = view.sequence
                _assert_whole_pairs(view.live_nodes().size, [view.edge_key(row) for row in view.live_edges().tolist()])
                edges = all_edges(store)
                _assert_whole_pairs(2 * len(edges), [one.key for one in edges])
                assert len(list(store.all_nodes())) % 2 == 0
                assert len(nearest(store, [1.0, 0.0], 2)) <= 2

        def work(worker: int) -> None:
            start.wait()
            if worker:
                read()
                return
            try:
                write()
            finally:
                written.set()

        _run(work)
        assert len(list(store.all_nodes())) == 2 * _STEPS


def _assert_whole_pairs(nodes: int, edges: list[EdgeKey]) -> None:
    assert nodes == 2 * len(edges)
    for key in edges:
        assert key.source_id.split()[0] == key.target_id.split()[0]


def _run(work: Callable[[int], None]) -> None:
    """Run `work` in several threads at once; raise the error of one of them."""
    with ThreadPoolExecutor(_WORKERS) as pool:
        for done in [pool.submit(work, worker) for worker in range(_WORKERS)]:
            done.result()
