"""Checks an expression against the operations, before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from neurogated.errors import ExpressionError, InputError
from neurogated.operations import EXPRESSIONS, REQUIRED, Argument, Operation, hint, renamings
from neurogated.sexpr.reader import Atom, Expression, Form, Symbol, read
from neurogated.sexpr.values import TYPES


@dataclass(frozen=True, slots=True)
class Call:
    """A checked call of an operation."""

    operation: Operation
    arguments: Mapping[str, object]
    """All parameters by name, with the defaults of those that were left out."""


def check(text: str) -> Call:
    """Return the call that a text is.

    Raises:
        ExpressionError: it is no call of an operation with fitting arguments.
    """
    return call_of(read(text), text)


def call_of(given: Expression, text: str, *, is_inner: bool = False) -> Call:
    """Return the call that an expression of a text is; raises as `check`."""
    head = given.items[0] if isinstance(given, Form) and given.items and not given.is_quoted else None
    if not isinstance(given, Form) or not isinstance(head, Atom) or not isinstance(head.value, Symbol):
        raise ExpressionError("this must be an operation, as in (stats)", text, given.at)
    operation = EXPRESSIONS.get(head.value)
    if operation is None or (is_inner and operation.name == "explain"):
        meant = hint(head.value, EXPRESSIONS)
        raise ExpressionError(f"there is no operation {head.value[:40]!r} here; {meant}", text, head.at)
    found = _assigned(operation, given, text)
    for one in operation.parameters:
        if one.name not in found and one.default is REQUIRED:
            raise ExpressionError(f"{one.name!r} is missing in {operation.signature}", text, given.at)
    return Call(operation, {one.name: found.get(one.name, one.default) for one in operation.parameters})


def _assigned(operation: Operation, form: Form, text: str) -> dict[str, object]:
    """Return the given arguments by name: first those by position, then those after `:name`."""
    found: dict[str, object] = {}
    parameters = {f":{one.name}": one for one in operation.parameters}
    words = [item.value if isinstance(item, Atom) and isinstance(item.value, Symbol) else "" for item in form.items[1:]]
    olds = renamings([word[1:] for word in words if word.startswith(":")], operation.parameters, ":{}")
    waiting: Argument | None = None
    free = iter(operation.parameters)
    for item, given in zip(form.items[1:], words, strict=True):
        word = f":{olds[given[1:]]}" if given[1:] in olds else given
        if waiting is None and word in parameters:
            waiting = parameters[word]
            free = iter(())
            continue
        if waiting is None and word.startswith(":"):
            raise ExpressionError(f"there is no argument {word[:40]!r} here; {hint(word, parameters)}", text, item.at)
        parameter = waiting or next(free, None)
        if parameter is None or parameter.name in found:
            raise ExpressionError(f"this argument is too much for {operation.signature}", text, item.at)
        found[parameter.name] = value_of(parameter, item, text)
        waiting = None
    if waiting is not None:
        raise ExpressionError(f"{waiting.name} has no value", text, form.at)
    return found


def value_of(parameter: Argument, item: Expression, text: str) -> object:
    """Return the value of an argument; raises as `check`."""
    if parameter.type == "expression":
        return call_of(item, text, is_inner=True)
    if isinstance(item, Atom) and item.value is None and parameter.default is not REQUIRED:
        return parameter.default
    try:
        return TYPES[parameter.type].read(item)
    except InputError as error:
        raise ExpressionError(f"{parameter.name}: {error}", text, item.at) from None
