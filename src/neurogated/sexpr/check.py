"""Checks an expression against the operations before it runs; stored policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from neurogated.core.filters import Condition
from neurogated.core.habits import hint
from neurogated.errors import ExpressionError, InputError
from neurogated.operations import EXPRESSIONS, REQUIRED, Argument, Operation, renamings
from neurogated.sexpr.reader import Atom, Expression, Form, Symbol, read
from neurogated.sexpr.values import TYPES


@dataclass(frozen=True, slots=True)
class Call:
    """A checked call of an operation."""

    operation: Operation
    arguments: Mapping[str, object]
    """All parameters by name, with the defaults of those that were left out."""


def check(text: str) -> Call:
    """Return the call that a text is; raises ExpressionError for no call of an operation with fitting arguments."""
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


LONGEST: Final = 2_000
"""Most characters of a policy."""
ALLOWED: Final = frozenset({"remember", "associate", "feedback", "decay!"})
"""The operations of policies. Each writes one delta, so a policy is never half done."""
_IT: Final = Atom(Symbol("it"))
_PARTS_OF_WHEN: Final = 3


def policy_call(text: str, it: str | None, metadata: Mapping[str, Any]) -> Call | None:
    """Return the call of a policy, or None if its condition does not hold for the metadata; raises ExpressionError.

    A policy is a call, or `(when CONDITION CALL)`. The symbol `it` in a call is the id of the memory of the event, and
    needs one.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"a policy has more than {LONGEST} characters", text, LONGEST)
    condition, given = _parts(read(text), text)
    call = call_of(given if it is None else _with(it, given), text)
    if call.operation.name not in ALLOWED:
        raise ExpressionError(f"a policy runs {', '.join(sorted(ALLOWED))} only", text, given.at)
    if condition is not None and it is None:
        raise ExpressionError("only a policy that runs after remember has a condition", text, 0)
    return call if condition is None or condition.admits(metadata) else None


def _parts(given: Expression, text: str) -> tuple[Condition | None, Expression]:
    if not isinstance(given, Form) or given.is_quoted or given.items[:1] != (Atom(Symbol("when")),):
        return None, given
    if len(given.items) != _PARTS_OF_WHEN:
        raise ExpressionError("when has a condition and a call", text, given.at)
    _, condition, call = given.items
    return cast("Condition", value_of(Argument("the condition", "condition"), condition, text)), call


def _with(it: str, given: Expression, depth: int = 2) -> Expression:
    """Return a call with an id in place of `it`, also within the lists of its arguments."""
    if given == _IT:
        return Atom(it, given.at)
    if not isinstance(given, Form) or depth == 0:
        return given
    return replace(given, items=tuple(_with(it, one, depth - 1) for one in given.items))
