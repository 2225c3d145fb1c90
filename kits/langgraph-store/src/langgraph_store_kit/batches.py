"""Batches of operations, and the asynchronous interface."""

import asyncio
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, SearchOp

from langgraph_store_kit.base import DOCS, StoreContractBase, fill, found, keys, value_of

BAD_OPERATIONS: tuple[Any, ...] = (
    None,
    PutOp(("a.b",), "bad", {"n": 1}),
    PutOp(DOCS, "bad", {"n": "\0"}),
    PutOp(DOCS, "bad", {"n": object()}),
)


class BatchContract(StoreContractBase):
    """`batch`: several operations at once."""

    def test_results_are_in_the_order_of_the_operations(self, store: BaseStore) -> None:
        """Each operation of a mixed batch has its result at its place; that of a put is None."""
        fill(store, {"a": {"n": 1}, "b": {"n": 2}})
        ops: list[Op] = [
            SearchOp(DOCS),
            GetOp(DOCS, "b"),
            PutOp(DOCS, "c", {"n": 3}),
            ListNamespacesOp(),
            GetOp(DOCS, "a"),
        ]
        searched, second, put, listed, first = store.batch(ops)
        assert isinstance(searched, list)
        assert len(searched) == 2
        assert isinstance(first, Item)
        assert isinstance(second, Item)
        assert (second.key, put, listed, first.key) == ("b", None, [DOCS], "a")

    def test_reads_of_a_batch_see_the_state_before_it(self, store: BaseStore) -> None:
        """LangGraph's stores read before they write, whatever the order of the operations."""
        store.put(DOCS, "old", {"n": 1})
        put, delete = PutOp(DOCS, "new", {"n": 2}), PutOp(DOCS, "old", None)
        ops: list[Op] = [put, delete, GetOp(DOCS, "new"), GetOp(DOCS, "old"), SearchOp(DOCS), ListNamespacesOp()]
        _, _, new, old, searched, listed = store.batch(ops)
        assert new is None
        assert old is not None
        assert keys(searched) == ["old"]  # type: ignore[arg-type]
        assert listed == [DOCS]
        assert found(store) == ["new"]

    def test_the_last_put_of_a_key_wins(self, store: BaseStore) -> None:
        """Puts and deletes of one key are applied in their order."""
        store.batch([PutOp(DOCS, "a", {"n": 1}), PutOp(DOCS, "b", {"n": 1}), PutOp(DOCS, "a", {"n": 2})])
        assert value_of(store, "a") == {"n": 2}
        store.batch([PutOp(DOCS, "a", {"n": 3}), PutOp(DOCS, "a", None)])
        store.batch([PutOp(DOCS, "b", None), PutOp(DOCS, "b", {"n": 4})])
        assert value_of(store, "a") is None
        assert value_of(store, "b") == {"n": 4}

    def test_equal_reads_of_a_batch_all_have_results(self, store: BaseStore) -> None:
        """The same operation twice is two results, which share no objects."""
        store.put(DOCS, "a", {"list": []})
        first, second = store.batch([GetOp(DOCS, "a"), GetOp(DOCS, "a")])
        assert isinstance(first, Item)
        assert isinstance(second, Item)
        first.value["list"].append(1)
        assert second.value == {"list": []}

    def test_a_failed_batch_changes_nothing(self, store: BaseStore) -> None:
        """If one operation is refused, no other is applied."""
        good = [PutOp(DOCS, "new", {"n": 2}), PutOp(DOCS, "old", None)]
        for bad in BAD_OPERATIONS:
            for ops in ([*good, bad], [bad, *good]):
                store.batch([PutOp(DOCS, "old", {"n": 1}), PutOp(DOCS, "new", None), PutOp(DOCS, "bad", None)])
                try:
                    store.batch(ops)
                except Exception:  # noqa: BLE001 - stores raise errors of their drivers
                    assert found(store) == ["old"]


class AsyncContract(StoreContractBase):
    """The coroutines of a store."""

    def test_coroutines_do_what_the_methods_do(self, async_store: BaseStore) -> None:
        """aput, aget, asearch, alist_namespaces and adelete have the results of their namesakes."""

        async def calls() -> None:
            await async_store.aput(("docs", "a"), "one", {"n": 1, "text": "x"})
            await async_store.aput(("docs", "b"), "two", {"n": 2})
            item = await async_store.aget(("docs", "a"), "one")
            assert item is not None
            assert item.value == {"n": 1, "text": "x"}
            assert keys(await async_store.asearch(("docs",), filter={"n": {"$gt": 1}})) == ["two"]
            assert await async_store.alist_namespaces(prefix=("docs",), max_depth=1) == [("docs",)]
            await async_store.adelete(("docs", "a"), "one")
            assert await async_store.aget(("docs", "a"), "one") is None

        self.run(calls())
        assert value_of(async_store, "two", ("docs", "b")) == {"n": 2}

    def test_abatch_has_the_semantics_of_batch(self, async_store: BaseStore) -> None:
        """Reads see the state before, the last put wins, and results are in order."""
        ops: list[Op] = [GetOp(DOCS, "a"), PutOp(DOCS, "a", {"n": 1}), PutOp(DOCS, "a", {"n": 2}), SearchOp(DOCS)]
        assert self.run(async_store.abatch(ops)) == [None, None, None, []]
        assert value_of(async_store, "a") == {"n": 2}

    def test_a_failing_call_fails_alone(self, async_store: BaseStore) -> None:
        """A refused put does not fail the puts beside it."""

        async def calls() -> list[Any]:
            puts = [async_store.aput(namespace, "one", {"n": 1}) for namespace in (("a",), ("b.c",), ("d",))]
            return await asyncio.gather(*puts, return_exceptions=True)

        assert [isinstance(result, ValueError) for result in self.run(calls())] == [False, True, False]
        assert sorted(async_store.list_namespaces()) == [("a",), ("d",)]
