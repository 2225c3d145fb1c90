"""What the graphs of one memory share in this process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, ref

from neurogated.config.memory_config import MemoryConfig
from neurogated.storage.log.block import Blocks
from neurogated.storage.log.log import Engine, SupportsErasure
from neurogated.storage.open_graphs import OpenGraphs

if TYPE_CHECKING:
    from neurogated.storage.graph_store import GraphStore
    from neurogated.storage.live_graph import LiveGraph

__all__ = ["Family"]


class Family:
    """The graphs over one engine. It keeps none of them: a cycle would hold a file open until the collector runs."""

    def __init__(self, engine: Engine, config: MemoryConfig) -> None:
        self.engine = engine
        self.config = config
        self.graphs: WeakValueDictionary[str, LiveGraph] = WeakValueDictionary()
        """The graphs in use, by namespace."""
        self.stores: WeakValueDictionary[str, GraphStore] = WeakValueDictionary()
        """Their stores, of which a graph has one at a time."""
        self.bound: list[str] = []
        """The name of the embedder that this process works with, none while there is none."""
        self.changing = threading.Lock()
        """Held while in a transaction; only a `with` statement releases it wherever an interrupt strikes."""
        self.blocks = Blocks()
        self.open_graphs: Callable[[], OpenGraphs | None] = lambda: None
        """Returns which graphs have their indexes in memory; None once no store is left."""

    def keep_open(self) -> OpenGraphs:
        """Return what keeps graphs open, which every store holds."""
        if (graphs := self.open_graphs()) is None:
            graphs = OpenGraphs()
            self.open_graphs = ref(graphs)
        return graphs

    def all(self) -> list[LiveGraph]:
        """Return the graphs in use."""
        return list(self.graphs.values())

    def renew(self) -> None:
        """Load all indexes again that are not right; those that were let go of are loaded on their next use."""
        for graph in self.all():
            if not graph.is_unloaded:
                graph.renew()

    def invalidate(self) -> None:
        """Let all indexes be loaded again before they are used."""
        for graph in self.all():
            graph.invalidate()

    def drop(self, namespace: str) -> None:
        """Erase a graph that there is; one that is open can no longer be used."""
        if (dropped := self.graphs.get(namespace)) is not None:
            dropped.drop()
        self.engine.drop_namespace(namespace)
        self.graphs.pop(namespace, None)
        if dropped is not None:
            dropped.closed = True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block of changes as one, which other threads see when it has ended; nobody else writes meanwhile."""
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
                raise

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Show other threads nothing of what is changed in the block."""
        if self.changing.locked():
            yield
            return
        for graph in self.all():
            graph.publish()
        try:
            with self.changing:
                for graph in self.all():
                    # Keywords that are made later must not be made of what is being changed.
                    if graph.index.made_texts is None:
                        graph.isolate()
                yield
        finally:
            for graph in self.all():
                graph.publish()

    def erasing(self) -> AbstractContextManager[object]:
        """Let nobody keep indexes on disk within the block; to be entered before the lock is taken."""
        for graph in self.all():
            graph.follower.cancel()
        return self.engine.erasing() if isinstance(self.engine, SupportsErasure) else nullcontext()

    def close(self) -> None:
        """Release what the graphs and the engine hold."""
        with self.engine.lock:
            # Within a transaction nothing can be kept, and who waits for it would wait for ever.
            in_transaction = self.changing.locked()
        for graph in self.all():
            graph.follower.cancel() if in_transaction else graph.follower.wait(graph.index)
            graph.index.close()
        for graph in self.all():
            graph.closed = True
        self.engine.close()
