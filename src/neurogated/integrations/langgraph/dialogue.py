"""Where MemoryOS keeps its pages and records: items of any store of LangGraph, and in a graph pages as turns."""

import threading
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, cast

from langgraph.store.base import BaseStore, GetOp, Item, PutOp, SearchItem

from neurogated.core.abilities import SupportsNamespaces
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
    Record,
    escaped,
    pages_of,
)
from neurogated.ingestion.items import id_of
from neurogated.ingestion.messages import ORIGINAL
from neurogated.integrations.langgraph.items import changed_ids
from neurogated.integrations.langgraph.store import NeuroStore
from neurogated.memory import NeuroGraphMemory
from neurogated.utils.hash_utils import compute_mdhash_id

ROOT = "memoryos"
PAGES, _KNOWN = "pages", "knowledge"
_ALL = 2**31 - 1
_LATE = 60 * 10**6
"""Microseconds by which a page of another process may become visible after pages with later orders."""
_DIGITS = 16
"""Of the microseconds since 1970 at the beginning of an order. Stores compare such numbers right, even as texts."""
_MOST_VECTORS = 50_000  # that are kept for searches of stores without an index
_WHOLE = 400
"""Characters from which a text may be cut into several nodes, so that its page keeps it whole."""
_SPEAKERS = ("user", "assistant")


def namespace(user_id: str, kind: str) -> tuple[str, ...]:
    """Return the namespace of a kind of records of a user."""
    return (ROOT, escaped(user_id), *([_KNOWN] if kind in KNOWLEDGE else []), kind)


class _Mark(NamedTuple):
    """How far the pages of a graph were read."""

    node: str | None
    """The last turn."""
    identity: object
    sequence: int


class StoreDialogue:
    """Pages and records as items of any store of LangGraph; see `dialogue.model.DialogueStore`.

    Attributes:
        store: the items.
        embed: makes vectors of texts, to compare them if the store has no index.
    """

    def __init__(self, store: BaseStore, embed: Embed) -> None:
        self.store, self.embed, self._lock = store, embed, threading.Lock()
        self._vectors: dict[str, Vector] = {}
        forgets(self)

    def cache_clear(self) -> None:
        """Forget the texts and their vectors."""
        self._vectors.clear()

    def add(self, user_id: str, page: DialoguePage) -> None:
        value: Record = {
            "user": page.user, "assistant": page.assistant, "session_id": page.session_id, "order": page.order,
            "said": page.said.isoformat(), "arrived": int(page.order[:_DIGITS]),
        }  # fmt: skip
        # InMemoryStore refuses an item in which an indexed text stands twice, and finds blank ones for any query.
        texts = {value[name]: name for name in reversed(_SPEAKERS) if value[name].strip()}
        with self._lock:
            # If several processes put a page with its key at the same time, the last one stays.
            if page.key == page.order or not self.pages(user_id, [page.key]):
                self.store.put(namespace(user_id, PAGES), page.key, value, index=list(texts.values()))

    def after(self, user_id: str, mark: Any, known: Collection[str]) -> News:  # noqa: ANN401, ARG002 - of a graph
        """Return the pages since the mark, and those of the minute before it; it misses deletions."""
        since = None if mark is None else {"arrived": {"$gt": mark - _LATE}}
        items = self.store.search(namespace(user_id, PAGES), filter=since, limit=_ALL)
        latest = max((item.value["arrived"] for item in items), default=mark)
        return News([_page(item.key, item.value) for item in items], latest)

    def pages(self, user_id: str, keys: Collection[str]) -> dict[str, DialoguePage]:
        return {key: _page(key, value) for key, value in self.get(user_id, PAGES, keys).items()}

    def find_pages(self, user_id: str, query: str, limit: int, session_id: str | None) -> list[tuple[str, float]]:
        chosen = None if session_id is None else {"session_id": session_id}
        found = self._nearest(namespace(user_id, PAGES), query, limit, _SPEAKERS, chosen)
        return [(item.key, score) for item, score in found]

    def put(self, user_id: str, values: Changes, read: Mapping[str, DialoguePage] | None = None) -> None:  # noqa: ARG002
        if None in values.values():
            self.cache_clear()
        ops = _puts(user_id, values)
        # InMemoryStore refuses a batch in which an indexed text stands twice (langgraph-checkpoint 4.3.2). What says
        # that pages were learned comes last.
        for batch in (*([op] for op in ops if op.index), [op for op in ops if not op.index]):
            if batch:
                self.store.batch(batch)

    def get(self, user_id: str, kind: str, keys: Collection[str]) -> dict[str, Record]:
        found = self.store.batch([GetOp(namespace(user_id, kind), key) for key in keys]) if keys else []
        return {item.key: item.value for item in cast("list[Item | None]", found) if item is not None}

    def all(self, user_id: str, kind: str) -> dict[str, Record]:
        return {item.key: item.value for item in self.store.search(namespace(user_id, kind), limit=_ALL)}

    def find_knowledge(self, user_id: str, query: str, limit: int) -> list[FoundRecord]:
        found = self._nearest(namespace(user_id, _KNOWN), query, limit, ("text",))
        return [FoundRecord(item.namespace[-1], item.key, item.value, score) for item, score in found]

    def erase(self, user_id: str, keys: Collection[str] | None = None) -> None:
        self.cache_clear()
        if keys is None:
            gone = {(kind, key): None for kind in (PAGES, *KINDS) for key in self.all(user_id, kind)}
        else:
            gone = dict.fromkeys((PAGES, key) for key in keys)
        self.put(user_id, gone)

    def _nearest(
        self, where: tuple[str, ...], query: str, limit: int, fields: Iterable[str], chosen: Record | None = None
    ) -> list[tuple[SearchItem, float]]:
        """Return the items nearest to a query with their scores, best first; by cosine if the store has no index."""
        items = self.store.search(where, query=query, filter=chosen, limit=limit)
        scored = [(item, item.score) for item in items if item.score is not None]
        if scored or not items:
            return scored
        items = self.store.search(where, filter=chosen, limit=_ALL)
        texts = [[text for name in fields if (text := item.value[name]).strip()] for item in items]
        wanted = {text for each in texts for text in each}
        vectors = {text: vector for text in wanted if (vector := self._vectors.get(text)) is not None}
        if new := list(wanted - vectors.keys()):
            vectors |= zip(new, self.embed(new), strict=True)
        if len(self._vectors) > _MOST_VECTORS:
            self.cache_clear()
        self._vectors.update(vectors)
        (asked,) = self.embed([query])
        ranked = [
            (item, max(float(vectors[text] @ asked) for text in each)) for item, each in zip(items, texts, strict=True)
        ]
        return sorted(ranked, key=lambda one: -one[1])[:limit]


class GraphDialogue(StoreDialogue):
    """Pages as turns in the graph of a memory, so that a search is a recall, and records as items with edges to them.

    Its items belong to their users.
    """

    store: NeuroStore

    def __init__(self, memory: NeuroGraphMemory) -> None:
        super().__init__(NeuroStore(memory, user_label=1), memory.session.parts.embedder.embed_documents)
        self._memory = memory
        self._identified = memory.session.store if isinstance(memory.session.store, SupportsNamespaces) else None

    def add(self, user_id: str, page: DialoguePage) -> None:
        said = list(zip(_SPEAKERS, (page.user, page.assistant), _turns(user_id, page.key), strict=True))
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
        nodes = self._memory.list(cursor=mark and mark.node, **_scope(user_id))
        last = nodes[-1].id if nodes else mark and mark.node
        return News(list(_read(nodes).values()), _Mark(last, identity, view.sequence))

    def _lacks(self, user_id: str, known: Collection[str], after: int, view: GraphView) -> bool:
        """Return whether turns of known pages, or what is stored beside them, were deleted since a change."""
        changed = chain.from_iterable(
            changed_ids(self._memory.store, kind, after, view.sequence) for kind in ("turn", ITEM)
        )
        gone = {name for name in changed if view.find(name) is None}
        where = namespace(user_id, PAGE)
        return bool(gone) and any(not gone.isdisjoint((*_turns(user_id, key), id_of(where, key))) for key in known)

    def pages(self, user_id: str, keys: Collection[str]) -> dict[str, DialoguePage]:
        return _read(self._nodes(user_id, keys))

    def _nodes(self, user_id: str, keys: Collection[str]) -> list[MemoryNode]:
        ids = [name for key in keys for name in _turns(user_id, key)]
        return self._memory.store.get_nodes(ids, missing_ok=True)

    def find_pages(self, user_id: str, query: str, limit: int, session_id: str | None) -> list[tuple[str, float]]:
        scope = _scope(user_id)
        if session_id is not None:
            scope["session_id"] = session_id
        found: dict[str, float] = {}
        for memory in self._memory.recall(query, top_n=2 * limit, **scope):
            found.setdefault(memory.metadata["page"], memory.score)
        return list(found.items())[:limit]

    def put(self, user_id: str, values: Changes, read: Mapping[str, DialoguePage] | None = None) -> None:
        if values:
            self.store.put_derived(_puts(user_id, values), partial(self._sources, user_id, values, read or {}))

    def _sources(self, user_id: str, values: Changes, read: Mapping[str, DialoguePage]) -> dict[str, list[str]]:
        """Return the ids of the turns that records repeat, by the ids of the items that hold the records.

        Records that repeat a page which is gone, or differs from the one that was `read`, are left out.
        """
        pages = {place: pages_of(*place, value) if value else [] for place, value in values.items()}
        now = self.pages(user_id, dict.fromkeys(chain.from_iterable(pages.values())))
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

    def erase(self, user_id: str, keys: Collection[str] | None = None) -> None:
        if keys is not None:
            self._memory.delete([node.id for node in self._nodes(user_id, keys)])
            return
        self._memory.delete(user_id=escaped(user_id), path=namespace(user_id, PAGES))
        self.store.delete_namespace((ROOT, escaped(user_id)))


def _puts(user_id: str, values: Changes) -> list[PutOp]:
    return [
        PutOp(namespace(user_id, kind), key, value, index=["text"] if kind in KNOWLEDGE else False)
        for (kind, key), value in values.items()
    ]


def _page(key: str, value: Record) -> DialoguePage:
    said = datetime.fromisoformat(value["said"])
    return DialoguePage(key, value["order"], value["session_id"], value["user"], value["assistant"], said)


def _scope(user_id: str) -> FilterOptions:
    return {"user_id": escaped(user_id), "path": namespace(user_id, PAGES), "kinds": ("turn",)}


def _turns(user_id: str, key: str) -> list[str]:
    """Return the ids of the turns of a page; one of them may be silent."""
    name = compute_mdhash_id(f"{user_id}\0{key}", "page-")
    return [f"{name}-{role}" for role in _SPEAKERS]


def _read(nodes: Iterable[MemoryNode]) -> dict[str, DialoguePage]:
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
