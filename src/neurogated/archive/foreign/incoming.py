"""What the formats have in common: texts to add, their parts, their times and their branches."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Protocol

from neurogated.archive.foreign.stream import Entry, Fault, File
from neurogated.text.strings import repaired

_MILLISECONDS = 1e11
"""Numbers of seconds above this are milliseconds."""
NO_WORDS = "no words"
"""Why a message with neither text nor other parts is left out."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A text to add."""

    place: str
    """Where it is in the file."""
    key: str
    """Its id in the file, unique in its session."""
    text: str = ""
    role: str | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    """Other fields, named as the arguments of `memory.add`."""
    speaker: str | None = None
    content: object = None
    """The body of a message, whose words come before `text`; see `read_file`."""
    branch: str | None = None
    """The first message of its branch, if that is not the branch that the user saw last."""
    ended_at: datetime | None = None
    """When another branch took the place of this one."""
    is_private: bool = False
    """Whether the user said that it must not be remembered."""
    without: tuple[str, ...] = ()
    """The parts of its body that are no words, such as `image` or `thinking`."""


@dataclass(frozen=True, slots=True)
class IncomingItem:
    """A value under a key to put, as in a store of LangGraph."""

    place: str
    namespace: tuple[str, ...]
    key: str
    value: Mapping[str, Any]
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class Left:
    """Records of a file that are left out on purpose."""

    place: str
    reason: str
    count: int = 1


class Spoken(Protocol):
    """What a message says; see `ingestion.messages.Said`."""

    @property
    def text(self) -> str:
        """Its words."""

    @property
    def others(self) -> str:
        """Its other parts, as in `[image][thinking]`."""


Words = Callable[[Mapping[str, Any]], Spoken]
"""Reads a message with a role and a body."""
Found = Iterator[Incoming | IncomingItem | Left | Fault]
Reader = Callable[[Mapping[str, Any], str], Incoming | IncomingItem | Left | None]
"""Reads an item, given its place; None if it holds nothing to remember."""


@dataclass(frozen=True, slots=True)
class Format:
    """How the files of another system are read."""

    title: str
    """What a file is, such as `an export of ChatGPT`."""
    matches: Callable[[Mapping[str, Any]], bool] = lambda _: False
    """Whether an object looks like an entry of a JSON file of this format."""
    read: Callable[[Entry], Found] | None = None
    """Yields the records of an entry of a JSON file."""
    sniff: Callable[[File], bool] = lambda _: False
    """Whether a file that is no JSON is of this format."""
    read_file: Callable[[File], Found] | None = None
    """Yields the records of a file that is no JSON, or of any file if there is no `read`."""
    note: Callable[[int], str | None] = lambda _: None
    """What the user should know of a file with this number of entries."""


def read_each(items: object, place: str, read: Reader) -> Found:
    """Read the items of a list one by one; `read` gets an item and its place. A malformed item becomes a fault."""
    if not isinstance(items, list):
        if items is not None:
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
        yield Left(place, NO_WORDS) if found is None else found


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object of JSON; an empty one for null. Raises TypeError for another value."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise TypeError(f"{str(value)[:40]!r} must be an object")
    return value


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list; an empty list for any other value."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text that a memory can store, or an empty one for another value.

    NUL and halves of surrogate pairs, which no memory can store, are replaced by U+FFFD.
    """
    return repaired(value).strip() if isinstance(value, str) else ""


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


def digest(*parts: object) -> str:
    """Return a short name for something that has none in its file."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:16]


def unseen(parents: Mapping[str, Any], last: str | None, *, keeps_lost: bool = True) -> dict[str, str]:
    """Return the messages outside the branch that ends with `last`, each with the first one of its own branch.

    They have a sibling in the branch, or follow one that has.

    Args:
        parents: the parent of each message, in any order.
        last: the last message that the user saw.
        keeps_lost: messages whose parents are missing count as seen, since a tree may have holes.
    """
    seen: dict[str, Any] = {}
    while last is not None and last in parents and last not in seen:
        seen[last] = parents[last]
        last = parents[last] if isinstance(parents[last], str) else None
    forks = {parent for parent in seen.values() if isinstance(parent, str | None)}
    found: dict[str, str] = {}
    for name in parents:
        path: list[str] = []
        one: Any = name
        while isinstance(one, str) and one in parents and one not in seen and one not in found and one not in path:
            path.append(one)
            one = parents[one]
        if not path:
            continue
        if isinstance(one, str) and one in found:
            found |= dict.fromkeys(path, found[one])
        elif not keeps_lost or (isinstance(one, str | None) and one in forks):
            found |= dict.fromkeys(path, path[-1])
    return found


def last_leaf(parents: Mapping[str, Any], times: Mapping[str, datetime | None]) -> str | None:
    """Return the newest message that no other one follows; of equally new ones the last one."""
    inner = {parent for parent in parents.values() if isinstance(parent, str)}
    leaves = [name for name in parents if name not in inner] or list(parents)
    oldest = datetime.min.replace(tzinfo=UTC)
    return max(reversed(leaves), key=lambda name: times.get(name) or oldest, default=None)
