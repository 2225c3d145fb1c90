"""What the formats have in common: records, how a format is described, and the branches of conversations."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from types import MappingProxyType
from typing import Any

from neurogated.archive.foreign.stream import MALFORMED, Fault, File, FileEntry, fault_of
from neurogated.archive.foreign.values import mapping

NO_WORDS, FILES, EMPTY = "no words", "files without words", "empty texts"
"""Why texts without words are left out. The first holds of a message with neither text nor other parts."""


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
    """The body of a message, or a whole message with its role; its words come before `text`. See `read_file`."""
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
    ttl: float | None = None
    """Its lifetime in minutes; None: it never expires."""
    expires_at: datetime | None = None
    """When it expires; None: its lifetime after `updated_at`."""


@dataclass(frozen=True, slots=True)
class Left:
    """Records of a file that are left out on purpose."""

    place: str
    reason: str
    count: int = 1
    is_prompt: bool = False
    """Whether a user said it to an agent, so that the next answer is to it."""


class Note(str):
    """What the user should know of a file."""

    __slots__ = ()


Words = Callable[[Mapping[str, Any]], Any]
"""Reads a message; what it returns has a `role`, a `text`, and `others`, its other parts as in `[image][thinking]`."""
Found = Iterator[Incoming | IncomingItem | Left | Fault | Note]
Reader = Callable[[Mapping[str, Any], str], Incoming | IncomingItem | Left]
"""Reads an item, given its place. An item without words is left out later, by `read_file`."""


@dataclass(frozen=True, slots=True)
class Format:
    """How the files of another system are read."""

    name: str
    """The name that users give."""
    title: str
    """What a file is, such as `an export of ChatGPT`."""
    matches: Callable[[Mapping[str, Any]], bool] | None = None
    """Whether an object looks like an entry of a JSON file of this format; None if it has no JSON files."""
    read: Callable[[FileEntry], Found] | None = None
    """Yields the records of an entry of a JSON file."""
    sniff: Callable[[File], bool] = lambda _: False
    """Whether a file that is no JSON is of this format."""
    read_file: Callable[[File], Found] | None = None
    """Yields the records of a file that is no JSON, or of any file if there is no `read`."""
    wordless: str = NO_WORDS
    """Why a text without words is left out; of a message, `NO_WORDS` is the reason."""
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


def read_messages(entry: FileEntry, read: Callable[..., Incoming | IncomingItem | Left]) -> Found:
    """Read a message, or the messages of a chat. `read` gets the other values of the chat as `head`, too."""
    if isinstance(messages := entry.value.get("messages"), list):
        yield from read_each(messages, f"{entry.place}.messages", partial(read, head=entry.value))
    else:
        yield from read_one(entry.value, entry.place, partial(read, head=entry.head))


def each_entry(file: File, read: Reader) -> Found:
    """Read the entries of a JSON file one by one."""
    for entry in file.entries():
        yield from [entry] if isinstance(entry, Fault) else read_one(entry.value, entry.place, read)


def count_unread(value: Mapping[str, Any], place: str, *names: str) -> Found:
    """Yield how many values these fields have, which are not read."""
    for name in names:
        if held := value.get(name):
            yield Left(f"{place}.{name}", f"{name} are not imported", len(held) if isinstance(held, list) else 1)


def safely(found: Found, place: str) -> Found:
    """Yield records until a value is malformed in a way that its reader does not expect."""
    try:
        yield from found
    except MALFORMED as error:
        yield fault_of(error, place)


def read_one(item: object, place: str, read: Reader) -> Found:
    """Yield what `read` makes of an item, or a fault."""
    try:
        found = read(mapping(item), place)
    except MALFORMED as error:
        yield fault_of(error, place)
    else:
        yield found


class Branches:
    """The branches of a conversation, which is a tree of messages: the seen one, and those that were left for it."""

    def __init__(
        self,
        parents: Mapping[str, Any],
        times: Mapping[str, datetime | None] = MappingProxyType({}),
        last: str | None = None,
        *,
        keeps_lost: bool = True,
    ) -> None:
        """Divide the messages of a conversation, given their parents and their times, into branches.

        `last` is the last message that the user saw; else it is the newest one that no other follows, of equally new
        ones the last one. With `keeps_lost`, messages whose parents are missing count as seen: a tree may have holes.
        """
        if last not in parents:
            inner = {parent for parent in parents.values() if isinstance(parent, str)}
            leaves = [name for name in parents if name not in inner] or list(parents)
            oldest = datetime.min.replace(tzinfo=UTC)
            last = max(reversed(leaves), key=lambda name: times.get(name) or oldest, default=None)
        seen: dict[str, Any] = {}
        while isinstance(last, str) and last in parents and last not in seen:
            seen[last], last = parents[last], parents[last]
        self.seen = list(reversed(seen))
        """The messages of the seen branch, from the first to the last."""
        self.left = _left(parents, seen, keeps_lost=keeps_lost)
        """The messages outside the seen branch, each with the first one of its own branch."""
        # When the last sibling of each branch began.
        latest: dict[object, datetime] = {}
        for key, parent in parents.items() if self.left else ():
            if (time := times.get(key)) is not None:
                latest[parent] = max(time, latest.get(parent, time))
        self._ends = {key: latest.get(parents[branch]) for key, branch in self.left.items()}

    def of(self, key: str) -> dict[str, Any]:
        """Return the fields of `Incoming` that tell the branch of a message, and when another took its place."""
        return {"branch": self.left.get(key), "ended_at": self._ends.get(key)}


def _left(parents: Mapping[str, Any], seen: Mapping[str, Any], *, keeps_lost: bool) -> dict[str, str]:
    """Return the messages that have a sibling in the seen branch, or follow one that has."""
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
