"""Files of other systems, read into texts to add: one description a format, and a generator that reads it."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from neurogated.archive.foreign import agents, assistants, chats, notes, pam, systems
from neurogated.archive.foreign.incoming import NO_WORDS, Format, Incoming, IncomingItem, Left, Note, Words, safely
from neurogated.archive.foreign.stream import MALFORMED, Fault, File, FileEntry, files_of
from neurogated.archive.foreign.values import text_of
from neurogated.errors import ConfigError, DatasetError

__all__ = ["EXPORTS", "FORMATS", "PAM", "Fault", "Incoming", "IncomingItem", "Left", "Note", "detect", "read_file"]

_FORMATS = (
    *(assistants.CHATGPT, assistants.CLAUDE, assistants.GEMINI, assistants.AISTUDIO, assistants.GROK),
    *(assistants.COPILOT, agents.CLAUDE_CODE, agents.CODEX, agents.CURSOR, agents.COPILOT_AGENT),
    *(agents.OPENAI_AGENTS, agents.LANGSMITH),
    *(systems.MEM0, systems.LANGGRAPH, systems.LETTA, systems.GRAPHITI, systems.ZEP, pam.FORMAT),
    *(notes.MCP_MEMORY, notes.MEMORYOS, chats.SLACK, chats.DISCORD, chats.TELEGRAM, chats.WHATSAPP),
    *(notes.MBOX, notes.VAULT),
)
FORMATS = {one.name: one for one in _FORMATS}
"""The formats by the names that users give. A file is of the first one that it looks like."""
PAM = "pam"
EXPORTS = (PAM, "graphml", "cytoscape")
"""The formats that are written: one of those, and graphs for programs that draw them."""

_READABLE = re.compile(r"(?:\.(?:json|jsonl|ndjson|af|txt|csv|md|markdown|db|sqlite3?|mbox))?")
_LOOKED_AT = 100
"""Entries of a file that may show its format."""
_UNSAID = {"system": "instructions", "developer": "instructions", "tool": "results of tools"}


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
        name = source or _detected(path, files)
        wanted, count, left = FORMATS[name], 0, 0
        for file in files:
            is_hollow = wanted.matches and file.is_json and all(entry.is_rest for entry in file.first(1))
            if name in _formats_of(file) or (len(files) == 1 and is_hollow):
                for one in _records(wanted, file):
                    if isinstance(one, FileEntry):
                        count += 1
                    else:
                        yield _worded(one, words, wanted.wordless) if isinstance(one, Incoming) else one
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
    if found := {name for file in files for name in _formats_of(file)}:
        return next(name for name in FORMATS if name in found)
    what = _kind(files[0]) if len(files) == 1 else f"{', '.join(one.name for one in files[:5])}"
    raise DatasetError(f"{path} has no format that can be imported, but {what}; there are {', '.join(FORMATS)}")


def _formats_of(file: File) -> list[str]:
    """Return the formats that a file, or one of its first entries, looks like."""
    if not _READABLE.fullmatch(Path(file.name).suffix.casefold()) and len(file.folder) > 1:
        return []
    if sniffed := [name for name, wanted in FORMATS.items() if wanted.sniff(file)]:
        return sniffed
    # One entry at a time is in memory.
    values = (entry.value for entry in file.first(_LOOKED_AT) if not entry.is_rest)
    return [name for value in values for name, wanted in FORMATS.items() if _seems(wanted, value)]


def _seems(wanted: Format, value: object) -> bool:
    """Return whether a value looks like an entry of this format. One with odd values inside does not."""
    try:
        return isinstance(value, dict) and wanted.matches is not None and wanted.matches(value)
    except MALFORMED:
        return False


def _records(wanted: Format, file: File) -> Iterator[FileEntry | Incoming | IncomingItem | Left | Fault | Note]:
    """Yield the records of a file, and its entries before their records."""
    if wanted.read is None or wanted.sniff(file):
        yield from safely(wanted.read_file(file), file.name) if wanted.read_file is not None else ()
        return
    is_empty = True
    for entry in file.entries():
        is_empty = False
        if isinstance(entry, Fault):
            yield entry
        elif not entry.is_rest and _seems(wanted, entry.value):
            yield entry
            yield from safely(wanted.read(entry), entry.place)
        elif entry.is_rest:
            parts = {key: value.get("list") if isinstance(value, dict) else value for key, value in entry.value.items()}
            lists = {key: value for key, value in parts.items() if isinstance(value, list) and value}
            yield from (Left(entry.place, f"{key} are not imported", len(value)) for key, value in lists.items())
        else:
            yield Fault(entry.place, f"it is not {wanted.title} but {_looks_like(entry.value)}", "of another kind")
    if is_empty:
        yield Note(f"{file.name} is empty")


def _worded(one: Incoming, words: Words, wordless: str) -> Incoming | Left | Fault:
    """Return a text with the words of its body; what is left out, if nobody says it."""
    role: object = one.role
    speaker, why, text = one.speaker, wordless if one.content is None else NO_WORDS, one.text
    parts: tuple[str, ...] = ()
    if one.content is not None:
        body = one.content
        message = body if isinstance(body, dict) else {"role": role or "user", "content": body}
        try:
            said = words({**message, "original": True})
        except MALFORMED as error:
            return Fault(one.place, str(error))
        role, speaker = (said.role, speaker or said.name) if isinstance(body, dict) else (role, speaker)
        why = "calls of tools" if any(kind == "call" for kind, _ in said.said) else NO_WORDS
        parts = tuple(said.others)
        text = "\n".join(filter(None, (text_of(said.text), one.text)))
    key: object = one.key
    if not isinstance(role, str | None) or not isinstance(key, str):
        return Fault(one.place, f"its id is {key!r:.40} and its role {role!r:.40}, but both must be text")
    if role in _UNSAID:
        return Left(one.place, _UNSAID[role])
    if not text.strip():
        is_prompt = role == "user" and "tool_result" not in parts
        return Left(one.place, f"only {', '.join(parts)}" if parts else why, is_prompt=is_prompt)
    return replace(one, role=role, speaker=speaker, text=text, without=(*one.without, *parts))


def _kind(file: File) -> str:
    if file.is_blank:
        return "an empty file"
    likely = [f"{one.title} (--from {name})" for name, one in FORMATS.items() if one.sniff(file)]
    if likely or not file.is_json:
        return " or ".join(likely) or f"a file that begins with {file.head[:20]!r}"
    return next((_looks_like(entry.value) for entry in file.first(1)), "malformed JSON")


def _looks_like(value: object) -> str:
    if not isinstance(value, dict):
        return f"{str(value)[:40]!r}"
    if value.keys() == {"namespace", "id", "versions"}:
        return (
            "an export of all versions of a user's memories; export those to import by '--to pam', or the whole memory"
        )
    likely = [f"{one.title} (--from {name})" for name, one in FORMATS.items() if _seems(one, value)]
    return " or ".join(likely) or f"an object with {', '.join(list(value)[:6]) or 'nothing'}"
