"""Files of other systems, read into texts to add: one description a format, and a generator that reads it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from neurogated.archive.foreign import (
    agents,
    assistants,
    chatgpt,
    chats,
    claude,
    langgraph,
    letta,
    mem0,
    notes,
    pam,
    zep,
)
from neurogated.archive.foreign.incoming import NO_WORDS, Format, Found, Incoming, IncomingItem, Left, Note, Words
from neurogated.archive.foreign.stream import Entry, Fault, File, files_of
from neurogated.archive.foreign.values import text_of
from neurogated.errors import ConfigError, DatasetError

__all__ = ["EXPORTS", "FORMATS", "Fault", "Incoming", "IncomingItem", "Left", "Note", "detect", "read_file"]

FORMATS: dict[str, Format] = {
    "chatgpt": chatgpt.FORMAT,
    "claude": claude.FORMAT,
    "gemini": assistants.GEMINI,
    "aistudio": assistants.AISTUDIO,
    "grok": assistants.GROK,
    "copilot": assistants.COPILOT,
    "claude-code": agents.CLAUDE_CODE,
    "codex": agents.CODEX,
    "openai-agents": agents.OPENAI_AGENTS,
    "langsmith": agents.LANGSMITH,
    "mem0": mem0.FORMAT,
    "langgraph": langgraph.FORMAT,
    "letta": letta.FORMAT,
    "graphiti": zep.GRAPHITI,
    "zep": zep.FORMAT,
    "pam": pam.FORMAT,
    "mcp-memory": notes.MCP_MEMORY,
    "memoryos": notes.MEMORYOS,
    "slack": chats.SLACK,
    "discord": chats.DISCORD,
    "telegram": chats.TELEGRAM,
    "whatsapp": chats.WHATSAPP,
    "mbox": notes.MBOX,
    "vault": notes.VAULT,
}
"""The formats by the names that users give. A file is of the first one that it looks like."""
EXPORTS = ("pam",)
"""Those of them that are also written."""

_READABLE = frozenset(
    {"", ".json", ".jsonl", ".ndjson", ".af", ".txt", ".csv", ".md", ".markdown", ".db", ".sqlite", ".mbox"}
)
_UNSAID = {"system": "instructions", "developer": "instructions", "tool": "results of tools"}
_PART = re.compile(r"\[([^\]]*)\]")


def detect(path: Path) -> str:
    """Return the format of a file, folder or zip file.

    Raises:
        DatasetError: it cannot be read, or has no known format.
    """
    with files_of(path) as files:
        return _detected(path, files)


def read_file(source: str | None, path: Path, words: Words) -> Iterator[Incoming | IncomingItem | Left | Fault | Note]:
    """Yield the texts and items of a file, with the records that are left out and the parts that cannot be read.

    Args:
        source: one of `FORMATS`; None finds it out.
        path: a file, or a zip file or folder of such files.
        words: reads the bodies of messages, as `ingestion.messages.read_message`.

    Raises:
        ConfigError: the source is unknown.
        DatasetError: the file cannot be read, or is of another kind.
    """
    if source is not None and source not in FORMATS:
        raise ConfigError(f"there is no format {source!r} to import; there are {', '.join(FORMATS)}")
    with files_of(path) as files:
        wanted = FORMATS[source or _detected(path, files)]
        count = left = 0
        for file in files:
            if _is_of(wanted, file):
                for one in _records(wanted, file):
                    if isinstance(one, Entry):
                        count += 1
                    else:
                        yield _worded(one, words) if isinstance(one, Incoming) else one
            elif len(files) == 1:
                raise DatasetError(f"{file.name} is not {wanted.title} but {_kind(file)}")
            else:
                left += 1
                yield Left(file.name, "a file of another kind")
        if left == len(files):
            raise DatasetError(f"{path} has no file of {wanted.title}, but {', '.join(one.name for one in files[:5])}")
        if note := wanted.note(count):
            yield Note(note)


def _detected(path: Path, files: list[File]) -> str:
    if not files or all(one.is_blank for one in files):
        raise DatasetError(f"{path} is empty")
    for name, wanted in FORMATS.items():
        if any(_is_of(wanted, file, is_asked=False) for file in files):
            return name
    what = _kind(files[0]) if len(files) == 1 else f"{', '.join(one.name for one in files[:5])}"
    raise DatasetError(f"{path} has no format that can be imported, but {what}; there are {', '.join(FORMATS)}")


def _is_of(wanted: Format, file: File, *, is_asked: bool = True) -> bool:
    """Return whether a file has this format. A JSON file without any entry has every format that is asked for."""
    if Path(file.name).suffix.casefold() not in _READABLE and len(file.folder) > 1:
        return False
    if wanted.sniff(file) or wanted.matches is None or not file.is_json:
        return wanted.sniff(file)
    return any(_matches(wanted, one) for one in file.first) or (is_asked and all(one.is_rest for one in file.first))


def _matches(wanted: Format, entry: Entry) -> bool:
    is_object = isinstance(entry.value, dict) and not entry.is_rest
    return is_object and wanted.matches is not None and wanted.matches(entry.value)


def _records(wanted: Format, file: File) -> Iterator[Entry | Incoming | IncomingItem | Left | Fault | Note]:
    """Yield the records of a file, and its entries before their records."""
    if wanted.read is None or wanted.sniff(file):
        yield from wanted.read_file(file) if wanted.read_file is not None else ()
        return
    is_empty = True
    for entry in file.entries():
        is_empty = False
        if isinstance(entry, Fault):
            yield entry
        elif _matches(wanted, entry):
            yield entry
            yield from _safely(wanted.read, entry)
        elif entry.is_rest:
            lists = {key: value for key, value in entry.value.items() if isinstance(value, list) and value}
            yield from (Left(entry.place, f"{key} are not imported", len(value)) for key, value in lists.items())
        else:
            yield Fault(entry.place, f"it is not {wanted.title} but {_looks_like(entry.value)}", "of another kind")
    if is_empty:
        yield Note(f"{file.name} is empty")


def _safely(read: Callable[[Entry], Found], entry: Entry) -> Found:
    try:
        yield from read(entry)
    except (KeyError, TypeError, ValueError) as error:
        yield Fault(entry.place, f"it has no {error}" if isinstance(error, KeyError) else str(error))


def _worded(one: Incoming, words: Words) -> Incoming | Left | Fault:
    """Return a text with the words of its body; what is left out, if nobody says it."""
    parts: tuple[str, ...] = ()
    text = one.text
    if one.content is not None:
        try:
            said = words({"role": one.role or "user", "content": one.content, "original": True})
        except (TypeError, ValueError) as error:
            return Fault(one.place, str(error))
        parts = tuple(dict.fromkeys(_PART.findall(said.others)))
        text = "\n".join(filter(None, (text_of(said.text), one.text)))
    if one.role in _UNSAID:
        return Left(one.place, _UNSAID[one.role])
    if not text.strip():
        return Left(one.place, f"only {', '.join(parts)}" if parts else NO_WORDS)
    return replace(one, text=text, without=parts)


def _kind(file: File) -> str:
    """Return what a file looks like."""
    if file.is_blank:
        return "an empty file"
    likely = [f"{one.title} (--from {name})" for name, one in FORMATS.items() if one.sniff(file)]
    if likely or not file.is_json:
        return " or ".join(likely) or f"a file that begins with {file.head[:20]!r}"
    return _looks_like(file.first[0].value) if file.first else "malformed JSON"


def _looks_like(value: object) -> str:
    """Return what a value of a file looks like."""
    if not isinstance(value, dict):
        return f"{str(value)[:40]!r}"
    likely = [f"{one.title} (--from {name})" for name, one in FORMATS.items() if one.matches and one.matches(value)]
    return " or ".join(likely) or f"an object with {', '.join(list(value)[:6]) or 'nothing'}"
