"""Checks an expression against the operations before it runs; stored policies; printing on several lines."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, cast

from neurogated.core.filters import Condition
from neurogated.core.habits import hint
from neurogated.errors import ExpressionError, InputError
from neurogated.operations import EXPRESSIONS, REQUIRED, Argument, Operation, renamings
from neurogated.sexpr.reader import Atom, Expression, Form, Symbol, read, spans
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


_WIDTH = 100
# Deeper forms have no more indentation, which could exceed the text itself.
_MOST_LEVELS = 20
_COMMENT = re.compile(r";[^\n]*")


class _Piece(NamedTuple):
    """A token or a comment, as it is written."""

    kind: str
    text: str


def layout(text: str) -> str:
    """Return an expression with a form on a line if it fits, else with a line for each of its items.

    Tokens and comments stay to the letter, and a second call changes nothing.

    Raises:
        ExpressionError: the text is not one expression.
    """
    read(text)
    pieces = _pieces(text)
    ends = _ends(pieces)
    lines, depth, place = [""], 0, 0
    while place < len(pieces):
        kind, written = pieces[place]
        end = ends.get(place, place)
        flat = _flat(pieces[place : min(end, place + _WIDTH) + 1], _WIDTH - len(_indent(depth)))
        is_open = kind == "open" and flat is None
        if kind == "close":
            depth -= 1
            if pieces[place - 1].kind == ";":  # it would hide the parenthesis
                lines.append(_indent(depth))
            lines[-1] += written
        elif place and pieces[place - 1].kind == "open" and kind != ";":
            lines[-1] += written if is_open or flat is None else flat
        else:
            lines.append(_indent(depth) + (written if is_open or flat is None else flat))
        depth += is_open
        place = place + 1 if is_open or flat is None else end + 1
    return "\n".join(lines[1:]) + "\n"


def _indent(depth: int) -> str:
    return "  " * min(depth, _MOST_LEVELS)


def _pieces(text: str) -> list[_Piece]:
    found, position = list[_Piece](), 0
    for kind, begin, end in (*spans(text), ("end", len(text), len(text))):
        found += [_Piece(";", one.rstrip()) for one in _COMMENT.findall(text, position, begin)]
        found.append(_Piece(kind, text[begin:end]))
        position = end
    return found[:-1]


def _ends(pieces: list[_Piece]) -> dict[int, int]:
    """Return the place of the end of each form by that of its beginning."""
    opened, found = list[int](), dict[int, int]()
    for place, piece in enumerate(pieces):
        if piece.kind == "open":
            opened.append(place)
        elif piece.kind == "close":
            found[opened.pop()] = place
    return found


def _flat(pieces: list[_Piece], width: int) -> str | None:
    """Return pieces on one line; None if they do not fit, or have a comment besides their first piece."""
    if len(pieces) > 1 and (len(pieces) > width or any(one.kind == ";" for one in pieces)):
        return None
    joined = ""
    for before, one in zip([_Piece("open", ""), *pieces], pieces, strict=False):
        joined += ("" if before.kind == "open" or one.kind == "close" else " ") + one.text
    return joined if len(pieces) == 1 or (len(joined) <= width and "\n" not in joined) else None
