"""Items of LangGraph's stores: their ids and texts, and items of a file put with their times."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np

from neurogated.archive.foreign import IncomingItem
from neurogated.core.clock import to_micros
from neurogated.core.model import MemoryNode, json_metadata
from neurogated.core.node_kind import ITEM
from neurogated.core.scope import Scope
from neurogated.ingestion.chunker import Chunker
from neurogated.session import Notice, Session
from neurogated.utils.hash_utils import compute_mdhash_id


def id_of(namespace: Sequence[str], key: str) -> str:
    """Return the id of the node of an item."""
    return compute_mdhash_id(json.dumps([*namespace, key]), "item-")


def checked_item(item: IncomingItem) -> IncomingItem:
    """Return an item; raises InputError if it cannot be stored."""
    json_metadata({"key": item.key, "value": item.value})
    Scope(path=item.namespace)
    return item


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
        removed = [f"{name}#{place}" for name, texts in old.items() for place in range(len(nodes[name]), texts)]
        if put:
            session.writer.put(put, removed, reason="import items")
    if put:
        session.notify(Notice("added", ([node.id for node in put],)))
    return sum(not texts for texts in old.values())


def _outdated(session: Session, items: Mapping[str, IncomingItem]) -> dict[str, int]:
    """Return the ids of the items that are to be put, and how many nodes the stored version has: 0 for a new item."""
    stored = {node.id: node.metadata for node in session.store.get_nodes(list(items), missing_ok=True)}
    return {
        name: stored[name].get("texts", 1) if name in stored else 0
        for name, item in items.items()
        if name not in stored
        or (stored[name]["value"] != item.value and stored[name]["updated_at"] <= to_micros(_updated(session, item)))
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
    held = {"key": item.key, "value": item.value, "updated_at": to_micros(updated)}
    held |= {"texts": len(texts)} if len(texts) > 1 else {}
    about: dict[str, Any] = {
        "scope": Scope(user_id, path=item.namespace),
        "kind": ITEM,
        "created_at": item.created_at or updated,
        "last_accessed": now,
        "energy_at": now,
    }
    nodes = [
        MemoryNode(f"{name}#{place}", text, vector if np.any(vector) else None, **about)
        for place, (text, vector) in enumerate(zip(texts, vectors, strict=True))
    ] or [MemoryNode(name, "", **about)]
    nodes[0] = nodes[0].changed(id=name, metadata=held)
    return session.writer.read(nodes)


def leaves(value: object) -> Iterator[str]:
    """Yield the texts and numbers in a value without its keys, which would match each question about them."""
    if isinstance(value, Mapping | list | tuple):
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from leaves(inner)
    elif isinstance(value, str | int | float) and not isinstance(value, bool):
        yield str(value)
