"""Checks an expression against the operations, before anything runs."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from neurogated.errors import ExpressionError, InputError
from neurogated.operations import EXPRESSIONS, REQUIRED, Argument, Operation, renamed
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
        hint = _hint(head.value, EXPRESSIONS)
        raise ExpressionError(f"there is no operation {head.value[:40]!r} here; {hint}", text, head.at)
    found = _assigned(operation, given, text)
    for one in operation.parameters:
        if one.name not in found and one.default is REQUIRED:
            raise ExpressionError(f"{one.name!r} is missing in {operation.signature}", text, given.at)
    return Call(operation, {one.name: found.get(one.name, one.default) for one in operation.parameters})


def _hint(word: str, known: Collection[str]) -> str:
    close = get_close_matches(word[:40], known, 1)
    return f"did you mean {close[0]}?" if close else f"known are {', '.join(known)}"


def _assigned(operation: Operation, form: Form, text: str) -> dict[str, object]:
    """Return the given arguments by name: first those by position, then those after `:name`."""
    found: dict[str, object] = {}
    parameters = {f":{one.name}": one for one in operation.parameters}
    olds = {f":{one.was}": f":{one.name}" for one in operation.parameters if one.was}
    waiting: Argument | None = None
    free = iter(operation.parameters)
    for item in form.items[1:]:
        word = item.value if isinstance(item, Atom) and isinstance(item.value, Symbol) else ""
        if waiting is None and word in olds:
            renamed(word, olds[word])
            word = olds[word]
        if waiting is None and word in parameters:
            waiting = parameters[word]
            free = iter(())
            continue
        if waiting is None and word.startswith(":"):
            raise ExpressionError(f"there is no argument {word[:40]!r} here; {_hint(word, parameters)}", text, item.at)
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
