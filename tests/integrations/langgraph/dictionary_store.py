"""A store of LangGraph as anybody would write it in an hour: dictionaries."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
from langgraph.store.base import (
    BaseStore,
    GetOp,
    IndexConfig,
    Item,
    ListNamespacesOp,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
    ensure_embeddings,
    get_text_at_path,
)

OPERATORS: dict[str, Any] = {
    "$eq": lambda a, b: a == b,
    "$ne": lambda a, b: a != b,
    "$gt": lambda a, b: a > b,
    "$gte": lambda a, b: a >= b,
    "$lt": lambda a, b: a < b,
    "$lte": lambda a, b: a <= b,
}


class DictionaryStore(BaseStore):
    supports_ttl = True

    def __init__(self, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None) -> None:
        self.index: Any = index
        self.embeddings: Any = ensure_embeddings(index["embed"]) if index else None
        self.ttl_config = ttl
        self.items: dict[tuple[tuple[str, ...], str], Item] = {}
        self.vectors: dict[tuple[tuple[str, ...], str], list[list[float]]] = {}
        self.times: dict[tuple[tuple[str, ...], str], tuple[float, datetime]] = {}

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        return [self.answer(op) for op in ops]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        return self.batch(ops)

    def answer(self, op: Op) -> Any:  # noqa: ANN401
        if isinstance(op, GetOp):
            item = self.items.get((op.namespace, op.key))
            self.touch(item, refresh=op.refresh_ttl)
            return item
        if isinstance(op, PutOp):
            return self.write(op)
        if isinstance(op, SearchOp):
            return self.find(op)
        return self.names(op)

    def write(self, op: PutOp) -> None:
        name = (op.namespace, op.key)
        self.times.pop(name, None)
        if op.value is None:
            self.items.pop(name, None)
            return
        now = datetime.now(UTC)
        self.items[name] = Item(
            value=dict(op.value), key=op.key, namespace=op.namespace, created_at=now, updated_at=now
        )
        if op.ttl is not None:
            self.times[name] = (op.ttl, now)
        if self.index and op.index is not False:
            fields = op.index or self.index.get("fields") or ["$"]
            texts = [text for field in fields for text in get_text_at_path(op.value, field)]
            self.vectors[name] = self.embeddings.embed_documents(texts)

    def touch(self, item: Item | None, *, refresh: bool) -> None:
        if item and refresh and (item.namespace, item.key) in self.times:
            name = (item.namespace, item.key)
            self.times[name] = (self.times[name][0], datetime.now(UTC))

    def find(self, op: SearchOp) -> list[SearchItem]:
        found = [i for i in self.items.values() if ".".join(i.namespace).startswith(".".join(op.namespace_prefix))]
        found = [
            item for item in found if all(self.matches(item.value.get(k), v) for k, v in (op.filter or {}).items())
        ]
        scores: dict[int, float] = {}
        if op.query and self.index:
            query = self.embeddings.embed_query(op.query)
            for item in found:
                vectors = self.vectors.get((item.namespace, item.key), [])
                scores[id(item)] = max((float(np.dot(query, vector)) for vector in vectors), default=0.0)
            found.sort(key=lambda item: -scores[id(item)])
        page = found[op.offset : op.offset + op.limit]
        for item in page:
            self.touch(item, refresh=op.refresh_ttl)
        return [SearchItem(i.namespace, i.key, i.value, i.created_at, i.updated_at, scores.get(id(i))) for i in page]

    def matches(self, value: Any, wanted: Any) -> bool:  # noqa: ANN401
        if isinstance(wanted, dict):
            return all(OPERATORS[name](value, other) for name, other in wanted.items() if name in OPERATORS)
        return bool(value == wanted)

    def names(self, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        names = {namespace for namespace, _ in self.items}
        for condition in op.match_conditions or ():
            pattern = r"\.".join(condition.path).replace("*", r"[^.]+")
            pattern = rf"{pattern}.*" if condition.match_type == "prefix" else rf".*{pattern}"
            names = {name for name in names if re.fullmatch(pattern, ".".join(name))}
        return sorted(name[: op.max_depth] for name in names)[op.offset : op.offset + op.limit]

    def sweep_ttl(self) -> int:
        late = [name for name, (ttl, at) in self.times.items() if at + timedelta(minutes=ttl) < datetime.now(UTC)]
        for name in late:
            del self.items[name], self.times[name]
        return len(late)
