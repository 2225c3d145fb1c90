"""Where MemoryOS keeps its pages and records: in any store of LangGraph, and its pages in the graph below our own."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Op, PutOp, SearchItem

from neurogated.core.filters import FilterOptions
from neurogated.core.model import MemoryNode, Vector
from neurogated.core.text_caches import forgets
from neurogated.dialogue.layout import escaped
from neurogated.dialogue.model import KINDS, KNOWLEDGE, Embed, FoundRecord, Page, Record
from neurogated.errors import InputError
from neurogated.memory import NeuroGraphMemory
from neurogated.utils.hash_utils import compute_mdhash_id

ROOT = "memoryos"
_ALL = 2**31 - 1
_PAGES, _KNOWN = "pages", "knowledge"
_LATE = 60 * 10**6
"""Microseconds by which a page of another process may become visible after pages with later orders."""
_DIGITS = 16
"""Of the microseconds since 1970 at the beginning of an order. Stores compare such numbers right, even as texts."""
_WHOLE = 400
"""Characters from which a text may be cut into several nodes, so that its page keeps it whole."""
_TEXTS = ("user", "assistant")
_MOST_VECTORS = 50_000  # that are kept for searches of stores without an index


def namespace(user_id: str, kind: str) -> tuple[str, ...]:
    """Return the namespace of a kind of records of a user."""
    return (ROOT, escaped(user_id), *([_KNOWN] if kind in KNOWLEDGE else []), kind)


class StoreRecords:
    """Records as items of a store; see `dialogue.model.Records`."""

    def __init__(self, store: BaseStore, embed: Embed) -> None:
        self._store = store
        self._ranking = _Ranking(store, embed)

    def put(self, user_id: str, values: Mapping[tuple[str, str], Record | None]) -> None:
        """Store records, all in one batch."""
        ops: list[Op] = [
            PutOp(namespace(user_id, kind), key, value, index=["text"] if kind in KNOWLEDGE else False)
            for (kind, key), value in values.items()
        ]
        if ops:
            self._store.batch(ops)

    def get(self, user_id: str, kind: str, keys: Collection[str]) -> dict[str, Record]:
        """Return the records with these keys that exist."""
        return _got(self._store, namespace(user_id, kind), keys)

    def all(self, user_id: str, kind: str) -> dict[str, Record]:
        """Return the records of a kind by key."""
        return {item.key: item.value for item in self._store.search(namespace(user_id, kind), limit=_ALL)}

    def search(self, user_id: str, query: str, limit: int) -> list[FoundRecord]:
        """Return the knowledge that is nearest to a query, best first."""
        found = self._ranking.search(namespace(user_id, _KNOWN), query, limit, ["text"], None)
        return [FoundRecord(item.namespace[-1], item.key, item.value, score) for item, score in found]

    def erase(self, user_id: str) -> None:
        """Delete all records of a user, in one batch."""
        self.put(user_id, {(kind, key): None for kind in KINDS for key in self.all(user_id, kind)})
        self._ranking.cache_clear()


class StorePages:
    """Pages as items of any store; see `dialogue.model.Pages`."""

    def __init__(self, store: BaseStore, embed: Embed) -> None:
        self._store = store
        self._ranking = _Ranking(store, embed)

    def add(self, user_id: str, page: Page) -> None:
        """Store a page as one item."""
        value = {
            "user": page.user, "assistant": page.assistant, "session_id": page.session_id, "order": page.order,
            "said": page.said.isoformat(), "arrived": int(page.order[:_DIGITS]),
        }  # fmt: skip
        self._store.put(namespace(user_id, _PAGES), page.key, value, index=list(_TEXTS))

    def after(self, user_id: str, mark: str | None) -> tuple[list[Page], str | None]:
        """Return the pages after the mark, an order, and those of the minute before it."""
        since = None if mark is None else {"arrived": {"$gt": int(mark[:_DIGITS]) - _LATE}}
        items = self._store.search(namespace(user_id, _PAGES), filter=since, limit=_ALL)
        pages = [_page(item.key, item.value) for item in items]
        return pages, max((page.order for page in pages), default=mark)

    def get(self, user_id: str, keys: Collection[str]) -> dict[str, Page]:
        """Return the pages with these keys that exist."""
        found = _got(self._store, namespace(user_id, _PAGES), keys)
        return {key: _page(key, value) for key, value in found.items()}

    def search(self, user_id: str, query: str, limit: int, session_id: str | None) -> list[tuple[str, float]]:
        """Return the pages one of whose texts is nearest to the query."""
        chosen = None if session_id is None else {"session_id": session_id}
        found = self._ranking.search(namespace(user_id, _PAGES), query, limit, _TEXTS, chosen)
        return [(item.key, score) for item, score in found]

    def erase(self, user_id: str) -> None:
        """Delete all pages of a user."""
        where = namespace(user_id, _PAGES)
        self._store.batch([PutOp(where, item.key, None) for item in self._store.search(where, limit=_ALL)])
        self._ranking.cache_clear()


class GraphPages:
    """Pages as turns of sessions in the graph of a memory, so that a search is a recall; see `dialogue.model.Pages`."""

    def __init__(self, memory: NeuroGraphMemory) -> None:
        self._memory = memory

    def add(self, user_id: str, page: Page) -> None:
        """Store a page as one or two messages, in one change."""
        name = compute_mdhash_id(f"{user_id}\0{page.key}", "page-")
        told: dict[str, Any] = {"page": page.key, "order": page.order}
        if any(len(text) > _WHOLE or text != text.strip() for text in (page.user, page.assistant)):
            told["whole"] = [page.user, page.assistant]
        messages = [
            {"role": role, "content": text, "id": f"{name}-{role}", "metadata": told}
            for role, text in zip(_TEXTS, (page.user, page.assistant), strict=True)
            if text.strip()
        ]
        label, path = escaped(user_id), namespace(user_id, _PAGES)
        self._memory.add(messages, user_id=label, path=path, session_id=page.session_id, timestamp=page.said)

    def after(self, user_id: str, mark: str | None) -> tuple[list[Page], str | None]:
        """Return the pages after the mark, the id of a node."""
        try:
            nodes = self._memory.list(cursor=mark, **self._scope(user_id))
        except InputError:
            # The node was erased.
            nodes = self._memory.list(**self._scope(user_id))
        return list(_read(nodes).values()), nodes[-1].id if nodes else mark

    def get(self, user_id: str, keys: Collection[str]) -> dict[str, Page]:
        """Return the pages with these keys that exist."""
        names = [compute_mdhash_id(f"{user_id}\0{key}", "page-") for key in keys]
        ids = [f"{name}-{role}" for name in names for role in _TEXTS]
        return _read(self._memory.store.get_nodes(ids, missing_ok=True))

    def search(self, user_id: str, query: str, limit: int, session_id: str | None) -> list[tuple[str, float]]:
        """Return the pages of the turns that a recall finds."""
        scope = self._scope(user_id)
        if session_id is not None:
            scope["session_id"] = session_id
        found: dict[str, float] = {}
        for memory in self._memory.recall(query, top_n=2 * limit, **scope):
            found.setdefault(memory.metadata["page"], memory.score)
        return list(found.items())[:limit]

    def erase(self, user_id: str) -> None:
        """Delete all pages of a user."""
        self._memory.delete(user_id=escaped(user_id), path=namespace(user_id, _PAGES))

    @staticmethod
    def _scope(user_id: str) -> FilterOptions:
        return {"user_id": escaped(user_id), "path": namespace(user_id, _PAGES), "kinds": ("turn",)}


class _Ranking:
    """Searches a store, and compares vectors by itself if the store has no index."""

    def __init__(self, store: BaseStore, embed: Embed) -> None:
        self._store = store
        self._embed = embed
        self._vectors: dict[str, Vector] = {}
        forgets(self)

    def cache_clear(self) -> None:
        """Forget the texts and their vectors."""
        self._vectors.clear()

    def search(
        self, where: tuple[str, ...], query: str, limit: int, fields: Iterable[str], chosen: dict[str, Any] | None
    ) -> list[tuple[SearchItem, float]]:
        """Return the items nearest to a query with their scores, best first."""
        items = self._store.search(where, query=query, filter=chosen, limit=limit)
        scored = [(item, item.score) for item in items if item.score is not None]
        if scored or not items:
            return scored
        items = self._store.search(where, filter=chosen, limit=_ALL)
        texts = [[text for name in fields if (text := item.value[name])] for item in items]
        vectors = self._vectors_of({text for each in texts for text in each})
        (asked,) = self._embed([query])
        ranked = [
            (item, max(float(vectors[text] @ asked) for text in each))
            for item, each in zip(items, texts, strict=True)
            if each
        ]
        return sorted(ranked, key=lambda one: -one[1])[:limit]

    def _vectors_of(self, texts: Collection[str]) -> dict[str, Vector]:
        known = {text: vector for text in texts if (vector := self._vectors.get(text)) is not None}
        missing = [text for text in texts if text not in known]
        new = dict(zip(missing, self._embed(missing), strict=True)) if missing else {}
        if len(self._vectors) > _MOST_VECTORS:
            self._vectors.clear()
        self._vectors.update(new)
        return known | new


def _got(store: BaseStore, where: tuple[str, ...], keys: Collection[str]) -> dict[str, Record]:
    found = store.batch([GetOp(where, key) for key in keys]) if keys else []
    return {key: item.value for key, item in zip(keys, found, strict=True) if item is not None}  # type: ignore[union-attr]


def _page(key: str, value: Record) -> Page:
    said = datetime.fromisoformat(value["said"])
    return Page(key, value["order"], value["session_id"], value["user"], value["assistant"], said)


def _read(nodes: Iterable[MemoryNode]) -> dict[str, Page]:
    """Return the pages of turns by key."""
    pages: dict[str, Page] = {}
    for node in nodes:
        told, role = node.metadata, str(node.role)
        if (whole := told.get("whole")) is not None:
            texts = dict(zip(_TEXTS, whole, strict=True))
        else:
            before = pages.get(told["page"])
            texts = {
                "user": before.user if before else "",
                "assistant": before.assistant if before else "",
                role: node.content,
            }
        session, said = str(node.scope.session_id), node.timestamp or node.created_at
        pages[told["page"]] = Page(told["page"], told["order"], session, texts["user"], texts["assistant"], said)
    return pages
