"""`AsyncNeuroStore`: the asynchronous store, which gathers concurrent calls into batches."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any, Literal, Self

from langgraph.store.base import (
    NOT_PROVIDED,
    GetOp,
    IndexConfig,
    Item,
    NotProvided,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)
from langgraph.store.base.batch import AsyncBatchedBaseStore
from typing_extensions import override

from neurogated.config.memory_config import MemoryConfig
from neurogated.integrations.langgraph.embedding import open_memory
from neurogated.integrations.langgraph.operations import checked_op
from neurogated.integrations.langgraph.store import NeuroStore
from neurogated.memory import NeuroGraphMemory


class _Gathering(AsyncBatchedBaseStore):
    """Gathers the calls that arrive while a batch runs into the next batch."""

    supports_ttl = True

    def __init__(self, store: NeuroStore) -> None:
        super().__init__()
        self.store, self.ttl_config = store, store.ttl_config

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return await self.store.abatch(ops)


class AsyncNeuroStore(_Gathering):
    """`NeuroStore` with coroutines. Create it in the event loop; its other methods are for other threads.

    Concurrent writes are one change of the graph, and those of one key follow the order of the calls. Reads do not wait
    for writes, and searches with a query run side by side.

    Attributes:
        store: the same store without coroutines.
    """

    def __init__(self, memory: NeuroGraphMemory | NeuroStore | None = None, **options: Any) -> None:  # noqa: ANN401
        """Open a store; see `NeuroStore` for the options.

        Args:
            memory: where the items are, or a store; without it a new one in RAM, which the store closes.
            **options: of `NeuroStore`.
        """
        super().__init__(memory if isinstance(memory, NeuroStore) else NeuroStore(memory, **options))
        self.memory, self.index_config = self.store.memory, self.store.index_config
        self.embeddings = self.store.embeddings
        self._writes = _Gathering(self.store)

    @classmethod
    @asynccontextmanager
    async def from_conn_string(
        cls,
        conn: str,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        config: MemoryConfig | None = None,
        **options: Any,  # noqa: ANN401
    ) -> AsyncIterator[Self]:
        """Open a store in a folder, or in RAM for `:memory:`; see `NeuroStore.from_conn_string`."""
        memory = await asyncio.to_thread(open_memory, conn, index, config)
        async with memory.aio, cls(memory, index=index, ttl=ttl, **options) as store:
            yield store

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop the sweeper, and close the memory if the store has opened it."""
        await asyncio.to_thread(self.store.close)

    async def setup(self) -> None:
        """Do nothing: a memory creates its file when it is opened."""

    @override
    async def asearch(
        self,
        namespace_prefix: tuple[str, ...],
        /,
        *,
        query: str | None = None,
        filter: dict[str, Any] | None = None,
        limit: int = 10,
        offset: int = 0,
        refresh_ttl: bool | None = None,
    ) -> list[SearchItem]:
        # An operation that is not valid would fail the calls that are gathered with it.
        checked_op(SearchOp(namespace_prefix, filter, limit, offset, query))
        options: dict[str, Any] = {"filter": filter, "limit": limit, "offset": offset, "refresh_ttl": refresh_ttl}
        search = self.store.asearch if query else super().asearch
        return await search(namespace_prefix, query=query, **options)

    @override
    async def aput(
        self,
        namespace: tuple[str, ...],
        key: str,
        value: Mapping[str, Any],
        index: Literal[False] | list[str] | None = None,
        *,
        ttl: float | NotProvided | None = NOT_PROVIDED,
    ) -> None:
        checked_op(PutOp(namespace, key, value, index, None if isinstance(ttl, NotProvided) else ttl))
        await self._writes.aput(namespace, key, value, index, ttl=ttl)

    @override
    async def aget(self, namespace: tuple[str, ...], key: str, *, refresh_ttl: bool | None = None) -> Item | None:
        checked_op(GetOp(namespace, key))
        return await super().aget(namespace, key, refresh_ttl=refresh_ttl)

    @override
    async def adelete(self, namespace: tuple[str, ...], key: str) -> None:
        checked_op(PutOp(namespace, key, None))
        await self._writes.adelete(namespace, key)

    async def sweep_ttl(self) -> int:
        """Delete the items that have expired; return how many."""
        return await asyncio.to_thread(self.store.sweep_ttl)

    async def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Sweep in a thread; see `NeuroStore.start_ttl_sweeper`."""
        self.store.start_ttl_sweeper(sweep_interval_minutes)

    async def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109 - as in LangGraph's stores
        """Stop the thread of `start_ttl_sweeper`; return True."""
        return await asyncio.to_thread(self.store.stop_ttl_sweeper, timeout)
