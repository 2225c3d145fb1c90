"""Writes of items: the puts and deletions of a batch as one change of the graph."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from langgraph.store.base import PutOp

from neurogated.core.clock import from_micros
from neurogated.core.model import MemoryNode, Vector
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.items import id_of, item_metadata, item_nodes, node_ids, number_of_texts
from neurogated.integrations.langgraph.items import Entry, texts_of
from neurogated.session import Notice, Session

Sources = Callable[[], Mapping[str, Collection[str]]]
"""Returns the ids of the nodes from which items were derived, by the ids of the items; the write lock is held."""


class _Draft(NamedTuple):
    """An item to put, or to delete if it has no nodes."""

    id: str
    nodes: Sequence[MemoryNode]


class ItemWriter:
    """Puts and deletes items."""

    def __init__(self, session: Session, fields: Sequence[str], user_label: int | None) -> None:
        """Take the graph, the paths of the texts to index, and the position of the user in a namespace."""
        self._session, self._fields, self._user_label = session, fields, user_label
        self._chunker = Chunker.of(session.config.indexing, session.parts.embedder)

    def write(self, ops: Sequence[PutOp], sources: Sources | None = None) -> list[str]:
        """Write the last operation of each key in one change; return the ids of the items.

        If `sources` are given, items without an entry are left out, and the others go with the nodes of theirs.
        """
        session, last = self._session, {id_of(op.namespace, op.key): op for op in ops}
        with session.runtime.work("putting items"):
            drafts = self._drafts(last)
            with session.exclusively():
                known = None if sources is None else sources()
                if known is not None:
                    drafts = [draft for draft in drafts if draft.id in known]
                put, removed = self._planned(drafts)
                if put or removed:
                    reason = "put items" if put else "delete items"
                    derived = {node.id: known[draft.id] for draft in drafts for node in draft.nodes} if known else {}
                    session.writer.put(put, removed, reason=reason, derived=derived)
        self._notify([node.id for node in put], removed)
        return list(last)

    def delete(self, entries: Iterable[Entry]) -> list[str]:
        """Delete the items that are still there; return their ids."""
        session, names = self._session, [entry.id for entry in entries]
        with session.exclusively():
            found = list(map(Entry.of, session.store.get_nodes(names, missing_ok=True)))
            removed = [name for entry in found for name in entry.node_ids]
            if removed:
                session.writer.put((), removed, reason="delete items")
        # A callback may be slow, or write itself.
        self._notify((), removed)
        return [entry.id for entry in found]

    def _notify(self, put: Sequence[str], removed: Sequence[str]) -> None:
        if removed:
            self._session.notify(Notice("deleted", (list(removed),)))
        if put:
            self._session.notify(Notice("added", (list(put),), view=self._session.store.view()))

    def _drafts(self, ops: dict[str, PutOp]) -> list[_Draft]:
        """Return the nodes of the items, with vectors, as if none of the items existed."""
        texts = {name: self._chunks(op) for name, op in ops.items()}
        distinct = list(dict.fromkeys(text for chunks in texts.values() for text in chunks))
        vectors = self._session.parts.embedder.embed_documents(distinct) if distinct else np.empty((0, 0))
        by_text = dict(zip(distinct, vectors, strict=True))
        return [_Draft(name, self._nodes(name, op, texts[name], by_text)) for name, op in ops.items()]

    def _chunks(self, op: PutOp) -> list[str]:
        return [chunk for text in texts_of(op, self._fields) for chunk in self._chunker.split(text)]

    def _nodes(self, name: str, op: PutOp, chunks: Sequence[str], vectors: Mapping[str, Vector]) -> list[MemoryNode]:
        if op.value is None:
            return []
        now, metadata = self._session.clock(), item_metadata(op.key, op.value, ttl=op.ttl)
        namespace = tuple(op.namespace)
        place, most = self._user_label, len(namespace)
        if place is not None and not -most <= place < most:
            raise InputError(
                f"the namespace {namespace} has no label at user_label={place}, so its items would be everybody's; "
                "give it that label, or put them by a store without user_label"
            )
        user = None if place is None else namespace[place]
        scope = Scope(user_id=self._session.of_user(user), path=namespace)
        times = {"created_at": now, "last_accessed": now, "expires_at": _end(now, op.ttl)}
        nodes = item_nodes(name, chunks, vectors, metadata, scope=scope, **times)
        return self._session.writer.read(nodes)

    def _planned(self, drafts: Sequence[_Draft]) -> tuple[list[MemoryNode], list[str]]:
        """Return the nodes to put and the ids to remove, given the stored items; the write lock is held."""
        store, now = self._session.store, self._session.now()
        # An item that has expired is gone, and the next one with its key is new.
        self._session.writer.expire(self._session.clock())
        old = {node.id: node for node in store.get_nodes([draft.id for draft in drafts], missing_ok=True)}
        put, removed = list[MemoryNode](), list[str]()
        for place, draft in enumerate(drafts):
            before = old.get(draft.id)
            # No two items of a batch have the same time, so that lists have one order.
            put += (_dated(node, before, now + place) for node in draft.nodes)
            if before is not None:
                removed += node_ids(draft.id, len(draft.nodes), number_of_texts(before.metadata))
        return put, removed


def _dated(node: MemoryNode, old: MemoryNode | None, now: int) -> MemoryNode:
    """Return a node of an item with its times; the next version of an item keeps its first time and its accesses."""
    if old is not None:
        now = max(now, old.metadata["updated_at"] + 1)
    updated = from_micros(now)
    metadata = {**node.metadata, "updated_at": now} if node.metadata else {}
    if old is None:
        return node.changed(metadata=metadata, created_at=updated, energy_at=updated, charged_at=updated)
    return node.changed(metadata=metadata, created_at=old.created_at, energy_at=updated).with_accesses_of(old)


def _end(now: datetime, minutes: float | None) -> datetime | None:
    """Return when a lifetime ends; None if it never does, or after the last year of the calendar."""
    try:
        return None if minutes is None else now + timedelta(minutes=minutes)
    except OverflowError:
        return None
