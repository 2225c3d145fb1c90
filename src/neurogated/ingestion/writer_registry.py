"""One ingestion engine a graph, however many handles a user has on it."""

from __future__ import annotations

import threading
from weakref import WeakValueDictionary

from neurogated.core.ports import GraphStorePort
from neurogated.ingestion.writer import Writer

__all__ = ["WriterRegistry"]


class WriterRegistry:
    """The engines in use, by namespace; an engine that no handle refers to is forgotten.

    Handles on one graph share its engine, whose lock lets one thread at a time change the texts.
    """

    def __init__(self) -> None:
        self._engines: WeakValueDictionary[str, Writer] = WeakValueDictionary()
        self._lock = threading.Lock()

    def shared(self, namespace: str, store: GraphStorePort, engine: Writer) -> Writer:
        """Return the engine that writes to the graph already, otherwise `engine`, which is remembered."""
        with self._lock:
            known = self._engines.get(namespace)
            if known is not None and known.writes_to(store):
                return known
            self._engines[namespace] = engine
            return engine
