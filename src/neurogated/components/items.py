"""Items of a store of LangGraph from a file, put with their times where `NeuroStore` finds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import NamedTuple

from neurogated.archive.foreign import IncomingItem
from neurogated.core.clock import to_micros
from neurogated.core.model import MemoryNode, json_metadata
from neurogated.core.scope import Scope
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.document import checked_ttl
from neurogated.ingestion.items import id_of, item_metadata, item_nodes, leaves, node_ids, number_of_texts, value_of
from neurogated.ingestion.revision import expiry
from neurogated.session import Notice, Session


def checked_item(item: IncomingItem, now: datetime) -> IncomingItem:
    """Return an item with the end of its lifetime; raises InputError if it cannot be stored."""
    json_metadata(item_metadata(item.key, item.value))
    Scope(path=item.namespace)
    lifetime = checked_ttl(item.ttl and timedelta(minutes=item.ttl))
    if lifetime is None or item.expires_at is not None:
        return item
    return replace(item, expires_at=expiry(item.updated_at or item.created_at or now, lifetime))


class ItemsPut(NamedTuple):
    """What `put_items` did."""

    new: int
    """The number of new keys."""
    refused: list[IncomingItem]
    """Items whose keys belong to another user, or to nobody."""


def put_items(session: Session, items: Sequence[IncomingItem], user_id: str | None) -> ItemsPut:
    """Put the items that are not stored in this or a later version.

    Args:
        session: an open graph.
        items: of several items with one key, the last one counts.
        user_id: the owner.
    """
    user_id = session.of_user(user_id)
    found = {id_of(item.namespace, item.key): item for item in items}
    nodes = _nodes(session, _outdated(session, found, user_id)[0], found, user_id)
    with session.exclusively():
        old, others = _outdated(session, found, user_id)
        changed = {name: texts for name, texts in old.items() if name in nodes}
        put = [node for name in changed for node in nodes[name]]
        removed = [one for name, texts in changed.items() for one in node_ids(name, len(nodes[name]), texts)]
        if put:
            session.writer.put(put, removed, reason="import items")
    if put:
        session.notify(Notice("added", ([node.id for node in put],)))
    refused = [item for item in items if id_of(item.namespace, item.key) in others]
    return ItemsPut(sum(not texts for texts in changed.values()), refused)


def _outdated(
    session: Session, items: Mapping[str, IncomingItem], user_id: str | None
) -> tuple[dict[str, int], set[str]]:
    """Return the items to put, each with the number of nodes of its stored version, and the ids that others own."""
    stored = {node.id: node for node in session.store.get_nodes(list(items), missing_ok=True)}
    others = {name for name, node in stored.items() if node.scope.user_id != user_id}
    outdated = dict[str, int]()
    for name, item in items.items():
        if name not in stored:
            outdated[name] = 0
        elif name not in others:
            known = stored[name].metadata
            if not _holds(stored[name], item) and known["updated_at"] <= to_micros(_updated(session, item)):
                outdated[name] = number_of_texts(known)
    return outdated, others


def _holds(node: MemoryNode, item: IncomingItem) -> bool:
    """Return whether a node has the value of an item, and lives as long: a read moves an end, and is no change."""
    lives = item.expires_at is None or (node.expires_at is not None and node.expires_at >= item.expires_at)
    return lives and value_of(node.metadata) == item.value


def _updated(session: Session, item: IncomingItem) -> datetime:
    return item.updated_at or item.created_at or session.clock()


def _nodes(
    session: Session, names: Iterable[str], items: Mapping[str, IncomingItem], user_id: str | None
) -> dict[str, list[MemoryNode]]:
    """Return the nodes of items, one for each chunk of its texts and numbers; the first one holds the value."""
    indexing, embedder = session.config.indexing, session.parts.embedder
    chunker = Chunker.of(indexing, embedder)
    chunks = {name: list(dict.fromkeys(chunker.split("\n".join(leaves(items[name].value))))) for name in names}
    distinct = list(dict.fromkeys(text for texts in chunks.values() for text in texts))
    vectors = dict(zip(distinct, embedder.embed_documents(distinct), strict=True)) if distinct else {}
    found, now = dict[str, list[MemoryNode]](), session.clock()
    for name, texts in chunks.items():
        item = items[name]
        updated = _updated(session, item)
        metadata = item_metadata(item.key, item.value, to_micros(updated), item.ttl)
        scope, created = Scope(user_id, path=item.namespace), item.created_at or updated
        times = {"created_at": created, "last_accessed": now, "energy_at": now, "expires_at": item.expires_at}
        made = item_nodes(name, texts, vectors, metadata, scope=scope, **times)
        found[name] = session.writer.read(made)
    return found
