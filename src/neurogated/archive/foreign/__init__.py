"""Files of other systems, read into texts to add: one module a format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from neurogated.archive.foreign import chatgpt, claude, langgraph, letta, mem0, pam, zep
from neurogated.archive.foreign.incoming import Format, Found, Incoming, IncomingItem
from neurogated.archive.foreign.stream import Entry, Fault, entries_of
from neurogated.errors import ConfigError, DatasetError

__all__ = ["EXPORTS", "FORMATS", "Fault", "Incoming", "IncomingItem", "Note", "read_file"]

FORMATS: dict[str, Format] = {
    "chatgpt": chatgpt.FORMAT,
    "claude": claude.FORMAT,
    "mem0": mem0.FORMAT,
    "langgraph": langgraph.FORMAT,
    "letta": letta.FORMAT,
    "zep": zep.FORMAT,
    "pam": pam.FORMAT,
}
"""The formats by the names that users give."""
EXPORTS = ("pam",)
"""Those of them that are also written."""


class Note(str):
    """What the user should know of a file."""

    __slots__ = ()


def read_file(source: str, path: Path) -> Iterator[Incoming | IncomingItem | Fault | Note]:
    """Yield the texts or items of a file with the parts that cannot be read.

    Args:
        source: one of `FORMATS`.
        path: a file, or a zip file or folder of such files.

    Raises:
        ConfigError: the source is unknown.
        DatasetError: the file cannot be read, or is of another kind.
    """
    if source not in FORMATS:
        raise ConfigError(f"there is no format {source!r} to import; there are {', '.join(FORMATS)}")
    wanted, count = FORMATS[source], 0
    for entry in entries_of(path, wanted.names):
        if isinstance(entry, Fault):
            yield entry
        elif isinstance(entry.value, dict) and wanted.matches(entry.value):
            count += 1
            yield from _texts(wanted, entry)
        elif not entry.is_rest:
            reason = f"it is not {wanted.title} but {_kind(entry.value)}"
            if not count:
                raise DatasetError(f"{entry.place}: {reason}")
            yield Fault(entry.place, reason)
    if note := wanted.note(count):
        yield Note(note)


def _texts(wanted: Format, entry: Entry) -> Found:
    try:
        yield from wanted.read(entry)
    except (KeyError, TypeError, ValueError) as error:
        yield Fault(entry.place, f"it has no {error}" if isinstance(error, KeyError) else str(error))


def _kind(value: object) -> str:
    """Return what a value of a file looks like."""
    if not isinstance(value, dict):
        return f"{str(value)[:40]!r}"
    likely = [f"{one.title} (--from {name})" for name, one in FORMATS.items() if one.matches(value)]
    return " or ".join(likely) or f"an object with {', '.join(list(value)[:6]) or 'nothing'}"
