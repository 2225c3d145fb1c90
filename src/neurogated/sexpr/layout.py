"""An expression on several lines, with its comments."""

from __future__ import annotations

import re
from typing import NamedTuple

from neurogated.sexpr.reader import read, spans

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
