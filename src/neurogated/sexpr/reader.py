"""Expressions in parentheses: text → values with their places, and back."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from neurogated.errors import ExpressionError

DEEPEST = 1_000
"""Most forms that may be nested."""
MOST = 50_000
"""Most forms and atoms of an expression."""
LONGEST = 2**25
"""Most characters of an expression."""

# Possessive repetitions: a blank or a comment of any length is read once.
_TOKEN = re.compile(r"""(?:\s++|;[^\n]*+)*+(?:(?P<open>'?\()|(?P<close>\))|(?P<text>")|(?P<word>[^\s()"';]++))?""")
_NUMBER = re.compile(r"[+-]?\d{1,300}(?:\.\d{1,300})?(?:[eE][+-]?\d{1,3})?", re.ASCII)
_JSON = json.JSONDecoder(strict=False)  # line breaks may stand in a text
_CONSTANTS: dict[str, bool | None] = {"nil": None, "true": True, "false": False}


class Symbol(str):
    """A word without quotes, such as the name of an operation."""

    __slots__ = ()


Value = Symbol | str | float | bool | None


@dataclass(frozen=True, slots=True)
class Atom:
    """A text, a number, a truth value, `nil` (None) or a symbol."""

    value: Value
    at: int = field(default=0, compare=False)
    """The position of its first character, from 0."""


@dataclass(frozen=True, slots=True)
class Form:
    """Expressions in parentheses."""

    items: tuple[Atom | Form, ...]
    at: int = field(default=0, compare=False)
    is_quoted: bool = False
    """Whether it is a list of values, written with a quote: `'("a" "b")`."""


Expression = Atom | Form


def read(text: str) -> Expression:
    """Return the one expression of a text, in time proportional to its length.

    Raises:
        ExpressionError: the text is not one expression, or exceeds `DEEPEST`, `MOST` or `LONGEST`.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"an expression has more than {LONGEST} characters", text, LONGEST)
    found: list[Expression] = []
    opened: list[tuple[list[Expression], int, bool]] = []
    for kind, at, _, value in _tokens(text):
        if found and not opened:
            raise ExpressionError("there is a second expression; give one", text, at)
        if kind == "open":
            if len(opened) == DEEPEST:
                raise ExpressionError(f"forms are nested more than {DEEPEST} deep", text, at)
            opened.append((found, at, text[at] == "'"))
            found = []
        elif kind == "close":
            if not opened:
                raise ExpressionError("this ) closes nothing", text, at)
            outer, begin, is_quoted = opened.pop()
            outer.append(Form(tuple(found), begin, is_quoted))
            found = outer
        else:
            found.append(Atom(value, at))
    if opened:
        raise ExpressionError("this ( is not closed", text, opened[-1][1], is_unfinished=True)
    if not found:
        raise ExpressionError("there is no expression", text, len(text))
    return found[0]


def _tokens(text: str) -> Iterator[tuple[str, int, int, Value]]:
    """Yield kinds (`open`, `close`, `text` or `word`), begins and ends of tokens, and the values of the last two."""
    position = count = 0
    while position < len(text):
        token = _TOKEN.match(text, position)
        kind = token and token.lastgroup
        if token is None or kind is None:
            if token is None or token.end() < len(text):
                raise ExpressionError(
                    'a quote begins a list, as in \'("a" "b")', text, token.end() if token else position
                )
            return
        at, position = token.start(kind), token.end()
        value: Value = None
        count += kind != "close"
        if count > MOST:
            raise ExpressionError(f"an expression has more than {MOST} forms and atoms", text, at)
        if kind == "text":
            value, position = _text(text, at)
        elif kind == "word":
            value = _word(text, token["word"], at)
        yield kind, at, position, value


def _text(text: str, at: int) -> tuple[str, int]:
    try:
        value, end = _JSON.raw_decode(text, at)
    except json.JSONDecodeError as error:
        fault, at = f"a text that JSON cannot read: {error.msg}", min(error.pos, len(text))
        raise ExpressionError(fault, text, at, is_unfinished=error.msg.startswith("Unterminated")) from None
    return str(value), end


def _word(text: str, word: str, at: int) -> Value:
    if word in _CONSTANTS:
        return _CONSTANTS[word]
    if not _NUMBER.fullmatch(word):
        return Symbol(word)
    number = float(word) if re.search(r"[.eE]", word) else int(word)
    if not math.isfinite(number):
        raise ExpressionError("this number is too large", text, at)
    return number


def write(expression: Expression) -> str:
    """Return an expression as text on one line, without comments; `read` returns an equal expression."""
    parts: list[str] = []
    waiting: list[Expression | str] = [expression]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Form):
            waiting.append(")")
            between: list[Expression | str] = [part for item in one.items for part in (" ", item)][1:]
            waiting += reversed(between)
            parts.append("'(" if one.is_quoted else "(")
        else:
            parts.append(one if isinstance(one, str) else _written(one.value))
    return "".join(parts)


def _written(value: object) -> str:
    if isinstance(value, Symbol):
        return str(value)
    if value is None:
        return "nil"
    return json.dumps(value, ensure_ascii=False)


_WIDTH = 100
# Deeper forms have no more indentation, which could exceed the text itself.
_MOST_LEVELS = 20
_COMMENT = re.compile(r";[^\n]*")
_Pieces = list[tuple[str, str]]
"""The kinds and texts of tokens and comments (`;`)."""


def layout(text: str) -> str:
    """Return an expression with each form on one line of at most 100 characters, or else a line for each of its items.

    Tokens and comments stay to the letter, and a second call changes nothing. Raises ExpressionError, as `read` does.
    """
    read(text)
    pieces, position = _Pieces(), 0
    opened, ends = list[int](), dict[int, int]()
    for kind, begin, end, _ in (*_tokens(text), ("end", len(text), len(text), None)):
        pieces += [(";", one.rstrip()) for one in _COMMENT.findall(text, position, begin)]
        if kind == "open":
            opened.append(len(pieces))
        elif kind == "close":
            ends[opened.pop()] = len(pieces)
        pieces.append((kind, text[begin:end]))
        position = end
    lines, depth, place = [""], 0, 0
    while place < len(pieces) - 1:
        kind, written = pieces[place]
        end, indent = ends.get(place, place), "  " * min(depth, _MOST_LEVELS)
        flat = _flat(pieces[place : min(end, place + _WIDTH) + 1], _WIDTH - len(indent))
        is_open = kind == "open" and flat is None
        if kind == "close":
            depth -= 1
            if pieces[place - 1][0] == ";":  # it would hide the parenthesis
                lines.append("  " * min(depth, _MOST_LEVELS))
            lines[-1] += written
        elif place and pieces[place - 1][0] == "open" and kind != ";":
            lines[-1] += flat or written
        else:
            lines.append(indent + (flat or written))
        depth += is_open
        place = place + 1 if is_open else end + 1
    return "\n".join(lines[1:]) + "\n"


def _flat(pieces: _Pieces, width: int) -> str | None:
    """Return pieces on one line; None if they do not fit, or have a comment besides their first piece."""
    if len(pieces) > 1 and (len(pieces) > width or any(kind == ";" for kind, _ in pieces)):
        return None
    joined = ""
    for (before, _), (kind, written) in zip([("open", ""), *pieces], pieces, strict=False):
        joined += ("" if before == "open" or kind == "close" else " ") + written
    return joined if len(pieces) == 1 or (len(joined) <= width and "\n" not in joined) else None
