"""The items of a store in memory, a projection of the graph: for filters, lists, searches and lifetimes."""

from __future__ import annotations

import heapq
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain, islice
from typing import Literal

from neurogated.core.abilities import SupportsIdentity, SupportsTouched
from neurogated.core.clock import from_micros
from neurogated.core.commit import REFRESHED
from neurogated.core.contexts import forgets
from neurogated.core.delta import Access, GraphDelta
from neurogated.core.filters import Filter, FilterOptions
from neurogated.core.node_kind import ITEM
from neurogated.core.ports import GraphStorePort, Snapshot
from neurogated.core.scope import ANY_USER, ScopeFilter
from neurogated.core.view import GraphView
from neurogated.ingestion.items import item_id, node_ids
from neurogated.integrations.langgraph.items import MICROS_A_MINUTE, Check, ItemEntry, Namespace
from neurogated.retrieval.formula import CANDIDATES
from neurogated.session import Notice, Session
from neurogated.subscribers import log_access
from neurogated.utils.background import take


class ItemTable:
    """All items of a graph, the latest last. It follows the writes of all threads and processes when it is read."""

    def __init__(self, store: GraphStorePort, now: Callable[[], int]) -> None:
        """Take the graph, and what returns the time in microseconds."""
        self._store, self._now = store, now
        self._identified = store if isinstance(store, SupportsIdentity) else None
        self._lock = threading.RLock()
        self._entries: dict[str, ItemEntry] = {}
        self._namespaces: dict[Namespace, dict[str, ItemEntry]] = {}
        self._mortal: dict[str, ItemEntry] = {}
        self._known: tuple[object, GraphView] | None = None
        forgets(self)

    def cache_clear(self) -> None:
        """Forget all items, unless a thread reads them now; the next read reads them again."""
        taken: list[bool] = []
        try:
            if take(self._lock, taken, 0):
                self._clear()
        finally:
            if True in taken:
                self._lock.release()

    def page(
        self,
        prefix: Namespace,
        check: Check | None,
        *,
        first: Collection[str] = (),
        most: int | None = None,
        read: GraphView | None = None,
    ) -> list[ItemEntry]:
        """Return items as they are at one moment: those of `first` that match, then the others, the latest first.

        Args:
            prefix: the beginning of the namespaces.
            check: the filter of the values.
            first: ids of items under the prefix, best first.
            most: return at most this many; all if it is None.
            read: the view that was searched for `first`, if any; the items are of its moment unless it has passed.
        """
        with self._lock:
            self._catch_up(read)
            dead = self._dead_ids()
            known = [self._entries[name] for name in first if name in self._entries and name not in dead]
            passing = known if check is None else (entry for entry in known if check(entry.value))
            return list(islice(chain(passing, self._latest(prefix, check, {*first, *dead})), most))

    def node_ids(self, prefix: Namespace, check: Check | None) -> list[str]:
        """Return the ids of all nodes of the items that match, in no order; see `page`."""
        with self._lock:
            self._catch_up()
            hidden = self._dead_ids()
            found = list(chain.from_iterable(self._found(prefix, check, hidden)))
            return [name for entry in found for name in node_ids(entry.id, 0, entry.texts)]

    def has_items(self, prefix: Namespace) -> bool:
        """Return whether a namespace that begins with `prefix` has an item, perhaps one that is gone meanwhile."""
        with self._lock:
            if not any(name[: len(prefix)] == prefix for name in self._namespaces):
                self._catch_up()
            return any(name[: len(prefix)] == prefix for name in self._namespaces)

    def namespaces(self) -> list[Namespace]:
        """Return the namespaces with an item that has not expired, in order."""
        with self._lock:
            self._catch_up()
            hidden = self._dead_ids()
            found = [name for name, entries in self._namespaces.items() if any(self._passing(entries, None, hidden))]
            return sorted(found)

    def _latest(self, prefix: Namespace, check: Check | None, hidden: Collection[str]) -> Iterator[ItemEntry]:
        # It begins when it is asked for its first item, which a page of recalled items may never need.
        found = self._found(prefix, check, hidden)
        yield from heapq.merge(*found, key=lambda entry: entry.updated, reverse=True)

    def _found(self, prefix: Namespace, check: Check | None, hidden: Collection[str]) -> list[Iterator[ItemEntry]]:
        """Return the items of each namespace, the latest first."""
        wanted = [entries for name, entries in self._namespaces.items() if name[: len(prefix)] == prefix]
        return [self._passing(entries, check, hidden) for entries in wanted]

    @staticmethod
    def _passing(entries: dict[str, ItemEntry], check: Check | None, hidden: Collection[str]) -> Iterator[ItemEntry]:
        latest = reversed(entries.values())
        passing = latest if check is None else (entry for entry in latest if check(entry.value))
        return (entry for entry in passing if entry.id not in hidden) if hidden else iter(passing)

    def _dead_ids(self) -> set[str]:
        now = self._now()
        return {entry.id for entry in self._mortal.values() if not entry.is_alive(now)}

    def _catch_up(self, read: GraphView | None = None) -> None:
        """Read the changes since the last call, but none if that read the same state as `read`."""
        store, known = self._store, self._known
        if read and known and read.ids is known[1].ids and read.sequence == known[1].sequence:
            return
        while True:
            view = store.view()
            if self._known is not None and self._known[1] is view:
                return
            identity = None if self._identified is None else self._identified.identity
            if self._known is None or self._known[0] != identity or self._known[1].sequence > view.sequence:
                self._clear()
                self._put(node.id for node in store.find(Filter((ITEM,), scope=ScopeFilter(ANY_USER))))
            elif self._known[1].sequence < view.sequence:
                self._put(changed_ids(store, ITEM, self._known[1].sequence, view.sequence))
            # A change since the view may be read in part, so the next round reads the rest of it.
            self._known = identity, view

    def _clear(self) -> None:
        self._known = None
        for names in (self._entries, self._namespaces, self._mortal):
            names.clear()

    def _put(self, ids: Iterable[str]) -> None:
        """Read items again, some of which may be gone."""
        names = list(dict.fromkeys(name for name in ids if item_id(name) == name))
        for old in [self._entries.pop(name) for name in names if name in self._entries]:
            self._mortal.pop(old.id, None)
            del self._namespaces[old.namespace][old.key]
            if not self._namespaces[old.namespace]:
                del self._namespaces[old.namespace]
        nodes = self._store.get_nodes(names, missing_ok=True)
        for entry in sorted(
            (ItemEntry.of(node) for node in nodes if node.kind == ITEM), key=lambda entry: entry.updated
        ):
            self._entries[entry.id] = entry
            if entry.expires_at is not None:
                self._mortal[entry.id] = entry
            entries = self._namespaces.setdefault(entry.namespace, {})
            # The clock of another process may be behind.
            late = entries and next(reversed(entries.values())).updated > entry.updated
            entries[entry.key] = entry
            if late:
                in_order = sorted(entries.values(), key=lambda entry: entry.updated)
                self._namespaces[entry.namespace] = {one.key: one for one in in_order}


def changed_ids(store: GraphStorePort, kind: str, after: int, up_to: int) -> Iterable[str]:
    """Return the ids of the nodes of a kind that changed; also of some others."""
    if isinstance(store, SupportsTouched):
        return store.touched(kind, "", after, up_to)
    deltas = [entry.delta for entry in store.journal(after)]
    return [name for delta in deltas for name in (*delta.removed_nodes, *(node.id for node in delta.nodes))]


Order = Literal["activation", "cosine"]
ORDERS = ("activation", "cosine")
Scored = tuple[str, float]
"""The id of an item and its score."""


def ranked(
    session: Session, query: str, prefix: Namespace, *, only_ids: Collection[str] | None, order: Order, most: int
) -> tuple[dict[str, float], GraphView]:
    """Return the scores of the `most` items under a prefix that fit best, best first, and the view that was searched.

    Items without a text in the index have none. The order does not depend on `most`, so pages do not overlap.

    Args:
        session: the graph.
        query: a question or any text.
        prefix: the beginning of the namespaces.
        only_ids: the ids of the nodes that count; None for all.
        order: `activation` recalls as many nodes as recalls have candidates, and continues by cosine.
        most: how many items are needed, at least 1; more cost more.
    """
    given: FilterOptions = {"user_id": ANY_USER, "path": prefix, "kinds": (ITEM,), "only_ids": only_ids}
    wanted = Filter((ITEM,), scope=ScopeFilter(ANY_USER, path=prefix), only_ids=only_ids)
    reader = session.store.snapshot(filters=wanted)
    steps = [_by_cosine(session, query, reader, most)]
    if order == "activation":
        steps = [_recalled(session, query, reader, given, sorted({min(most, CANDIDATES), CANDIDATES})), *steps]
    found, lowest = dict[str, float](), float("inf")
    for node_id, score in chain.from_iterable(chain.from_iterable(steps)):
        name = item_id(node_id)
        if name not in found:
            found[name] = lowest = min(score, lowest)
            if len(found) == most:
                break
    return found, reader.view


def _recalled(
    session: Session, query: str, reader: Snapshot, given: FilterOptions, sizes: Sequence[int]
) -> Iterator[list[Scored]]:
    """Yield the nodes of recalls of these sizes. A larger recall begins with the memories of a smaller one."""
    for size in sizes:
        found = session.retriever.scores(query, reader, top_n=size)
        if found is None:
            recall = session.retriever.recall(query, top_n=size, include_duplicates=True, **given)
            found = [(one.id, one.score) for one in recall]
        yield found
        if len(found) < size:
            return


def _by_cosine(session: Session, query: str, reader: Snapshot, most: int) -> Iterator[list[Scored]]:
    (vector,) = session.parts.embedder.embed_queries([query])
    read, count = 0, most
    while True:
        found = session.store.nearest(vector, count, reader.view)
        yield found[read:]
        if len(found) < count:
            return
        read, count = len(found), 4 * count


_LEAST_SHARE = 0.01
"""A read moves the end of a lifetime only by this share of it or more, so that many reads are few writes."""


def refresh(session: Session, entries: Sequence[ItemEntry], *, wanted: bool) -> None:
    """Count an access of each item, and begin their lifetimes again; without `wanted`, only of immortal ones."""
    read = [entry for entry in entries if wanted or entry.ttl is None]
    if not read:
        return
    log_access(session, Notice("changed", access=lambda: Access.of([entry.id for entry in read])))
    now, ends = session.now(), dict[str, tuple[datetime, datetime]]()
    for entry in read:
        if entry.ttl is not None and entry.expires_at is not None:
            span = int(entry.ttl * MICROS_A_MINUTE)
            if now + span - entry.expires_at >= _LEAST_SHARE * span:
                move = from_micros(entry.expires_at), from_micros(now + span)
                ends |= dict.fromkeys(node_ids(entry.id, 0, entry.texts), move)

    def later() -> GraphDelta:
        # Meanwhile, a node may have expired or have got another end.
        nodes, at = session.store.get_nodes(list(ends), missing_ok=True), session.clock()
        moved = [
            (one, ends[one.id][1]) for one in nodes if one.expires_at == ends[one.id][0] and not one.has_expired(at)
        ]
        return GraphDelta(nodes=tuple(one.changed(expires_at=end) for one, end in moved), reason=REFRESHED, at=at)

    if ends and not session.config.read_only:
        session.commit(later)
