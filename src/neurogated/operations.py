"""The public calls, described once: the command line, REST, MCP and expressions are made from `operations.txt`.

Its first part has the arguments: a name, a type and a help text; `update.text` is the argument `text` of `update`. Its
second part has the operations: a name with a summary, which begins with `!` if the operation writes; below it the doors
with their arguments, and an expression as an example. An argument is `name:type<old`, where type and old name may be
left out, then `?` if it may be left out, `=value` with its default, `...` if it may be repeated, `!` if it is
required although a command line names it, or `??` if it may be left out although a command line does not name it.
"""

import contextlib
import json
import logging
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

REQUIRED: Final = object()
"""The default of an argument that must be given."""
_log = logging.getLogger(__name__)
_told: ContextVar[list[str] | None] = ContextVar("told", default=None)
_ARGUMENT = re.compile(r"(\w+)(?::(\w+))?(?:<(\w+))?(\?\??|!|\.\.\.)?(?:=(.+))?")


class Argument(NamedTuple):
    """An argument of an operation at one door."""

    name: str
    type: str
    """A word for which each door has its own type."""
    help: str = ""
    default: object = REQUIRED
    was: str = ""
    """An older name, which is accepted with a warning."""
    mark: str = ""
    """`?`, `??`, `!` or `...`; see above."""


@dataclass(frozen=True, slots=True)
class Operation:
    """A public call."""

    name: str
    summary: str
    writes: bool
    """Whether it changes the memory; the uses that a recall counts are no change."""
    doors: Mapping[str, tuple[Argument, ...]]
    """Its arguments by door: `expression`, `tool`, a method with a path such as `POST /recall`, or a command."""
    example: str

    @property
    def parameters(self) -> tuple[Argument, ...]:
        """The arguments in an expression."""
        return self.doors["expression"]

    @property
    def signature(self) -> str:
        """The expression with the names of the arguments; optional ones in brackets."""
        names = (one.name if one.default is REQUIRED else f"[{one.name}]" for one in self.parameters)
        return f"({' '.join((self.name, *names))})"

    @property
    def route(self) -> str:
        """Method and path of REST; "" if it has none."""
        return next((door for door in self.doors if "/" in door), "")


def _read() -> dict[str, Operation]:
    arguments, found, name = dict[str, tuple[str, str]](), dict[str, Operation](), ""
    doors = dict[str, tuple[Argument, ...]]()
    first, _, second = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").partition("\noperations\n")
    for line in first.splitlines()[1:]:
        words, _, text = f"{line.strip()} ".partition(": ")
        key, _, kind = words.partition(" ")
        arguments[key] = kind, text.strip()

    def argument(word: str) -> Argument:
        match = _ARGUMENT.fullmatch(word)
        assert match is not None, word  # noqa: S101 - a line of our own file
        own, kind, was, mark, default = (part or "" for part in match.groups())
        usual, text = arguments.get(f"{name}.{own}") or arguments[own]
        value = json.loads(default) if default else None if "?" in mark else REQUIRED
        return Argument(own, kind or usual, text, value, was, mark)

    for line in second.splitlines():
        if line.startswith("    ("):
            found[name] = Operation(name, found[name].summary, found[name].writes, doors, line.strip())
        elif line.startswith("    "):
            door, *parts = line.split()
            door = f"{door} {parts.pop(0)}" if door.isupper() else door
            doors[door] = tuple(map(argument, parts))
        else:
            name, _, summary = line.strip().partition(": ")
            doors = {}
            found[name] = Operation(name, summary.removeprefix("!"), summary.startswith("!"), doors, "")
    return found


OPERATIONS: Mapping[str, Operation] = _read()
"""By name."""
EXPRESSIONS: Mapping[str, Operation] = {name: one for name, one in OPERATIONS.items() if "expression" in one.doors}
"""Those that expressions call."""


def at_door(door: str) -> Mapping[str, Argument]:
    """Return the arguments of a command such as `ask`, by name."""
    return {one.name: one for found in OPERATIONS.values() for one in found.doors.get(door, ())}


@contextlib.contextmanager
def told() -> Iterator[list[str]]:
    """Give the list of what the calls within tell about older names. Without this context, it is logged."""
    sentences = list[str]()
    before = _told.set(sentences)
    try:
        yield sentences
    finally:
        _told.reset(before)


def renamings(given: Collection[str], arguments: Iterable[Argument], form: str = "{!r}") -> dict[str, str]:
    """Return the present names of the given arguments that have older ones, and tell of them.

    An older name beside the present one is none of them, so that its door refuses it.
    """
    olds = {one.was: one.name for one in arguments if one.was and one.was in given and one.name not in given}
    for old, new in olds.items():
        sentence = f"{form.format(old)} is now {form.format(new)}; the next version refuses the old name"
        if (sentences := _told.get()) is None:
            _log.warning("%s", sentence)
        else:
            sentences.append(sentence)
    return olds
