"""Where MemoryOS keeps its pages and records: in any store of LangGraph, and its pages in the graph below our own."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping
from contextlib import nullcontext
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, NamedTuple

from langgraph.store.base import BaseStore, GetOp, PutOp, SearchItem

from neurogated.core.abilities import SupportsIdentity
from neurogated.core.contexts import forgets
from neurogated.core.filters import FilterOptions
from neurogated.core.model import MemoryNode, Vector
from neurogated.core.node_kind import ITEM
from neurogated.core.view import GraphView
from neurogated.dialogue.model import (
    KINDS,
    KNOWLEDGE,
    PAGE,
    Changes,
    DialoguePage,
    Embed,
    FoundRecord,
    News,
    Pages,
    Record,
    escaped,
    pages_of,
)
from neurogated.ingestion.items import id_of
from neurogated.ingestion.messages import ORIGINAL
from neurogated.integrations.langgraph.store import NeuroStore
from neurogated.integrations.langgraph.table import changed_ids
from neurogated.memory import NeuroGraphMemory
from neurogated.utils.hash_utils import compute_mdhash_id

ROOT = "memoryos"
_ALL = 2**31 - 1
PAGES, _KNOWN = "pages", "knowledge"
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
    """Records as items of a store; see `dialogue.model.Records`. In a store of ours, they have edges to their pages."""

    def __init__(self, store: BaseStore, embed: Embed, pages: GraphPages | None = None) -> None:
        """Take the store, and the pages if both are in one graph."""
        self._store, self._pages = store, pages
        self._ranking = _Ranking(store, embed)

    def put(self, user_id: str, values: Changes, read: Mapping[str, DialoguePage] | None = None) -> None:
        ops = [
            PutOp(namespace(user_id, kind), key, value, index=["text"] if kind in KNOWLEDGE else False)
            for (kind, key), value in values.items()
        ]
        if None in values.values():
            self._ranking.cache_clear()
        if ops and isinstance(self._store, NeuroStore) and self._pages is not None:
            self._store.put_derived(ops, partial(self._pages.sources, user_id, values, read or {}))
        else:
            while ops:
                # InMemoryStore refuses a batch in which an indexed text stands twice (langgraph-checkpoint 4.3.2).
                texts = [op.value["text"] if op.index and op.value else None for op in ops]
                again = [text is not None and text in texts[:place] for place, text in enumerate(texts)]
                self._store.batch([op for op, later in zip(ops, again, strict=True) if not later])
                ops = [op for op, later in zip(ops, again, strict=True) if later]

    def get(self, user_id: str, kind: str, keys: Collection[str]) -> dict[str, Record]:
        return _got(self._store, namespace(user_id, kind), keys)

    def all(self, user_id: str, kind: str) -> dict[str, Record]:
        return {item.key: item.value for item in self._store.search(namespace(user_id, kind), limit=_ALL)}

    def search(self, user_id: str, query: str, limit: int) -> list[FoundRecord]:
        found = self._ranking.search(namespace(user_id, _KNOWN), query, limit, ["text"], None)
        return [FoundRecord(item.namespace[-1], item.key, item.value, score) for item, score in found]

    def erase(self, user_id: str) -> None:
        self.put(user_id, {(kind, key): None for kind in KINDS for key in self.all(user_id, kind)})


class StorePages:
    """Pages as items of any store; see `dialogue.model.Pages`."""

    def __init__(self, store: BaseStore, embed: Embed) -> None:
        self._store, self._lock = store, threading.Lock()
        self._ranking = _Ranking(store, embed)

    def add(self, user_id: str, page: DialoguePage) -> None:
        # If several processes put a page with its key at the same time, the last one stays.
        with self._lock if page.key != page.order else nullcontext():
            if page.key == page.order or not self.get(user_id, [page.key]):
                self._put(user_id, page)

    def _put(self, user_id: str, page: DialoguePage) -> None:
        value = {
            "user": page.user, "assistant": page.assistant, "session_id": page.session_id, "order": page.order,
            "said": page.said.isoformat(), "arrived": int(page.order[:_DIGITS]),
        }  # fmt: skip
        # InMemoryStore refuses an item in which an indexed text stands twice, and finds blank ones for any query.
        texts = {value[name]: name for name in reversed(_TEXTS) if str(value[name]).strip()}
        self._store.put(namespace(user_id, PAGES), page.key, value, index=list(texts.values()))

    def after(self, user_id: str, mark: str | None, known: Collection[str]) -> News:  # noqa: ARG002 - as of a graph
        """Return the pages after the mark, an order, and those of the minute before it; it misses deletions."""
        since = None if mark is None else {"arrived": {"$gt": int(mark[:_DIGITS]) - _LATE}}
        items = self._store.search(namespace(user_id, PAGES), filter=since, limit=_ALL)
        pages = [_page(item.key, item.value) for item in items]
        return News(pages, max((page.order for page in pages), default=mark))

    def get(self, user_id: str, keys: Collection[str]) -> dict[str, DialoguePage]:
        found = _got(self._store, namespace(user_id, PAGES), keys)
        return {key: _page(key, value) for key, value in found.items()}

    def search(self, user_id: str, query: str, limit: int, session_id: str | None) -> list[tuple[str, float]]:
        chosen = None if session_id is None else {"session_id": session_id}
        found = self._ranking.search(namespace(user_id, PAGES), query, limit, _TEXTS, chosen)
        return [(item.key, score) for item, score in found]

    def erase(self, user_id: str, keys: Collection[str] | None = None) -> None:
        where = namespace(user_id, PAGES)
        if keys is None:
            keys = [item.key for item in self._store.search(where, limit=_ALL)]
        self._store.batch([PutOp(where, key, None) for key in keys])
        self._ranking.cache_clear()


class _Mark(NamedTuple):
    """How far the pages of a graph were read."""

    node: str | None
    """The last turn."""
    identity: object
    sequence: int


class GraphPages:
    """Pages as turns of sessions in the graph of a memory, so that a search is a recall; see `dialogue.model.Pages`."""

    def __init__(self, memory: NeuroGraphMemory) -> None:
        self._memory = memory
        self._identified = memory.store if isinstance(memory.store, SupportsIdentity) else None

    def add(self, user_id: str, page: DialoguePage) -> None:
        said = list(zip(_TEXTS, (page.user, page.assistant), _turns(user_id, page.key), strict=True))
        told: dict[str, Any] = {"page": page.key, "order": page.order}
        if blank := {role: text for role, text, _ in said if text and not text.strip()}:
            told["blank"] = blank
        # A turn may not have a text exactly.
        messages = [
            {"role": role, "content": text, "id": name, "metadata": told}
            | ({ORIGINAL: text} if len(text) > _WHOLE or text != text.strip() else {})
            for role, text, name in said
            if text.strip()
        ]
        label, path = escaped(user_id), namespace(user_id, PAGES)
        session, said_at = page.session_id, page.said
        self._memory.add(messages, user_id=label, path=path, session_id=session, timestamp=said_at, replace=False)

    def after(self, user_id: str, mark: _Mark | None, known: Collection[str]) -> News:
        view, identity = self._memory.store.view(), None if self._identified is None else self._identified.identity
        if mark is not None and (mark.identity, mark.sequence) == (identity, view.sequence):
            return News([], mark)
        if mark is not None and (mark.identity != identity or self._lacks(user_id, known, mark.sequence, view)):
            return News([], mark, is_rewritten=True)
        nodes = self._memory.list(cursor=mark and mark.node, **self._scope(user_id))
        last = nodes[-1].id if nodes else mark and mark.node
        return News(list(_read(nodes).values()), _Mark(last, identity, view.sequence))

    def get(self, user_id: str, keys: Collection[str]) -> dict[str, DialoguePage]:
        ids = [name for key in keys for name in _turns(user_id, key)]
        return _read(self._memory.store.get_nodes(ids, missing_ok=True))

    def search(self, user_id: str, query: str, limit: int, session_id: str | None) -> list[tuple[str, float]]:
        scope = self._scope(user_id)
        if session_id is not None:
            scope["session_id"] = session_id
        found: dict[str, float] = {}
        for memory in self._memory.recall(query, top_n=2 * limit, **scope):
            found.setdefault(memory.metadata["page"], memory.score)
        return list(found.items())[:limit]

    def erase(self, user_id: str, keys: Collection[str] | None = None) -> None:
        if keys is None:
            self._memory.delete(user_id=escaped(user_id), path=namespace(user_id, PAGES))
        else:
            ids = [name for key in keys for name in _turns(user_id, key)]
            self._memory.delete([node.id for node in self._memory.store.get_nodes(ids, missing_ok=True)])

    def sources(self, user_id: str, values: Changes, read: Mapping[str, DialoguePage]) -> dict[str, list[str]]:
        """Return the ids of the turns that records repeat, by the ids of the items that hold the records.

        Records that repeat a page which is gone, or differs from the one that was `read`, are left out.
        """
        pages = {place: pages_of(*place, value) if value else [] for place, value in values.items()}
        now = self.get(user_id, dict.fromkeys(chain.from_iterable(pages.values())))
        return {
            id_of(namespace(user_id, kind), key): [
                name
                for one in keys
                for name, text in zip(_turns(user_id, one), (now[one].user, now[one].assistant), strict=True)
                if text.strip()
            ]
            for (kind, key), keys in pages.items()
            if all(one in now and read.get(one, now[one]) == now[one] for one in keys)
        }

    def _lacks(self, user_id: str, known: Collection[str], after: int, view: GraphView) -> bool:
        """Return whether turns of known pages, or what is stored beside them, were deleted since a change."""
        changed = chain.from_iterable(
            changed_ids(self._memory.store, kind, after, view.sequence) for kind in ("turn", ITEM)
        )
        gone = {name for name in changed if view.find(name) is None}
        where = namespace(user_id, PAGE)
        return bool(gone) and any(not gone.isdisjoint((*_turns(user_id, key), id_of(where, key))) for key in known)

    @staticmethod
    def _scope(user_id: str) -> FilterOptions:
        return {"user_id": escaped(user_id), "path": namespace(user_id, PAGES), "kinds": ("turn",)}


def kept_in(store: BaseStore, embed: Embed) -> tuple[BaseStore, Pages, StoreRecords]:
    """Return a store whose items belong to their users, also where those of `store` do not, and what it keeps."""
    if not isinstance(store, NeuroStore):
        return store, StorePages(store, embed), StoreRecords(store, embed)
    below, pages = NeuroStore(store.memory, user_label=1), GraphPages(store.memory)
    return below, pages, StoreRecords(below, embed, pages)


class _Ranking:
    """Searches a store, and compares vectors by itself if the store has no index."""

    def __init__(self, store: BaseStore, embed: Embed) -> None:
        self._store, self._embed = store, embed
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
        known = {text: self._vectors[text] for text in texts if text in self._vectors}
        missing = [text for text in texts if text not in known]
        new = dict(zip(missing, self._embed(missing), strict=True)) if missing else {}
        if len(self._vectors) > _MOST_VECTORS:
            self._vectors.clear()
        self._vectors.update(new)
        return known | new


def _got(store: BaseStore, where: tuple[str, ...], keys: Collection[str]) -> dict[str, Record]:
    found = store.batch([GetOp(where, key) for key in keys]) if keys else []
    return {key: item.value for key, item in zip(keys, found, strict=True) if item is not None}  # type: ignore[union-attr]


def _page(key: str, value: Record) -> DialoguePage:
    said = datetime.fromisoformat(value["said"])
    return DialoguePage(key, value["order"], value["session_id"], value["user"], value["assistant"], said)


def _turns(user_id: str, key: str) -> list[str]:
    """Return the ids of the turns of a page; one of them may be silent."""
    name = compute_mdhash_id(f"{user_id}\0{key}", "page-")
    return [f"{name}-{role}" for role in _TEXTS]


def _read(nodes: Iterable[MemoryNode]) -> dict[str, DialoguePage]:
    """Return the pages of turns by key."""
    pages: dict[str, dict[str, Any]] = {}
    for node in nodes:
        told, role = node.metadata, str(node.role)
        if not node.id.endswith(role):
            # A further part of a long text.
            continue
        empty = {"order": told["order"], "session_id": str(node.scope.session_id), "user": "", "assistant": ""}
        page = pages.setdefault(told["page"], {**empty, "said": node.timestamp or node.created_at})
        page |= {**told.get("blank", {}), role: told.get(ORIGINAL, node.content)}
    return {key: DialoguePage(key, **page) for key, page in pages.items()}
