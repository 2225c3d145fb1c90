"""`Family`: the state that the graphs of one memory share in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from functools import partial
from typing import Any, Generic, Protocol, TypeVar
from weakref import WeakValueDictionary, ref

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.contexts import forget_texts
from neurogated.errors import MemoryClosedError
from neurogated.storage.index.graph_index import Follower, GraphIndex
from neurogated.storage.log.log import Blocks, Engine, SupportsErasure, SupportsWaiting, TransactionBlock


class Member(Protocol):
    """One graph of a family, as `LiveGraph` is."""

    closed: bool
    index: GraphIndex
    follower: Follower

    @property
    def is_unloaded(self) -> bool:
        """Whether the index is not in memory."""

    def renew(self) -> None:
        """Reload the index if it is stale."""

    def invalidate(self) -> None:
        """Mark the index as stale."""

    def catch_up(self) -> None:
        """Bring the index up to date."""

    def join(self, block: TransactionBlock | None) -> None:
        """Take part in a transaction."""

    def publish(self) -> None:
        """Show the present state to other threads."""

    def isolate(self) -> None:
        """Hide later changes from other threads."""

    def drop(self) -> None:
        """Erase the graph."""

    def unload(self) -> bool:
        """Release the memory of the index, which is reloaded on its next use; return whether that was possible."""


class OpenGraphs:
    """The graphs whose indexes are in memory, in the order of their last use. Callers hold the lock of the engine.

    The stores of a memory hold it, and it keeps the open graphs alive.
    """

    def __init__(self) -> None:
        self._graphs: dict[Member, None] = {}
        self._latest: Member | None = None

    def __len__(self) -> int:
        return len(self._graphs)

    def __contains__(self, graph: object) -> bool:
        return graph in self._graphs

    def is_latest(self, graph: Member, most: int) -> bool:
        """Return whether a graph was used last, and no more than `most` are open."""
        return graph is self._latest and len(self._graphs) <= most

    def use(self, graph: Member, most: int) -> None:
        """Record the use of an open graph, and unload idle graphs while more than `most` are open."""
        if self.is_latest(graph, most):
            return
        self.discard(graph)
        excess = len(self._graphs) + 1 - most
        for other in list(self._graphs) if excess > 0 else ():
            if excess > 0 and other.unload():
                excess -= 1
        self._graphs[graph] = None
        self._latest = graph

    def discard(self, graph: Member) -> None:
        """Forget a closed graph."""
        self._latest = None
        self._graphs.pop(graph, None)


Graph = TypeVar("Graph", bound=Member)


class Family(Generic[Graph]):
    """The graphs over one engine, as weak references: a cycle would keep a file open until garbage collection."""

    def __init__(self, engine: Engine, config: MemoryConfig) -> None:
        self.engine = engine
        self.config = config
        self.graphs: WeakValueDictionary[str, Graph] = WeakValueDictionary()
        """The open graphs, by namespace."""
        self.stores: WeakValueDictionary[str, Any] = WeakValueDictionary()
        """The stores of the open graphs, one store per graph."""
        self.bound: list[str] = []
        """The name of the embedder of this process; empty if there is none."""
        self.term_texts = 0
        """TERM edges are computed for keywords that at most so many texts have; 0: stored edges only."""
        self.changing = threading.Lock()
        """Held during a transaction. Only a `with` statement releases it no matter where an interrupt strikes."""
        self.blocks = Blocks()
        self.open_graphs: Callable[[], OpenGraphs | None] = lambda: None
        """Returns the graphs whose indexes are in memory; None after the last store is gone."""
        if isinstance(engine, SupportsWaiting):
            engine.while_waiting(partial(_follow, ref(self)))

    def keep_open(self) -> OpenGraphs:
        """Return the shared `OpenGraphs`; every store holds it and so keeps the graphs open."""
        if (graphs := self.open_graphs()) is None:
            graphs = OpenGraphs()
            self.open_graphs = ref(graphs)
        return graphs

    def all(self) -> list[Graph]:
        """Return the open graphs."""
        return list(self.graphs.values())

    def note_closed(self, graph: Graph) -> None:
        """Record that the index of a graph is no longer in memory."""
        if (graphs := self.open_graphs()) is not None:
            graphs.discard(graph)

    def catch_up(self) -> None:
        """Take the writes of other processes into all indexes; the lock is held, but not within a transaction."""
        for graph in self.all():
            # It may have been dropped, which its next caller is told.
            with suppress(MemoryClosedError):
                if not (graph.is_unloaded or graph.closed or self.changing.locked()):
                    graph.catch_up()

    def renew(self) -> None:
        """Reload every index that is stale; an unloaded index is reloaded on its next use."""
        for graph in self.all():
            if not graph.is_unloaded:
                graph.renew()

    def invalidate(self) -> None:
        """Mark all indexes as stale, so that their next use reloads them."""
        for graph in self.all():
            graph.invalidate()

    def drop(self, namespace: str) -> None:
        """Erase an existing graph; an open graph is closed."""
        if (dropped := self.graphs.get(namespace)) is not None:
            dropped.drop()
        self.engine.drop_namespace(namespace)
        self.graphs.pop(namespace, None)
        if dropped is not None:
            dropped.closed = True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block of changes as one transaction; other threads see them when it ends, and nobody else writes."""
        self.renew()
        for graph in self.all():
            if not graph.is_unloaded:
                graph.catch_up()
        with self._apart():
            try:
                with self.blocks.begun(), self.engine.transaction():
                    for graph in self.all():
                        graph.join(self.blocks.innermost)
                    yield
            except BaseException:
                self.renew()
                forget_texts()
                raise

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Hide the changes of the block from other threads."""
        if self.changing.locked():
            yield
            return
        for graph in self.all():
            graph.publish()
        try:
            with self.changing:
                for graph in self.all():
                    # A keyword index built later must not contain uncommitted changes.
                    if graph.index.made_texts is None:
                        graph.isolate()
                yield
        finally:
            for graph in self.all():
                graph.publish()

    def erasing(self) -> AbstractContextManager[object]:
        """Prevent checkpoint writes within the block; enter it before taking the lock of the engine."""
        for graph in self.all():
            graph.follower.cancel()
        return self.engine.erasing() if isinstance(self.engine, SupportsErasure) else nullcontext()

    def close(self) -> None:
        """Release the resources of the graphs and the engine."""
        with self.engine.lock:
            # No checkpoint can be written within a transaction, so waiting for one would deadlock.
            in_transaction = self.changing.locked()
        for graph in self.all():
            graph.follower.cancel() if in_transaction else graph.follower.wait(graph.index)
            graph.index.close()
        for graph in self.all():
            graph.closed = True
        self.engine.close()


def _follow(family: ref[Family[Any]]) -> None:
    if (found := family()) is not None:
        found.catch_up()
