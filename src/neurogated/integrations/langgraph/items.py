"""Items as LangGraph has them: filters, what operations may hold, and the items of a store in memory."""

from __future__ import annotations

import heapq
import json
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from operator import ge, gt, le, lt
from typing import Any, Literal

from langgraph.store.base import (
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    SearchItem,
    SearchOp,
    get_text_at_path,
    validate_op_namespace,
)

from neurogated.core.abilities import SupportsNamespaces, SupportsTouched
from neurogated.core.clock import from_micros, to_micros
from neurogated.core.commit import REFRESHED
from neurogated.core.contexts import forgets
from neurogated.core.delta import Access, GraphDelta
from neurogated.core.filters import Filter, FilterOptions
from neurogated.core.model import MemoryNode, checked_count
from neurogated.core.node_kind import ITEM
from neurogated.core.ports import GraphStorePort, Snapshot
from neurogated.core.scope import ANY_USER, ScopeFilter
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.ingestion.items import depth_of, item_id, leaves, node_ids, number_of_texts, value_of
from neurogated.retrieval.formula import CANDIDATES
from neurogated.session.session import Notice, Session
from neurogated.session.subscribers import log_access
from neurogated.text.strings import checked_text, halves_joined, repaired_text
from neurogated.utils.background import take

Value = Any
"""A JSON value."""
Check = Callable[[Value], bool]
_MISSING = object()
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"$gt": gt, "$gte": ge, "$lt": lt, "$lte": le}
_OPERATORS = ("$eq", "$ne", *_ORDERS)
_DEEPEST = 100


def compiled(filters: Mapping[str, Value] | None) -> Check | None:
    """Return a function that tells whether the value of an item passes a filter; None if all pass.

    A key is a key of the value, or else a path of keys joined by dots. A condition is a mapping of operators, a mapping
    of nested keys to conditions, or a value to be equal to. A missing key passes only `$ne`.

    Raises:
        InputError: the filter is not a mapping or nests too deep, a key or an operator is invalid, or an operand cannot
            be ordered.
    """
    if filters is None or filters == {}:
        return None
    if not isinstance(filters, Mapping):
        raise InputError(f"the filter is {filters!r}, but must be a mapping such as {{'color': 'red'}}")
    return _keys(filters)


def _keys(conditions: Mapping[str, Value], depth: int = 1) -> Check:
    if depth > _DEEPEST:
        raise InputError(f"the filter nests more than {_DEEPEST} mappings in one another; make it flatter")
    return _all([_at(key, _condition(condition, depth)) for key, condition in conditions.items()])


def _all(checks: Sequence[Check]) -> Check:
    first, *others = checks
    return (lambda value: first(value) and all(check(value) for check in others)) if others else first


def _at(key: object, check: Check) -> Check:
    """Return the check of what a value has under a key; the literal key wins over the path."""
    path = key.split(".") if isinstance(key, str) else [""]
    if not isinstance(key, str) or not all(path):
        raise InputError(f"Invalid filter key {key!r}: a key is a name, or names joined by single dots")
    if key.startswith("$"):
        raise InputError(f"unknown operator {key!r}: only keys of the value are here, and several are joined by 'and'")

    def followed(value: Value) -> bool:
        if isinstance(value, dict) and key in value:
            return check(value[key])
        for name in path:
            value = value.get(name, _MISSING) if isinstance(value, dict) else _MISSING
        return check(value)

    if len(path) > 1:
        return followed
    return lambda value: check(value.get(key, _MISSING) if isinstance(value, dict) else _MISSING)


def _condition(condition: Value, depth: int) -> Check:
    if not isinstance(condition, Mapping) or not condition:
        return lambda found: _equal(found, condition)
    if not any(str(key).startswith("$") for key in condition):
        return _keys(condition, depth + 1)
    return _all([_operation(operator, operand) for operator, operand in condition.items()])


def _operation(operator: str, operand: Value) -> Check:
    if operator not in _OPERATORS:
        raise InputError(f"unknown operator {operator!r}; known are {', '.join(_OPERATORS)}")
    if operator not in _ORDERS:
        return lambda found: _equal(found, operand) is (operator == "$eq")
    kinds = {str} if isinstance(operand, str) else {int, float}
    if type(operand) not in kinds:
        raise InputError(f"{operator} compares with a number or a text, not with {operand!r}")
    compare = _ORDERS[operator]
    return lambda found: type(found) in kinds and compare(found, operand)


def _equal(first: Value, second: Value) -> bool:
    """Return whether two JSON values are equal. A truth value is no number, and NaN equals nothing."""
    if isinstance(second, str):
        return bool(first == second)
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_equal(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_equal, first, second))
    if isinstance(first, bool) is not isinstance(second, bool):
        return False
    return bool(first == second)


Namespace = tuple[str, ...]
WHOLE = "$"
"""The path of the whole value."""
_LONGEST_KEY = 2**16
_LONGEST_VALUE = 2**26
_MOST_LEVELS = 400
"""Python limits the depth of recursion."""
MICROS_A_MINUTE = 60_000_000


@dataclass(frozen=True, slots=True)
class ItemEntry:
    """One stored item."""

    id: str
    namespace: Namespace
    key: str
    value: Mapping[str, Any]
    created_at: datetime
    updated_at: datetime
    ttl: float | None
    """In minutes; None for an item that never expires."""
    texts: int
    """How many nodes it has."""
    expires_at: int | None
    """When it expires, in microseconds since 1970 UTC, as no call finds an expired memory; None: never."""

    @classmethod
    def of(cls, node: MemoryNode) -> ItemEntry:
        """Return the item that a node holds."""
        known = node.metadata
        return cls(
            id=node.id,
            namespace=tuple(node.scope.path),
            key=known["key"],
            value=value_of(known),
            created_at=node.created_at,
            updated_at=from_micros(known["updated_at"]),
            ttl=known.get("ttl"),
            texts=number_of_texts(known),
            expires_at=None if node.expires_at is None else to_micros(node.expires_at),
        )

    @property
    def updated(self) -> tuple[datetime, str]:
        """Sorts items, the latest last."""
        return self.updated_at, self.id

    def is_alive(self, now: int) -> bool:
        """Return whether it has not expired."""
        return self.expires_at is None or now < self.expires_at

    def item(self) -> Item:
        """Return the item as LangGraph has it, with a copy of the value."""
        kept = {name: getattr(self, name) for name in ("key", "namespace", "created_at", "updated_at")}
        return Item(value=json.loads(json.dumps(self.value)), **kept)


def found_items(entries: Sequence[ItemEntry], scores: Mapping[str, float]) -> list[SearchItem]:
    """Return items as a search returns them, with copies of the values."""
    pairs = zip(entries, json.loads(json.dumps([entry.value for entry in entries])), strict=True)
    return [
        SearchItem(one.namespace, one.key, value, one.created_at, one.updated_at, scores.get(one.id))
        for one, value in pairs
    ]


def checked_value(value: object) -> dict[str, Any]:
    """Return a copy of a value as JSON has it.

    Raises:
        InputError: it is not a mapping of names to JSON values, or too large.
    """
    if not isinstance(value, dict | Mapping):
        raise InputError(f"the value {value!r:.100} of an item must be a mapping such as {{'text': 'tea'}}")
    try:
        written = json.dumps(dict(value), allow_nan=False, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the value of an item is not JSON ({error}); use texts, numbers, lists and dicts") from None
    if len(written) > _LONGEST_VALUE:
        raise InputError(f"the value of an item has {len(written)} characters as JSON; {_LONGEST_VALUE} are possible")
    if depth_of(value) > _MOST_LEVELS:
        raise InputError(f"the value of an item nests more than {_MOST_LEVELS} lists and mappings; make it flatter")
    return dict(json.loads(halves_joined(written)))


def checked_fields(index: object) -> Sequence[str] | Literal[False] | None:
    """Return which fields to index; raises InputError."""
    if index is None or index is False:
        return index
    if isinstance(index, str) or not isinstance(index, Sequence) or not all(isinstance(one, str) for one in index):
        raise InputError(f"index is {index!r}, but must be False or a list of paths such as ['text', 'tags[*]']")
    return list(index)


def texts_of(op: PutOp, fields: Sequence[str]) -> list[str]:
    """Return the texts of an item to index, each once. `fields` are the paths unless the operation has its own."""
    chosen = checked_fields(op.index)
    if op.value is None or chosen is False:
        return []
    paths = fields if chosen is None else chosen
    value = dict(op.value)
    found = chain.from_iterable(
        ["\n".join(leaves(value))] if path == WHOLE else get_text_at_path(value, path) for path in paths
    )
    return list(dict.fromkeys(text for text in found if text.strip()))


def listed(namespaces: Sequence[Namespace], op: ListNamespacesOp) -> list[Namespace]:
    """Return the page of the namespaces that fulfil all conditions, each cut to the largest depth."""

    def fulfils(namespace: Namespace, condition: MatchCondition) -> bool:
        path, step = tuple(condition.path), 1 if condition.match_type == "prefix" else -1
        pairs = zip(path[::step], namespace[::step], strict=False)
        return len(path) <= len(namespace) and all(wanted in ("*", label) for wanted, label in pairs)

    found = [one for one in namespaces if all(fulfils(one, condition) for condition in op.match_conditions or ())]
    cut = list(dict.fromkeys(one[: op.max_depth] for one in found))
    return cut[op.offset : op.offset + op.limit]


def checked_op(op: Op) -> Op:
    """Return an operation with a detached value.

    Raises:
        InvalidNamespaceError: a label is not valid.
        InputError: anything else is not valid.
    """
    if not isinstance(op, GetOp | PutOp | SearchOp | ListNamespacesOp):
        raise InputError(f"{op!r} is no operation of a store")
    # The letters of a text would be the labels. LangGraph's tests list by such texts.
    given = (
        None if isinstance(op, ListNamespacesOp) else op.namespace_prefix if isinstance(op, SearchOp) else op.namespace
    )
    if isinstance(given, str):
        raise InputError(f"the namespace {given!r} is a text, but must be a tuple of labels, such as ({given!r},)")
    validate_op_namespace(op)
    if isinstance(op, SearchOp | ListNamespacesOp):
        checked_count("limit", op.limit)
        checked_count("offset", op.offset)
    if isinstance(op, ListNamespacesOp):
        for condition in op.match_conditions or ():
            if condition.match_type not in {"prefix", "suffix"}:
                raise InputError(f"a namespace has a prefix or a suffix, and no {condition.match_type!r}")
    elif isinstance(op, SearchOp):
        compiled(op.filter)
        if op.query is not None:
            op = op._replace(query=repaired_text("the query", op.query))
    else:
        key: object = op.key
        if not isinstance(key, str) or "\0" in key or len(key) > _LONGEST_KEY:
            raise InputError(f"the key {key!r} must be a text of at most {_LONGEST_KEY} characters without NUL")
        checked_text("the key of an item", key)
    return _checked_put(op) if isinstance(op, PutOp) else op


def _checked_put(op: PutOp) -> PutOp:
    checked_fields(op.index)
    ttl: object = op.ttl
    if ttl is not None and (isinstance(ttl, bool) or not isinstance(ttl, int | float) or not 0 <= ttl < float("inf")):
        raise InputError(f"ttl is {ttl!r}, but must be a number of minutes from 0 on")
    value = None if op.value is None else checked_value(op.value)
    return op._replace(namespace=tuple(op.namespace), value=value)


class ItemTable:
    """All items of a graph, the latest last. It follows the writes of all threads and processes when it is read."""

    def __init__(self, store: GraphStorePort, now: Callable[[], int]) -> None:
        """Take the graph, and what returns the time in microseconds."""
        self._store, self._now = store, now
        self._identified = store if isinstance(store, SupportsNamespaces) else None
        self._lock = threading.RLock()
        self._entries: dict[str, ItemEntry] = {}
        self._namespaces: dict[Namespace, dict[str, ItemEntry]] = {}
        self._mortal: dict[str, ItemEntry] = {}
        self._known: tuple[object, GraphView] | None = None
        forgets(self)

    def cache_clear(self) -> None:
        """Forget all items, unless a thread reads them now; the next read reads them again."""
        taken: list[bool] = []
        try:
            if take(self._lock, taken, 0):
                self._clear()
        finally:
            if True in taken:
                self._lock.release()

    def page(
        self,
        prefix: Namespace,
        check: Check | None,
        *,
        first: Collection[str] = (),
        most: int | None = None,
        read: GraphView | None = None,
    ) -> list[ItemEntry]:
        """Return items as they are at one moment: those of `first` that match, then the others, the latest first.

        Args:
            prefix: the beginning of the namespaces.
            check: the filter of the values.
            first: ids of items under the prefix, best first.
            most: return at most this many; all if it is None.
            read: the view that was searched for `first`, if any; the items are of its moment unless it has passed.
        """
        with self._lock:
            self._catch_up(read)
            dead = self._dead_ids()
            known = [self._entries[name] for name in first if name in self._entries and name not in dead]
            passing = known if check is None else (entry for entry in known if check(entry.value))
            return list(islice(chain(passing, self._latest(prefix, check, {*first, *dead})), most))

    def node_ids(self, prefix: Namespace, check: Check | None) -> list[str]:
        """Return the ids of all nodes of the items that match, in no order; see `page`."""
        with self._lock:
            self._catch_up()
            hidden = self._dead_ids()
            found = list(chain.from_iterable(self._found(prefix, check, hidden)))
            return [name for entry in found for name in node_ids(entry.id, 0, entry.texts)]

    def has_items(self, prefix: Namespace) -> bool:
        """Return whether a namespace that begins with `prefix` has an item, perhaps one that is gone meanwhile."""
        with self._lock:
            if not any(name[: len(prefix)] == prefix for name in self._namespaces):
                self._catch_up()
            return any(name[: len(prefix)] == prefix for name in self._namespaces)

    def namespaces(self) -> list[Namespace]:
        """Return the namespaces with an item that has not expired, in order."""
        with self._lock:
            self._catch_up()
            hidden = self._dead_ids()
            found = [name for name, entries in self._namespaces.items() if any(self._passing(entries, None, hidden))]
            return sorted(found)

    def _latest(self, prefix: Namespace, check: Check | None, hidden: Collection[str]) -> Iterator[ItemEntry]:
        # It begins when it is asked for its first item, which a page of recalled items may never need.
        found = self._found(prefix, check, hidden)
        yield from heapq.merge(*found, key=lambda entry: entry.updated, reverse=True)

    def _found(self, prefix: Namespace, check: Check | None, hidden: Collection[str]) -> list[Iterator[ItemEntry]]:
        """Return the items of each namespace, the latest first."""
        wanted = [entries for name, entries in self._namespaces.items() if name[: len(prefix)] == prefix]
        return [self._passing(entries, check, hidden) for entries in wanted]

    @staticmethod
    def _passing(entries: dict[str, ItemEntry], check: Check | None, hidden: Collection[str]) -> Iterator[ItemEntry]:
        latest = reversed(entries.values())
        passing = latest if check is None else (entry for entry in latest if check(entry.value))
        return (entry for entry in passing if entry.id not in hidden) if hidden else iter(passing)

    def _dead_ids(self) -> set[str]:
        now = self._now()
        return {entry.id for entry in self._mortal.values() if not entry.is_alive(now)}

    def _catch_up(self, read: GraphView | None = None) -> None:
        """Read the changes since the last call, but none if that read the same state as `read`."""
        store, known = self._store, self._known
        if read and known and read.ids is known[1].ids and read.sequence == known[1].sequence:
            return
        while True:
            view = store.view()
            if self._known is not None and self._known[1] is view:
                return
            identity = None if self._identified is None else self._identified.identity
            if self._known is None or self._known[0] != identity or self._known[1].sequence > view.sequence:
                self._clear()
                self._put(one.id for one in store.snapshot(filters=Filter((ITEM,), scope=ScopeFilter(ANY_USER))).find())
            elif self._known[1].sequence < view.sequence:
                self._put(changed_ids(store, ITEM, self._known[1].sequence, view.sequence))
            # A change since the view may be read in part, so the next round reads the rest of it.
            self._known = identity, view

    def _clear(self) -> None:
        self._known = None
        for names in (self._entries, self._namespaces, self._mortal):
            names.clear()

    def _put(self, ids: Iterable[str]) -> None:
        """Read items again, some of which may be gone."""
        names = list(dict.fromkeys(name for name in ids if item_id(name) == name))
        for old in [self._entries.pop(name) for name in names if name in self._entries]:
            self._mortal.pop(old.id, None)
            del self._namespaces[old.namespace][old.key]
            if not self._namespaces[old.namespace]:
                del self._namespaces[old.namespace]
        nodes = self._store.get_nodes(names, missing_ok=True)
        for entry in sorted(
            (ItemEntry.of(node) for node in nodes if node.kind == ITEM), key=lambda entry: entry.updated
        ):
            self._entries[entry.id] = entry
            if entry.expires_at is not None:
                self._mortal[entry.id] = entry
            entries = self._namespaces.setdefault(entry.namespace, {})
            # The clock of another process may be behind.
            late = entries and next(reversed(entries.values())).updated > entry.updated
            entries[entry.key] = entry
            if late:
                in_order = sorted(entries.values(), key=lambda entry: entry.updated)
                self._namespaces[entry.namespace] = {one.key: one for one in in_order}


def changed_ids(store: GraphStorePort, kind: str, after: int, up_to: int) -> Iterable[str]:
    """Return the ids of the nodes of a kind that changed; also of some others."""
    if isinstance(store, SupportsTouched):
        return store.touched(kind, "", after, up_to)
    deltas = [entry.delta for entry in store.journal(after)]
    return [name for delta in deltas for name in (*delta.removed_nodes, *(node.id for node in delta.nodes))]


Order = Literal["activation", "cosine"]
ORDERS = ("activation", "cosine")
Scored = tuple[str, float]
"""The id of an item and its score."""


def ranked(
    session: Session, query: str, prefix: Namespace, *, only_ids: Collection[str] | None, order: Order, most: int
) -> tuple[dict[str, float], GraphView]:
    """Return the scores of the `most` items under a prefix that fit best, best first, and the view that was searched.

    Items without a text in the index have none. The order does not depend on `most`, so pages do not overlap.

    Args:
        session: the graph.
        query: a question or any text.
        prefix: the beginning of the namespaces.
        only_ids: the ids of the nodes that count; None for all.
        order: `activation` recalls as many nodes as recalls have candidates, and continues by cosine.
        most: how many items are needed, at least 1; more cost more.
    """
    given: FilterOptions = {"user_id": ANY_USER, "path": prefix, "kinds": (ITEM,), "only_ids": only_ids}
    wanted = Filter((ITEM,), scope=ScopeFilter(ANY_USER, path=prefix), only_ids=only_ids)
    reader = session.store.snapshot(filters=wanted)
    steps = [_by_cosine(session, query, reader, most)]
    if order == "activation":
        steps = [_recalled(session, query, reader, given, sorted({min(most, CANDIDATES), CANDIDATES})), *steps]
    found, lowest = dict[str, float](), float("inf")
    for node_id, score in chain.from_iterable(chain.from_iterable(steps)):
        name = item_id(node_id)
        if name not in found:
            found[name] = lowest = min(score, lowest)
            if len(found) == most:
                break
    return found, reader.view


def _recalled(
    session: Session, query: str, reader: Snapshot, given: FilterOptions, sizes: Sequence[int]
) -> Iterator[list[Scored]]:
    """Yield the nodes of recalls of these sizes. A larger recall begins with the memories of a smaller one."""
    for size in sizes:
        found = session.retriever.scores(query, reader, top_n=size)
        if found is None:
            recall = session.retriever.recall(query, top_n=size, include_duplicates=True, **given)
            found = [(one.id, one.score) for one in recall]
        yield found
        if len(found) < size:
            return


def _by_cosine(session: Session, query: str, reader: Snapshot, most: int) -> Iterator[list[Scored]]:
    (vector,) = session.parts.embedder.embed_queries([query])
    read, count = 0, most
    while True:
        ((rows, scores),) = reader.nearest([vector], count)
        yield list(zip(reader.view.names(rows[read:]), scores[read:].tolist(), strict=True))
        if rows.size < count:
            return
        read, count = rows.size, 4 * count


_LEAST_SHARE = 0.01
"""A read moves the end of a lifetime only by this share of it or more, so that many reads are few writes."""


def refresh(session: Session, entries: Sequence[ItemEntry], *, wanted: bool) -> None:
    """Count an access of each item, and begin their lifetimes again; without `wanted`, only of immortal ones."""
    read = [entry for entry in entries if wanted or entry.ttl is None]
    if not read:
        return
    log_access(session, Notice("changed", access=lambda: Access.of([entry.id for entry in read])))
    now, ends = session.now(), dict[str, tuple[datetime, datetime]]()
    for entry in read:
        if entry.ttl is not None and entry.expires_at is not None:
            span = int(entry.ttl * MICROS_A_MINUTE)
            if now + span - entry.expires_at >= _LEAST_SHARE * span:
                move = from_micros(entry.expires_at), from_micros(now + span)
                ends |= dict.fromkeys(node_ids(entry.id, 0, entry.texts), move)

    def later() -> GraphDelta:
        # Meanwhile, a node may have expired or have got another end.
        nodes, at = session.store.get_nodes(list(ends), missing_ok=True), session.clock()
        moved = [
            (one, ends[one.id][1]) for one in nodes if one.expires_at == ends[one.id][0] and not one.has_expired(at)
        ]
        return GraphDelta(nodes=tuple(one.changed(expires_at=end) for one, end in moved), reason=REFRESHED, at=at)

    if ends and not session.config.read_only:
        session.commit(later)
