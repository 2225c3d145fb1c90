"""Files, folders and zip files, and JSON read value by value, so that a file may be larger than memory.

A parser of events such as ijson ends at the first malformed value, but an import must read the rest of the file.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import sqlite3
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import count, islice
from pathlib import Path, PurePosixPath
from typing import IO, Any, TextIO

from neurogated.errors import DatasetError

_PIECE = 1 << 20
_LONGEST = 1 << 26
"""Longest value, in characters."""
_HEAD = 1 << 12
"""Bytes at the beginning of a file that show its kind."""
_LISTS = frozenset({"results", "memories", "items", "edges", "sessions", "episodes", "conversations", "data"})
"""The lists of an object at the top of a file whose items are read one by one."""
_CHAT = {"channel", "guild"}, {"id", "name", "type"}
"""Keys before a list of messages that is read one by one: in a file of Discord, and of Telegram."""
_DATE = re.compile(rb"\[\d+[./-]")
_SPACE = re.compile(r"\s*")
_SIGN = re.compile(r'\\.|["\[\]{},]', re.DOTALL)
_DECODER = json.JSONDecoder()
_TOKEN = 12
"""A value that the end of a piece cuts fails at most this many characters before it, unless it is a string."""
_UNREADABLE = OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error


@dataclass(frozen=True, slots=True)
class FileEntry:
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
    kind: str = "malformed"
    """Why, in a word or two, as the report counts it."""

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


MALFORMED = AttributeError, LookupError, OverflowError, RecursionError, TypeError, ValueError, sqlite3.DatabaseError
"""What the readers raise where a value is not what it should be."""


def fault_of(error: Exception, place: str) -> Fault:
    """Return the fault that an error tells of, in words for who has the file, not the program."""
    if isinstance(error, json.JSONDecodeError):
        return Fault(place, f"a text in it is malformed JSON: {error.doc[:40]!r}")
    if isinstance(error, TypeError | AttributeError):
        return Fault(place, "a value in it is of another type than its format says")
    return Fault(place, f"it has no {error}" if isinstance(error, KeyError) else str(error))


class File:
    """A file, also one inside a folder or zip file."""

    def __init__(self, name: str, opened: Callable[[], IO[Any]], folder: Mapping[str, File]) -> None:
        self.name = name
        """Its path inside the folder or zip file, or its name."""
        self.folder = folder
        """All files beside it by their names."""
        self.opened = opened

    @cached_property
    def head(self) -> bytes:
        """The first 4 KB."""
        with self.opened() as raw:
            return bytes(raw.read(_HEAD))

    def first(self, count: int) -> Iterator[FileEntry]:
        """Yield the first values of a JSON file; none of another file."""
        found = self.entries() if self.is_json else ()
        return islice((one for one in found if isinstance(one, FileEntry)), count)

    @property
    def is_json(self) -> bool:
        """Whether it begins like JSON, and not with a date in brackets, as WhatsApp writes it."""
        return self._begin[:1] in {b"[", b"{", b'"'} and not _DATE.match(self._begin)

    @property
    def is_blank(self) -> bool:
        """Whether it has only spaces."""
        return not self._begin

    @property
    def _begin(self) -> bytes:
        return self.head.removeprefix(b"\xef\xbb\xbf").lstrip()

    @contextmanager
    def text(self) -> Iterator[TextIO]:
        """Open it as text."""
        with self.opened() as raw, io.TextIOWrapper(raw, encoding="utf-8-sig", errors="replace", newline="") as text:
            yield text

    def entries(self) -> Iterator[FileEntry | Fault]:
        """Yield the values of a JSON file: the items of its lists, or the objects of JSON lines."""
        with self.text() as text:
            yield from _Stream(text, self.name).entries()

    def beside(self, name: str) -> list[Any]:
        """Return the values of the JSON file `name` in the same folder; an empty list if there is none."""
        found = self.folder.get(str(PurePosixPath(self.name).parent.parent / name))
        return [one.value for one in found.entries() if isinstance(one, FileEntry)] if found else []

    @cached_property
    def tables(self) -> frozenset[str]:
        """The names of its tables, if it is an SQLite database."""
        if not self.head.startswith(b"SQLite format 3\0"):
            return frozenset()
        with suppress(sqlite3.DatabaseError), self.on_disk() as path, closing(sqlite3.connect(path)) as database:
            return frozenset(name for (name,) in database.execute("SELECT name FROM sqlite_master"))
        return frozenset()

    @contextmanager
    def on_disk(self) -> Iterator[Path]:
        """Give the path of a copy of it: a file may be inside a zip file, and readers of a database change it."""
        with tempfile.TemporaryDirectory(prefix="neurogated-") as folder:
            path = Path(folder) / "file"
            # The write-ahead log first: what it has may be in the file already, but the file has nothing before it.
            for end in ("-wal", ""):
                if (one := self.folder.get(self.name + end)) is not None:
                    with one.opened() as raw, Path(f"{path}{end}").open("wb") as copy:
                        shutil.copyfileobj(raw, copy)
            yield path


@contextmanager
def files_of(path: Path) -> Iterator[list[File]]:
    """Give the files of a folder or zip file in the order of their names, zip files in the folder opened; or the file.

    Nothing is extracted from a zip file, so a name such as `../x` is harmless.

    Raises:
        DatasetError: something cannot be read.
    """
    try:
        with ExitStack() as stack:
            found: dict[str, File] = {}
            if path.is_dir():
                inside = ((one.relative_to(path), one) for one in path.rglob("*") if one.is_file())
                shown = (part for part in inside if not any(one.startswith(".") for one in part[0].parts))
                paths = [(name.as_posix(), one) for name, one in shown]
            else:
                log = path.with_name(f"{path.name}-wal")
                paths = [(one.name, one) for one in (path, log) if one == path or one.exists()]
            for name, one in paths:
                if zipfile.is_zipfile(one):
                    archive = stack.enter_context(zipfile.ZipFile(one))
                    prefix = f"{name}/" if path.is_dir() else ""
                    inner = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
                    found |= {prefix + each: File(prefix + each, partial(archive.open, each), found) for each in inner}
                else:
                    found[name] = File(name, partial(one.open, "rb"), found)
            # Those of a database in use belong to it.
            beside = {name + end for name in found for end in ("-wal", "-shm")}
            yield [found[name] for name in sorted(found.keys() - beside)]
    except _UNREADABLE as error:
        raise DatasetError(f"{path} cannot be read ({error})") from error


class _Stream:
    """Decodes the values of a text one after another. It holds one value and a piece of the text at a time."""

    def __init__(self, file: TextIO, name: str) -> None:
        self._file, self._name = file, name
        self._text, self._at = "", 0

    def entries(self) -> Iterator[FileEntry | Fault]:
        """Yield the items of the lists at the top, or the objects of JSON lines. A text may hold JSON in its turn."""
        opening = self._sign()
        if opening == '"':
            try:
                yield from _Stream(io.StringIO(str(self._value())), self._name).entries()
            except ValueError as error:
                yield Fault(self._name, _reason(error))
            return
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
                    yield FileEntry(self._value(), place)
            except (ValueError, RecursionError) as error:
                yield Fault(place, _reason(error))
                self._skip_line()
            if not (opening := self._sign()):
                return

    def _items(self, name: str, head: Mapping[str, Any]) -> Iterator[FileEntry | Fault]:
        """Yield the items of a list. A malformed item is left out."""
        self._take("[")
        for number in count():
            if self._sign() == "]":
                break
            place = f"{name}[{number}]"
            try:
                yield FileEntry(self._value(), place, head)
            except (ValueError, RecursionError) as error:
                yield Fault(place, _reason(error))
                self._skip_value()
            if self._sign() != ",":
                break
            self._take(",")
        self._take("]")

    def _object(self, place: str, lists: frozenset[str] = _LISTS) -> Iterator[FileEntry | Fault]:
        """Yield the items of the lists of an object, and then its other values as one entry."""
        self._take("{")
        head: dict[str, Any] = {}
        has_lists = False
        while self._sign() == '"':
            key = self._value()
            self._take(":")
            is_streamed = key in lists or (key == "messages" and any(keys <= head.keys() for keys in _CHAT))
            if is_streamed and self._sign() == "[" and (key != "episodes" or not self._has_ids()):
                has_lists = True
                yield from self._items(f"{self._name if lists is _LISTS else place}: {key}", head)
            elif key in {"chats", "left_chats"} and self._sign() == "{":
                # The chats of Telegram are in lists of their own.
                has_lists = True
                inner = self._object(f"{self._name}: {key}", frozenset({"list"}))
                yield from (one for one in inner if not (isinstance(one, FileEntry) and one.is_rest))
            else:
                head[key] = self._value()
            if self._sign() == ",":
                self._take(",")
        self._take("}")
        yield FileEntry(head, place, is_rest=has_lists)

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

    def _has_ids(self) -> bool:
        """Return whether the list that follows has texts, or nothing, as the episodes of an edge of Graphiti."""
        while (end := _SPACE.match(self._text, self._at + 1).end()) == len(self._text) and self._more():  # type: ignore[union-attr]
            pass
        return self._text[end : end + 1] in {'"', "]"}

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
