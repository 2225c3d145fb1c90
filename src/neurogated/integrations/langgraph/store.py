"""`NeuroStore` and `AsyncNeuroStore`: a memory as the store of LangGraph."""

import asyncio
import math
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from itertools import chain
from typing import Any, Literal, Self, cast

from langgraph.store.base import (
    NOT_PROVIDED,
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
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
from neurogated.core.node_kind import ITEM
from neurogated.errors import ConfigError
from neurogated.ingestion.items import id_of, item_id
from neurogated.integrations.langgraph.items import (
    ORDERS,
    WHOLE,
    ItemEntry,
    ItemTable,
    Order,
    checked_fields,
    checked_op,
    compiled,
    found_items,
    listed,
    ranked,
    refresh,
)
from neurogated.integrations.langgraph.writing import RAM, ItemWriter, Sources, checked_type, embedder_of, open_memory
from neurogated.memory import NeuroGraphMemory, in_thread
from neurogated.session.runtime import Gathering
from neurogated.session.session import Notice

_SWEEP_MINUTES = 5.0
"""LangGraph's stores sweep as often unless they are told otherwise."""


class NeuroStore(BaseStore):
    """A store of LangGraph over a memory. When a call returns, its writes are on disk.

    Each item is a memory of the kind `item`, whose path is the namespace. A search with a query is a recall. A batch
    reads the state before it and writes all of its items or none.

    Attributes:
        memory: the memory below; its other memories are no items.
        index_config: as given.
        ttl_config: as given; changes of it take effect.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: NeuroGraphMemory | None = None,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        order: Order = "activation",
        user_label: int | None = None,
    ) -> None:
        """Open a store.

        Args:
            memory: where the items are; without it a new one in RAM, which the store closes.
            index: `fields` are the paths of the texts to index (all texts and numbers by default). `embed` and `dims`
                name the embedder of a memory that the store opens; without them it is the memory's own.
            ttl: lifetimes of items. No call of the store or of the memory finds an item that has expired, as if
                `omit_expired` were set, and only reads of the store refresh.
            order: how a search with a query ranks items: `activation` is a recall, `cosine` compares vectors only.
            user_label: the position in a namespace of the label that names a user. Nothing connects the items of two
                users, but a search finds all items under its prefix.

        Raises:
            ConfigError: an argument does not fit.
        """
        super().__init__()
        checked_type("memory", memory, NeuroGraphMemory, "open a folder by NeuroStore.from_conn_string")
        checked_type("user_label", user_label, int, "count the labels of a namespace from 0")
        if order not in ORDERS:
            raise ConfigError(f"order is {order!r}; known are {', '.join(ORDERS)}")
        embedder = embedder_of(index)
        if memory is not None and embedder is not None and memory.session.parts.embedder.name != embedder.name:
            raise ConfigError("the memory has an embedder of its own; leave `embed` out of the index")
        self._owns_memory = memory is None
        self.memory = open_memory(RAM, index) if memory is None else memory
        self.index_config, self.ttl_config = index, ttl
        self.embeddings = embedder and embedder.embeddings
        self.order = order
        self._session = self.memory.session
        self._table = ItemTable(self._session.store, self._session.now)
        self._sweeper: Gathering | None = None
        given: Mapping[str, Any] = index or {}
        self._writer = ItemWriter(
            self._session, (checked_fields(given.get("fields") or given.get("text_fields")) or [WHOLE]), user_label
        )

    @classmethod
    @contextmanager
    def from_conn_string(
        cls,
        conn: str,
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,
        config: MemoryConfig | None = None,
        **options: Any,  # noqa: ANN401 - those of __init__
    ) -> Iterator[Self]:
        """Open a store in a folder, or in RAM for `:memory:`; close it at the end of the block.

        Args:
            conn: the folder, or `:memory:`.
            index: see `NeuroStore`.
            ttl: see `NeuroStore`.
            config: the settings of the memory; from the environment and the defaults when left out.
            **options: other arguments of `NeuroStore`.
        """
        with open_memory(conn, index, config) as memory, cls(memory, index=index, ttl=ttl, **options) as store:
            yield store

    def setup(self) -> None:
        """Do nothing: a memory creates its file when it is opened."""

    def close(self) -> None:
        """Stop the sweeper, and close the memory if the store has opened it."""
        self.stop_ttl_sweeper()
        if self._owns_memory:
            self.memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations. Reads see the state before the batch; its writes are one change, the last of a key wins.

        Raises:
            InvalidNamespaceError: a label is not valid.
            InputError: an operation is not valid. Nothing is written.
        """
        given = [checked_op(op) for op in ops]
        puts = [op for op in given if isinstance(op, PutOp)]
        reads = [op for op in given if not isinstance(op, PutOp)]
        found = iter(self._read_all(reads) if reads else ())
        if puts:
            self._writer.write(puts)
        return [None if isinstance(op, PutOp) else next(found) for op in given]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations as `batch` does, in threads of the memory; searches with a query run side by side."""
        given, session = [checked_op(op) for op in ops], self._session
        reads = {place: op for place, op in enumerate(given) if not isinstance(op, PutOp)}
        alone = [[place] for place, op in reads.items() if isinstance(op, SearchOp) and op.query]
        groups = [*filter(None, [[place for place in reads if [place] not in alone]]), *alone]
        called = (in_thread(session, self._read_all, [given[place] for place in group]) for group in groups)
        found = dict(zip(chain.from_iterable(groups), chain.from_iterable(await asyncio.gather(*called)), strict=True))
        if len(reads) < len(given):
            await in_thread(session, self._writer.write, [op for op in given if isinstance(op, PutOp)])
        return [found.get(place) for place in range(len(given))]

    def put_derived(self, ops: Sequence[PutOp], sources: Sources) -> None:
        """Write items that were derived from other memories, in one change; deleting one of these deletes the item.

        Args:
            ops: the puts and deletions.
            sources: returns the ids of the memories from which items were derived, by the ids of the items. Items
                without an entry are not written. It is called while nothing else can write.
        """
        self._writer.write([op for op in map(checked_op, ops) if isinstance(op, PutOp)], sources)

    def delete_namespace(self, prefix: Sequence[str]) -> int:
        """Delete all items whose namespaces begin with `prefix`, in one change; return how many."""
        checked_op(SearchOp(cast("tuple[str, ...]", prefix)))
        return self._writer.write(
            [PutOp(one.namespace, one.key, None) for one in self._table.page(tuple(prefix), None)]
        )

    def sweep_ttl(self) -> int:
        """Delete the items that have expired, with the other expired memories; return how many items."""
        session, now = self._session, self._session.clock()
        with session.exclusively():
            expired = session.store.get_nodes(session.store.snapshot().expired(now), missing_ok=True)
            session.writer.sweep(now)
        if expired:
            session.notify(Notice("changed"))
        return sum(node.kind == ITEM and item_id(node.id) == node.id for node in expired)

    def start_ttl_sweeper(self, sweep_interval_minutes: float | None = None) -> None:
        """Sweep in a thread, as often as the argument or the configuration says, or every five minutes."""
        self.stop_ttl_sweeper()
        every = sweep_interval_minutes or (self.ttl_config or {}).get("sweep_interval_minutes") or _SWEEP_MINUTES

        def sweep(store: NeuroStore) -> float:
            store.sweep_ttl()
            return every * 60

        self._sweeper = Gathering("ttl-sweeper", "neurogated-ttl-sweeper failed", every * 60, sweep)
        self._sweeper.add(self, 0)

    def stop_ttl_sweeper(self, timeout: float | None = None) -> bool:  # noqa: ARG002 - as in LangGraph's stores
        """Stop the thread of `start_ttl_sweeper`; return True."""
        sweeper, self._sweeper = self._sweeper, None
        if sweeper is not None:
            sweeper.close()
        return True

    def _read_all(self, ops: Sequence[Op]) -> list[Result]:
        with self._session.runtime.work("recalling"):
            return [self._read(op) for op in ops]

    def _read(self, op: Op) -> Result:
        if isinstance(op, GetOp):
            nodes = self._session.store.get_nodes([id_of(op.namespace, op.key)], missing_ok=True)
            now = self._session.now()
            entries = [entry for entry in map(ItemEntry.of, nodes) if entry.is_alive(now)]
            refresh(self._session, entries, wanted=op.refresh_ttl)
            return entries[0].item() if entries else None
        if isinstance(op, ListNamespacesOp):
            return listed(self._table.namespaces(), op)
        op = cast("SearchOp", op)
        prefix, check, end = tuple(op.namespace_prefix), compiled(op.filter), op.offset + op.limit
        found, view = dict[str, float](), None
        if op.query and op.query.strip() and end and self._table.has_items(prefix):
            only_ids = None if check is None else self._table.node_ids(prefix, check)
            found, view = ranked(self._session, op.query, prefix, only_ids=only_ids, order=self.order, most=end)
            if self.order == "cosine" and (self.index_config or {}).get("distance_type") == "l2":
                # The distances of vectors of length 1.
                found = {name: -math.sqrt(max(0.0, 2 - 2 * score)) for name, score in found.items()}
        entries = self._table.page(prefix, check, first=found, most=end, read=view)[op.offset :]
        refresh(self._session, entries, wanted=op.refresh_ttl)
        return found_items(entries, found)


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
