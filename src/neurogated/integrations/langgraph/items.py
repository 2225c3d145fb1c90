"""Items as LangGraph has them: how a node becomes one, what operations may hold, and filters of values."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
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

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.model import MemoryNode, checked_count
from neurogated.errors import InputError
from neurogated.ingestion.items import depth_of, leaves, number_of_texts, value_of
from neurogated.text.strings import checked_text, halves_joined, repaired_text

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
    found = [one for one in namespaces if all(_fulfils(one, condition) for condition in op.match_conditions or ())]
    cut = list(dict.fromkeys(one[: op.max_depth] for one in found))
    return cut[op.offset : op.offset + op.limit]


def _fulfils(namespace: Namespace, condition: MatchCondition) -> bool:
    path, step = tuple(condition.path), 1 if condition.match_type == "prefix" else -1
    pairs = zip(path[::step], namespace[::step], strict=False)
    return len(path) <= len(namespace) and all(wanted in ("*", label) for wanted, label in pairs)


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
