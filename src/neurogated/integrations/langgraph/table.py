"""The items of a store in memory: a projection of the graph, for filters, lists and lifetimes."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Iterable, Sequence

import numpy as np

from neurogated.core.abilities import SupportsIdentity, SupportsTouched
from neurogated.core.filters import Filter
from neurogated.core.node_kind import ITEM
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import ANY_USER, ScopeFilter
from neurogated.integrations.langgraph.filters import Check
from neurogated.integrations.langgraph.items import Entry, Namespace, item_id

Alive = Callable[[Entry, int], bool]
"""Tells whether an item is shown, given its last use."""


class ItemTable:
    """All items of a graph. It follows the writes of all threads and processes when it is read."""

    def __init__(self, store: GraphStorePort) -> None:
        self._store = store
        self._lock = threading.RLock()
        self._entries: dict[str, Entry] = {}
        self._namespaces: dict[Namespace, dict[str, Entry]] = {}
        self._known: tuple[object, int] | None = None

    def matching(self, prefix: Namespace, check: Check | None, alive: Alive | None) -> list[Entry]:
        """Return the items under a prefix that pass a filter and are alive."""
        with self._lock:
            self._catch_up()
            found = [
                entry
                for namespace, entries in self._namespaces.items()
                if namespace[: len(prefix)] == prefix
                for entry in entries.values()
                if check is None or check(entry.value)
            ]
            if alive is None or not (dead := {entry.id for entry in self._dead(found, alive)}):
                return found
            return [entry for entry in found if entry.id not in dead]

    def expired(self, alive: Alive) -> list[Entry]:
        """Return the items that are no longer alive."""
        with self._lock:
            self._catch_up()
            return self._dead(self._entries.values(), alive)

    def namespaces(self, alive: Alive | None) -> list[Namespace]:
        """Return the namespaces that have items which are alive, in order."""
        with self._lock:
            if alive is not None:
                return sorted({entry.namespace for entry in self.matching((), None, alive)})
            self._catch_up()
            return sorted(self._namespaces)

    def _dead(self, entries: Iterable[Entry], alive: Alive) -> list[Entry]:
        mortal = [entry for entry in entries if entry.ttl is not None]
        view = self._store.view()
        rows = np.array([view.rows_by_id[entry.id] for entry in mortal], dtype=np.int64)
        used = np.maximum(view.charged_at.take(rows), view.energy_at.take(rows)).tolist()
        return [entry for entry, at in zip(mortal, used, strict=True) if not alive(entry, at)]

    def _catch_up(self) -> None:
        """Read the changes since the last call."""
        view, store = self._store.view(), self._store
        identity = store.identity if isinstance(store, SupportsIdentity) else None
        if self._known is None or self._known[0] != identity or self._known[1] > view.sequence:
            self._entries.clear()
            self._namespaces.clear()
            self._put(node.id for node in store.find(Filter((ITEM,), scope=ScopeFilter(ANY_USER))))
        elif self._known[1] < view.sequence:
            self._put(_changed(store, self._known[1], view.sequence))
        self._known = identity, view.sequence

    def _put(self, ids: Iterable[str]) -> None:
        """Read items again, some of which may be gone."""
        names = list(dict.fromkeys(name for name in ids if item_id(name) == name))
        for name in names:
            if (old := self._entries.pop(name, None)) is not None:
                entries = self._namespaces[old.namespace]
                del entries[old.key]
                if not entries:
                    del self._namespaces[old.namespace]
        for node in self._store.get_nodes(names, missing_ok=True):
            if node.kind == ITEM:
                entry = Entry.of(node)
                self._entries[entry.id] = entry
                self._namespaces.setdefault(entry.namespace, {})[entry.key] = entry


def latest(entries: Iterable[Entry], count: int) -> Sequence[Entry]:
    """Return the items that were written last, the latest first."""
    return heapq.nsmallest(count, entries, key=lambda entry: entry.order)


def _changed(store: GraphStorePort, after: int, up_to: int) -> Iterable[str]:
    """Return the ids of the nodes that changed; also of some that are no items."""
    if isinstance(store, SupportsTouched):
        return store.touched(ITEM, "", after, up_to)
    deltas = [entry.delta for entry in store.journal(after)]
    return [name for delta in deltas for name in (*delta.removed_nodes, *(node.id for node in delta.nodes))]
