"""What the formats have in common: texts to add, their parts and their times."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from neurogated.archive.foreign.stream import Entry, Fault
from neurogated.text.strings import repaired

_MILLISECONDS = 1e11
"""Numbers of seconds above this are milliseconds."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A text to add."""

    place: str
    """Where it is in the file."""
    key: str
    """Its id in the file, unique in its session."""
    text: str
    role: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """Other fields, named as the arguments of `memory.add`."""
    speaker: str | None = None


@dataclass(frozen=True, slots=True)
class IncomingItem:
    """A value under a key to put, as in a store of LangGraph."""

    place: str
    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any]
    created_at: datetime | None
    updated_at: datetime | None


Found = Iterator[Incoming | IncomingItem | Fault]
Reader = Callable[[Mapping[str, Any], str], Incoming | None]
"""Reads an item, given its place; None if it holds nothing to remember."""


@dataclass(frozen=True, slots=True)
class Format:
    """How the files of another system are read."""

    title: str
    """What a file is, such as `an export of ChatGPT`."""
    names: str
    """A regular expression for the names of its files in a zip file or folder."""
    matches: Callable[[Mapping[str, Any]], bool]
    """Whether an object looks like an entry of such a file."""
    read: Callable[[Entry], Found]
    """Yields the texts of an entry."""
    note: Callable[[int], str | None] = lambda _: None
    """What the user should know of a file with this number of entries."""


def read_each(items: object, place: str, read: Reader) -> Found:
    """Read the items of a list one by one; `read` gets an item and its place. A malformed item becomes a fault."""
    if not isinstance(items, list):
        yield Fault(place, f"it is {type(items).__name__}, but must be a list")
        return
    for number, item in enumerate(items):
        yield from read_one(item, f"{place}[{number}]", read)


def read_one(item: object, place: str, read: Reader) -> Found:
    """Yield what `read` makes of an item, or a fault."""
    try:
        found = read(mapping(item), place)
    except (KeyError, TypeError, ValueError) as error:
        yield Fault(place, f"it has no {error}" if isinstance(error, KeyError) else str(error))
    else:
        if found is not None:
            yield found


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object of JSON; an empty one for null. Raises TypeError for another value."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError(f"{str(value)[:40]!r} must be an object")
    return value


def text_of(content: object) -> str:
    """Return a text, or the texts among the parts of a message, one per line.

    NUL and halves of surrogate pairs, which no memory can store, are replaced by U+FFFD.
    """
    parts = content if isinstance(content, list) else [content]
    spoken = [part for part in parts if not isinstance(part, dict) or part.get("type", "text") == "text"]
    texts = [part.get("text") if isinstance(part, dict) else part for part in spoken]
    said = "\n".join(text for text in texts if isinstance(text, str) and text.strip())
    return repaired(said).strip()


def moment(value: object) -> datetime | None:
    """Return a time: seconds or milliseconds since 1970, or a text in ISO format, in UTC unless it has a zone.

    Raises:
        ValueError: it is none of these.
    """
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise ValueError(f"{value!r} is no time")


def given(**details: object) -> dict[str, Any]:
    """Return the details that have a value."""
    return {name: value for name, value in details.items() if value not in (None, "", {}, [])}
