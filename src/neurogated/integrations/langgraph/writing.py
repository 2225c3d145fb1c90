"""Writes of items: the puts and deletions of a batch as one change of the graph."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from langgraph.store.base import PutOp
from numpy.typing import NDArray

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.model import MemoryNode, Vector
from neurogated.core.node_kind import ITEM
from neurogated.core.scope import Scope
from neurogated.ingestion.chunker import Chunker
from neurogated.integrations.langgraph.items import Entry, Namespace, id_of, node_ids, texts_of
from neurogated.session import Notice, Session


class _Draft(NamedTuple):
    """An item to put, or to delete if it has no nodes."""

    id: str
    nodes: Sequence[MemoryNode]


class ItemWriter:
    """Puts and deletes items."""

    def __init__(self, session: Session, fields: Sequence[str], user_label: int | None) -> None:
        """Take the graph, the paths of the texts to index, and the position of the user in a namespace."""
        self._session, self._fields, self._user_label = session, fields, user_label
        indexing = session.config.indexing
        self._chunker = Chunker(indexing.chunk_size, indexing.chunk_overlap, session.parts.embedder.count_tokens)

    def write(self, ops: Sequence[PutOp]) -> list[str]:
        """Write the last operation of each key in one change; return the ids of the items."""
        session, last = self._session, {id_of(op.namespace, op.key): op for op in ops}
        with session.runtime.work("putting items"):
            drafts = self._drafts(last)
            with session.exclusively():
                put, removed = self._planned(drafts)
                if put or removed:
                    session.writer.put(put, removed, reason="put items" if put else "delete items")
        self._notify([node.id for node in put], removed)
        return list(last)

    def delete(self, entries: Iterable[Entry]) -> int:
        """Delete items; the write lock is held. Return their number."""
        found = list(entries)
        removed = [name for entry in found for name in entry.node_ids]
        if removed:
            self._session.writer.put((), removed, reason="delete items")
            self._notify((), removed)
        return len(found)

    def _notify(self, put: Sequence[str], removed: Sequence[str]) -> None:
        if removed:
            self._session.notify(Notice("deleted", (list(removed),)))
        if put:
            self._session.notify(Notice("added", (list(put),)))

    def _drafts(self, ops: dict[str, PutOp]) -> list[_Draft]:
        """Return the nodes of the items, with vectors, as if none of the items existed."""
        texts = {name: self._chunks(op) for name, op in ops.items()}
        distinct = list(dict.fromkeys(text for chunks in texts.values() for text in chunks))
        vectors = self._session.parts.embedder.embed_documents(distinct) if distinct else np.empty((0, 0))
        by_text = dict(zip(distinct, vectors, strict=True))
        return [_Draft(name, self._nodes(name, op, texts[name], by_text)) for name, op in ops.items()]

    def _chunks(self, op: PutOp) -> list[str]:
        return [chunk for text in texts_of(op, self._fields) for chunk in self._chunker.split(text)]

    def _nodes(
        self, name: str, op: PutOp, chunks: Sequence[str], vectors: dict[str, NDArray[np.float32]]
    ) -> list[MemoryNode]:
        if op.value is None:
            return []
        now, scope = self._session.clock(), self._scope(tuple(op.namespace))
        held = {"key": op.key, "value": op.value, "updated_at": to_micros(now)}
        held |= {"ttl": op.ttl} if op.ttl is not None else {}
        held |= {"texts": len(chunks)} if len(chunks) > 1 else {}
        nodes = [
            MemoryNode(
                one,
                text,
                embedding=_directed(vectors.get(text)),
                last_accessed=now,
                created_at=now,
                scope=scope,
                kind=ITEM,
                metadata={} if place else held,
            )
            for place, (one, text) in enumerate(
                zip(node_ids(name, 0, max(1, len(chunks))), chunks or [""], strict=True)
            )
        ]
        return self._session.writer.read(nodes)

    def _scope(self, namespace: Namespace) -> Scope:
        place = self._user_label
        user = namespace[place] if place is not None and -len(namespace) <= place < len(namespace) else None
        return Scope(user_id=user, path=namespace)

    def _planned(self, drafts: Iterable[_Draft]) -> tuple[list[MemoryNode], list[str]]:
        """Return the nodes to put and the ids to remove, given the stored items; the write lock is held."""
        put, removed = list[MemoryNode](), list[str]()
        listed = list(drafts)
        stored = self._session.store.get_nodes([draft.id for draft in listed], missing_ok=True)
        old = {node.id: node for node in stored}
        for draft in listed:
            before = old.get(draft.id)
            put += draft.nodes if before is None else [_replacing(before, node) for node in draft.nodes]
            if before is not None:
                removed += node_ids(draft.id, len(draft.nodes), Entry.of(before).texts)
        return put, removed


def _replacing(old: MemoryNode, node: MemoryNode) -> MemoryNode:
    """Return a node as the next version of its item, which keeps its first time and its accesses."""
    node = node.changed(created_at=old.created_at).with_accesses_of(old)
    if node.id != old.id:
        return node
    updated = max(node.metadata["updated_at"], old.metadata["updated_at"] + 1)
    return node.changed(metadata={**node.metadata, "updated_at": updated}, energy_at=from_micros(updated))


def _directed(vector: Vector | None) -> Vector | None:
    """Return the vector; None for one without a direction, which no search could find."""
    return vector if vector is not None and np.any(vector) else None
