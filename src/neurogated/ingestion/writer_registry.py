"""A registry that shares one writer among all handles of a graph."""

from __future__ import annotations

import threading
from weakref import WeakValueDictionary

from neurogated.core.ports import GraphStorePort
from neurogated.ingestion.writer import Writer

__all__ = ["WriterRegistry"]


class WriterRegistry:
    """The writers in use, by namespace. The registry holds weak references, so it drops writers without a handle.

    Handles of one graph share its writer. The writer's lock lets one thread at a time change the texts.
    """

    def __init__(self) -> None:
        self._writers: WeakValueDictionary[str, Writer] = WeakValueDictionary()
        self._lock = threading.Lock()

    def shared(self, namespace: str, store: GraphStorePort, writer: Writer) -> Writer:
        """Return the registered writer of the graph; if there is none, register and return `writer`."""
        with self._lock:
            known = self._writers.get(namespace)
            if known is not None and known.writes_to(store):
                return known
            self._writers[namespace] = writer
            return writer
