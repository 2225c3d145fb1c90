"""What the graphs of one memory share in this process."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary, ref

from neurogated.storage.log.block import Blocks

if TYPE_CHECKING:
    from neurogated.storage.graph_store import GraphStore
    from neurogated.storage.open_graphs import OpenGraphs

__all__ = ["Family"]


class Family:
    """The stores over one engine. It keeps none of them: a cycle would hold a file open until the collector runs."""

    def __init__(self, open_graphs: OpenGraphs) -> None:
        """Share `open_graphs`, which the first store keeps."""
        self.stores: WeakValueDictionary[str, GraphStore] = WeakValueDictionary()
        """The stores in use, by namespace."""
        self.bound: list[str] = []
        """The name of the embedder that this process works with, none while there is none."""
        self.transaction = threading.Lock()
        """Held while in a transaction; only a `with` statement releases it wherever an interrupt strikes."""
        self.blocks = Blocks()
        self._open_graphs = ref(open_graphs)

    @property
    def open_graphs(self) -> OpenGraphs | None:
        """Which graphs have their indexes in memory; None once the first store is gone."""
        return self._open_graphs()
