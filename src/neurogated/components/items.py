"""Items of a store of LangGraph from a file, put with their times where `NeuroStore` finds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from neurogated.archive.foreign import IncomingItem
from neurogated.core.clock import to_micros
from neurogated.core.model import MemoryNode, json_metadata
from neurogated.core.scope import Scope
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.items import id_of, item_metadata, item_nodes, leaves, node_ids, number_of_texts, value_of
from neurogated.session import Notice, Session


def checked_item(item: IncomingItem) -> IncomingItem:
    """Return an item; raises InputError if it cannot be stored."""
    json_metadata(item_metadata(item.key, item.value))
    Scope(path=item.namespace)
    return item


def of_others(session: Session, items: Sequence[IncomingItem], user_id: str | None) -> list[IncomingItem]:
    """Return the items whose keys belong to another user, or to nobody."""
    names = {id_of(item.namespace, item.key) for item in items}
    stored = session.store.get_nodes(list(names), missing_ok=True)
    others = {node.id for node in stored if node.scope.user_id != user_id}
    return [item for item in items if id_of(item.namespace, item.key) in others] if others else []


def put_items(session: Session, items: Sequence[IncomingItem], user_id: str | None) -> int:
    """Put the items that are not stored in this or a later version; return how many keys are new.

    Args:
        session: an open graph.
        items: of several items with one key, the last one counts.
        user_id: the owner.
    """
    session.of_user(user_id)
    found = {id_of(item.namespace, item.key): item for item in items}
    nodes = {name: _nodes(session, name, found[name], user_id) for name in _outdated(session, found)}
    with session.exclusively():
        old = _outdated(session, {name: found[name] for name in nodes})
        put = [node for name in old for node in nodes[name]]
        removed = [one for name, texts in old.items() for one in node_ids(name, len(nodes[name]), texts)]
        if put:
            session.writer.put(put, removed, reason="import items")
    if put:
        session.notify(Notice("added", ([node.id for node in put],)))
    return sum(not texts for texts in old.values())


def _outdated(session: Session, items: Mapping[str, IncomingItem]) -> dict[str, int]:
    """Return the ids of the items that are to be put, and how many nodes the stored version has: 0 for a new item."""
    stored = {node.id: node.metadata for node in session.store.get_nodes(list(items), missing_ok=True)}
    return {
        name: number_of_texts(stored[name]) if name in stored else 0
        for name, item in items.items()
        if name not in stored
        or (value_of(stored[name]) != item.value and stored[name]["updated_at"] <= to_micros(_updated(session, item)))
    }


def _updated(session: Session, item: IncomingItem) -> datetime:
    return item.updated_at or item.created_at or session.clock()


def _nodes(session: Session, name: str, item: IncomingItem, user_id: str | None) -> list[MemoryNode]:
    """Return the nodes of an item, one for each chunk of its texts and numbers; the first one holds the value."""
    indexing, embedder = session.config.indexing, session.parts.embedder
    chunker = Chunker(indexing.chunk_size, indexing.chunk_overlap, embedder.count_tokens)
    texts = list(dict.fromkeys(chunker.split("\n".join(leaves(item.value)))))
    vectors = embedder.embed_documents(texts) if texts else ()
    updated, now = _updated(session, item), session.clock()
    about: dict[str, Any] = {
        "scope": Scope(user_id, path=item.namespace),
        "created_at": item.created_at or updated,
        "last_accessed": now,
        "energy_at": now,
    }
    metadata, by_text = item_metadata(item.key, item.value, to_micros(updated)), dict(zip(texts, vectors, strict=True))
    nodes = item_nodes(name, texts, by_text, metadata, **about)
    return session.writer.read(nodes)
