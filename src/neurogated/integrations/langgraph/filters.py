"""Filters of a search: values compared as JSON, with the operators of LangGraph."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import ge, gt, le, lt
from typing import Any

from neurogated.errors import InputError

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
        return _equal_to(condition)
    if not any(str(key).startswith("$") for key in condition):
        return _keys(condition, depth + 1)
    return _all([_operation(operator, operand) for operator, operand in condition.items()])


def _operation(operator: str, operand: Value) -> Check:
    if operator not in _OPERATORS:
        raise InputError(f"unknown operator {operator!r}; known are {', '.join(_OPERATORS)}")
    if operator not in _ORDERS:
        equals = _equal_to(operand)
        return equals if operator == "$eq" else lambda found: not equals(found)
    kinds = {str} if isinstance(operand, str) else {int, float}
    if type(operand) not in kinds:
        raise InputError(f"{operator} compares with a number or a text, not with {operand!r}")
    compare = _ORDERS[operator]
    return lambda found: type(found) in kinds and compare(found, operand)


def _equal_to(wanted: Value) -> Check:
    if isinstance(wanted, str):
        return lambda found: found == wanted
    return lambda found: _equal(found, wanted)


def _equal(first: Value, second: Value) -> bool:
    """Return whether two JSON values are equal. A truth value is no number, and NaN equals nothing."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return first.keys() == second.keys() and all(_equal(first[key], second[key]) for key in first)
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_equal, first, second))
    if isinstance(first, bool) is not isinstance(second, bool):
        return False
    return bool(first == second)
