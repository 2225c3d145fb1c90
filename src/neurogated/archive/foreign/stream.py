"""JSON files read value by value, so that a file may be larger than memory.

A parser of events such as ijson ends at the first malformed value, but an import must read the rest of the file.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO, Any, TextIO

from neurogated.errors import DatasetError

_PIECE = 1 << 20
_LONGEST = 1 << 26
"""Longest value, in characters."""
_LISTS = frozenset({"results", "memories", "items", "edges", "sessions", "episodes"})
"""The lists of an object at the top of a file whose items are read one by one."""
_SPACE = re.compile(r"\s*")
_SIGN = re.compile(r'\\.|["\[\]{},]', re.DOTALL)
_DECODER = json.JSONDecoder()
_TOKEN = 12
"""A value that the end of a piece cuts fails at most this many characters before it, unless it is a string."""
_UNREADABLE = OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of a file: an item of its list, or an object of its own."""

    value: Any
    place: str
    """Where it is, such as `conversations.json[12]`, counted from 0."""
    head: Mapping[str, Any] = field(default_factory=dict)
    """The values before its list in the same object."""
    is_rest: bool = False
    """Whether it is the rest of an object whose lists were read one by one."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A part of a file that cannot be imported."""

    place: str
    reason: str

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def entries_of(path: Path, names: str) -> Iterator[Entry | Fault]:
    """Yield the values of a file: the items of its list, or the objects of JSON lines.

    Args:
        path: a JSON file; or a zip file or folder, whose files with these names are read in the order of their names.
        names: a regular expression.

    Raises:
        DatasetError: a file cannot be read, or no file has such a name.
    """
    wanted = re.compile(rf"(?:^|.*/)(?:{names})")
    try:
        with _files(path) as (inside, opened):
            chosen = sorted(filter(wanted.fullmatch, inside)) if inside else [path.name]
            if not chosen:
                raise DatasetError(f"{path} has no file {names}, but {', '.join(sorted(inside)[:5])}")
            for name in chosen:
                with opened(name) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace") as text:
                    yield from _Stream(text, name).entries()
    except _UNREADABLE as error:
        raise DatasetError(f"{path} cannot be read ({error})") from error


@contextmanager
def _files(path: Path) -> Iterator[tuple[list[str], Callable[[str], IO[bytes]]]]:
    """Yield the names of the files inside a folder or zip file, none for another file, and a function that opens one.

    Nothing is extracted from a zip file, so a name such as `../x` is harmless.
    """
    if path.is_dir():
        yield [file.relative_to(path).as_posix() for file in path.rglob("*")], lambda name: (path / name).open("rb")
    elif zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield archive.namelist(), archive.open
    else:
        yield [], lambda _: path.open("rb")


class _Stream:
    """Decodes the values of a text one after another. It holds one value and a piece of the text at a time."""

    def __init__(self, file: TextIO, name: str) -> None:
        self._file, self._name = file, name
        self._text, self._at = "", 0

    def entries(self) -> Iterator[Entry | Fault]:
        """Yield the items of the lists at the top, or the objects of JSON lines."""
        opening = self._sign()
        if opening and opening not in "[{":
            raise DatasetError(f"{self._name} is no JSON file; it begins with {self._text[self._at :][:20]!r}")
        for number in count():
            place = f"{self._name}[{number}]"
            try:
                if opening == "[":
                    yield from self._items(self._name, {})
                elif opening and not number:
                    yield from self._object(place)
                elif opening:
                    yield Entry(self._value(), place)
            except (ValueError, RecursionError) as error:
                yield Fault(place, _reason(error))
                self._skip_line()
            if not (opening := self._sign()):
                return

    def _items(self, name: str, head: Mapping[str, Any]) -> Iterator[Entry | Fault]:
        """Yield the items of a list. A malformed item is left out."""
        self._take("[")
        for number in count():
            if self._sign() == "]":
                break
            place = f"{name}[{number}]"
            try:
                yield Entry(self._value(), place, head)
            except (ValueError, RecursionError) as error:
                yield Fault(place, _reason(error))
                self._skip_value()
            if self._sign() != ",":
                break
            self._take(",")
        self._take("]")

    def _object(self, place: str) -> Iterator[Entry | Fault]:
        """Yield the items of the lists of an object, and then its other values as one entry."""
        self._take("{")
        head: dict[str, Any] = {}
        has_lists = False
        while self._sign() == '"':
            key = self._value()
            self._take(":")
            if key in _LISTS and self._sign() == "[":
                has_lists = True
                yield from self._items(f"{self._name}: {key}", head)
            else:
                head[key] = self._value()
            if self._sign() == ",":
                self._take(",")
        self._take("}")
        yield Entry(head, place, is_rest=has_lists)

    def _more(self) -> bool:
        """Read another piece, as long as the text that is not decoded yet; return whether there was one."""
        self._text, self._at = self._text[self._at :], 0
        piece = self._file.read(max(_PIECE, len(self._text)))
        self._text += piece
        return bool(piece)

    def _sign(self) -> str:
        """Move to the next character that is no space, and return it; empty at the end."""
        while True:
            self._at = _SPACE.match(self._text, self._at).end()  # type: ignore[union-attr]
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _take(self, sign: str) -> None:
        if (found := self._sign()) != sign:
            raise ValueError(f"{sign!r} is expected, but there is {found!r}" if found else f"there is no {sign!r}")
        self._at += 1

    def _value(self) -> Any:  # noqa: ANN401 - JSON
        self._sign()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._text, self._at)
            except json.JSONDecodeError as error:
                is_cut = error.pos >= len(self._text) - _TOKEN or error.msg.startswith("Unterminated string")
                if is_cut and len(self._text) - self._at < _LONGEST and self._more():
                    continue
                raise ValueError(f"it is no JSON value: {error.msg} at character {error.pos - self._at}") from None
            # At the end of a piece, a number may go on.
            if end < len(self._text) or not self._more():
                self._at = end
                return value

    def _skip_value(self) -> None:
        """Move to the comma or bracket after a malformed value, by its quotation marks and brackets."""
        depth, is_quoted = 0, False
        while True:
            end = self._at
            for found in _SIGN.finditer(self._text, self._at):
                sign, end = found[0], found.end()
                if sign == '"':
                    is_quoted = not is_quoted
                elif is_quoted or sign[0] == "\\":
                    continue
                elif depth == 0 and sign in ",]}":
                    self._at = found.start()
                    return
                else:
                    depth += (sign in "[{") - (sign in "]}")
            # A backslash at the end belongs to the character in the next piece.
            self._at = len(self._text) - self._text.endswith("\\", end)
            if not self._more():
                return

    def _skip_line(self) -> None:
        while (end := self._text.find("\n", self._at)) < 0:
            self._at = len(self._text)
            if not self._more():
                return
        self._at = end


def _reason(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error)
