"""Checks an expression against the operations before it runs: types of arguments, calls, and stored policies."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final, Literal, NamedTuple, cast

from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Combined, Condition, Field
from neurogated.core.habits import hint
from neurogated.errors import ExpressionError, InputError
from neurogated.operations import EXPRESSIONS, REQUIRED, Argument, Operation, renamings
from neurogated.sexpr.reader import Atom, Expression, Form, Symbol, read

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}
_DURATION = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(ms|[smhdw])", re.ASCII)
_OUTCOMES = {"success": 1.0, "fail": -1.0}
# The limits of what an expression may cost: questions and conditions take time proportional to their lengths.
_MOST_DAYS = 100_000
_MOST_RESULTS = 1_000
_MOST_TOKENS = 100_000
_MOST_STEPS = 10
_MOST_TEXTS = 1_000
_LONGEST_TEXT = 10_000
_LONGEST_DOCUMENT = 200_000
_LARGEST_CONDITION = 500
EDGE_TYPES: Mapping[str, EdgeType] = {word: EdgeType(word) for word in ("temporal", "causal", "semantic")}
"""Relations that name a type of edges. Others are words on an ASSOC edge."""
# Conditions are read recursively.
_DEEPEST_CONDITION = 50
_HOLDING: Mapping[str, Literal["all", "one", "none"]] = {"and": "all", "or": "one", "not": "none"}
_COMPARISONS: dict[str, Callable[[Field, object], Condition]] = {
    "=": lambda name, value: name == value,
    "!=": lambda name, value: name != value,
    "<": lambda name, value: name < value,  # type: ignore[operator] # Compare checks the value
    "<=": lambda name, value: name <= value,  # type: ignore[operator]
    ">": lambda name, value: name > value,  # type: ignore[operator]
    ">=": lambda name, value: name >= value,  # type: ignore[operator]
}


class Type(NamedTuple):
    """A type of arguments."""

    words: str
    """What the value is, for help."""
    read: Callable[[Expression], object]
    """Returns the value of an expression; raises InputError."""


def _text(given: Expression, longest: int = _LONGEST_TEXT) -> str:
    if not isinstance(given, Atom) or not isinstance(given.value, str) or isinstance(given.value, Symbol):
        raise InputError("this must be a text in double quotes")
    if len(given.value) > longest:
        raise InputError(f"this text has {len(given.value):,} characters, but must have at most {longest:,}")
    return given.value


def _number(given: Expression, least: float, most: float) -> float:
    value = given.value if isinstance(given, Atom) else None
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InputError(f"this must be a number from {least:g} to {most:,}")
    return float(value)


def _count(given: Expression, most: int) -> int:
    value = _number(given, 1, most)
    if value != int(value):
        raise InputError(f"this must be a whole number from 1 to {most:,}")
    return int(value)


def _texts(given: Expression) -> list[str]:
    if not isinstance(given, Form):
        return [_text(given)]
    items = given.items
    if not given.is_quoted:
        if not items or items[0] != Atom(Symbol("list")):
            raise InputError('this must be texts, as in (list "a" "b") or \'("a" "b")')
        items = items[1:]
    if len(items) > _MOST_TEXTS:
        raise InputError(f"this list has {len(items):,} texts, but must have at most {_MOST_TEXTS:,}")
    return list(map(_text, items))


def _duration(given: Expression) -> timedelta:
    words = _text(given).split()
    found = [_DURATION.fullmatch(word) for word in words]
    if not found or not all(found):
        raise InputError('this must be a duration, as in "30d", "12h 45m", "10s" or "500ms"')
    try:
        return timedelta(seconds=sum(float(one[1]) * _UNITS[one[2]] for one in found if one))
    except OverflowError:
        raise InputError("this duration is too long") from None


def _outcome(given: Expression) -> float:
    if isinstance(given, Atom) and isinstance(given.value, str) and given.value in _OUTCOMES:
        return _OUTCOMES[given.value]
    try:
        return _number(given, -1, 1)
    except InputError:
        raise InputError('this must be "success", "fail" or a number from -1 to 1') from None


def _status(given: Expression) -> str | None:
    word = _text(given)
    if word not in ("open", "resolved", "all"):
        raise InputError('this must be "open", "resolved" or "all"')
    return None if word == "all" else word


def _words(given: Expression) -> tuple[str, *tuple[Expression, ...]] | tuple[()]:
    """Return the items of a form, the symbol at its head as a word; nothing of other expressions."""
    if isinstance(given, Form) and not given.is_quoted and given.items:
        head, *rest = given.items
        if isinstance(head, Atom) and isinstance(head.value, Symbol):
            return str(head.value), *rest
    return ()


def _whole_condition(given: Expression) -> Condition:
    waiting, size = [given], 0
    while waiting:
        one, size = waiting.pop(), size + 1
        waiting += one.items if isinstance(one, Form) else ()
    if size > _LARGEST_CONDITION:
        raise InputError(f"this condition has {size:,} forms and values, but must have at most {_LARGEST_CONDITION}")
    return _condition(given)


def _condition(given: Expression, depth: int = 0) -> Condition:
    if depth == _DEEPEST_CONDITION:
        raise InputError(f"conditions are nested more than {_DEEPEST_CONDITION} deep")
    match _words(given):
        case ["and" | "or" | "not" as word, *rest] if rest and (word != "not" or len(rest) == 1):
            parts = tuple(_condition(one, depth + 1) for one in rest)
            return Combined(_HOLDING[word], parts)
        case [str() as word, name, value] if word in _COMPARISONS:
            return _COMPARISONS[word](_field(name), _constant(value))
        case ["in", name, values]:
            return _field(name).is_in(_texts(values))
        case ["exists", name]:
            return _field(name).exists()
    raise InputError("this must be a condition: (= name value) or !=, <, <=, >, >=, in, exists, and, or, not")


def _field(given: Expression) -> Field:
    if isinstance(given, Atom) and isinstance(given.value, str):
        return Field(str(given.value))
    raise InputError("a condition begins with the name of a value in the metadata")


def _constant(given: Expression) -> object:
    if isinstance(given, Atom) and not isinstance(given.value, Symbol):
        return given.value
    raise InputError("a condition compares with a text, a number, true, false or nil")


TYPES = {
    "document": Type(
        f"a text of at most {_LONGEST_DOCUMENT:,} characters", lambda given: _text(given, _LONGEST_DOCUMENT)
    ),
    "text": Type(f"a text of at most {_LONGEST_TEXT:,} characters", _text),
    "id": Type("the id of a memory", _text),
    "ids": Type('ids, as in (list "a" "b") or \'("a" "b")', _texts),
    "texts": Type('texts, as in (list "a" "b") or \'("a" "b")', _texts),
    "unit": Type("a number, 0 to 1", lambda given: _number(given, 0, 1)),
    "days": Type("days, more than 0", lambda given: _number(given, 0.001, _MOST_DAYS)),
    "count": Type(f"a whole number, 1 to {_MOST_RESULTS:,}", lambda given: _count(given, _MOST_RESULTS)),
    "tokens": Type(f"a whole number, 1 to {_MOST_TOKENS:,}", lambda given: _count(given, _MOST_TOKENS)),
    "steps": Type(f"a whole number, 1 to {_MOST_STEPS}", lambda given: _count(given, _MOST_STEPS)),
    "duration": Type('a duration, as in "30d" or "12h 45m"', _duration),
    "outcome": Type('"success", "fail", or a number from -1 to 1', _outcome),
    "relation": Type("words; temporal, causal and semantic name SEQ, CAUSE and SIM edges", _text),
    "status": Type('"open", "resolved" or "all"', _status),
    "condition": Type('a condition on metadata, as in (and (= "city" "Lyon") (> "year" 2020))', _whole_condition),
}
"""By name, as `Argument.type` has them."""


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
    condition: Condition | None = None
    given = read(text)
    if isinstance(given, Form) and not given.is_quoted and given.items[:1] == (Atom(Symbol("when")),):
        if len(given.items) != _PARTS_OF_WHEN:
            raise ExpressionError("when has a condition and a call", text, given.at)
        _, asked, given = given.items
        condition = cast("Condition", value_of(Argument("the condition", "condition"), asked, text))
    call = call_of(given if it is None else _with(it, given), text)
    if call.operation.name not in ALLOWED:
        raise ExpressionError(f"a policy runs {', '.join(sorted(ALLOWED))} only", text, given.at)
    if condition is not None and it is None:
        raise ExpressionError("only a policy that runs after remember has a condition", text, 0)
    return call if condition is None or condition.admits(metadata) else None


def _with(it: str, given: Expression, depth: int = 2) -> Expression:
    """Return a call with an id in place of `it`, also within the lists of its arguments."""
    if given == _IT:
        return Atom(it, given.at)
    if not isinstance(given, Form) or depth == 0:
        return given
    return replace(given, items=tuple(_with(it, one, depth - 1) for one in given.items))
