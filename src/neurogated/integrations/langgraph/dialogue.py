"""Where MemoryOS keeps its pages and records: pages are turns of sessions in a graph, and records are items."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from itertools import chain
from typing import Any, NamedTuple, cast

from langgraph.store.base import GetOp, Item, PutOp

from neurogated.core.abilities import SupportsNamespaces
from neurogated.core.filters import FilterOptions
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import ITEM
from neurogated.core.view import GraphView
from neurogated.dialogue.model import (
    KNOWLEDGE,
    PAGE,
    Changes,
    DialoguePage,
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
_PAGES, _KNOWN = "pages", "knowledge"
_ALL = 2**31 - 1
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


class GraphDialogue:
    """Pages as turns in the graph of a memory, so that a search is a recall, and records as items with edges to them.

    See `dialogue.model.DialogueStore`.

    Attributes:
        store: the items, which belong to their users.
    """

    def __init__(self, memory: NeuroGraphMemory) -> None:
        self.store, self._memory = NeuroStore(memory, user_label=1), memory
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
        label, path = escaped(user_id), namespace(user_id, _PAGES)
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
        ops = [
            PutOp(namespace(user_id, kind), key, value, index=["text"] if kind in KNOWLEDGE else False)
            for (kind, key), value in values.items()
        ]
        if ops:
            self.store.put_derived(ops, partial(self._sources, user_id, values, read or {}))

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

    def get(self, user_id: str, kind: str, keys: Collection[str]) -> dict[str, Record]:
        found = self.store.batch([GetOp(namespace(user_id, kind), key) for key in keys]) if keys else []
        return {item.key: item.value for item in cast("list[Item | None]", found) if item is not None}

    def all(self, user_id: str, kind: str) -> dict[str, Record]:
        return {item.key: item.value for item in self.store.search(namespace(user_id, kind), limit=_ALL)}

    def find_knowledge(self, user_id: str, query: str, limit: int) -> list[FoundRecord]:
        items = self.store.search(namespace(user_id, _KNOWN), query=query, limit=limit)
        return [FoundRecord(one.namespace[-1], one.key, one.value, one.score) for one in items if one.score is not None]

    def erase(self, user_id: str, keys: Collection[str] | None = None) -> None:
        if keys is not None:
            self._memory.delete([node.id for node in self._nodes(user_id, keys)])
            return
        self._memory.delete(user_id=escaped(user_id), path=namespace(user_id, _PAGES))
        self.store.delete_namespace((ROOT, escaped(user_id)))


def _scope(user_id: str) -> FilterOptions:
    return {"user_id": escaped(user_id), "path": namespace(user_id, _PAGES), "kinds": ("turn",)}


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
