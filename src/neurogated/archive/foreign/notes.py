"""Notes: vaults of Markdown files, mailboxes, the graph of MCP's server-memory, and MemoryOS. See docs/formats/."""

import mailbox
import re
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from email.header import decode_header
from email.message import Message
from email.utils import parseaddr, parsedate_to_datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from neurogated.archive.foreign.incoming import EMPTY, Format, Found, Incoming, Left, read_one
from neurogated.archive.foreign.stream import File, FileEntry
from neurogated.archive.foreign.values import digest, given, has_keys, mapping, moment, objects, text_of

# --- Markdown --------------------------------------------------------------------------------------------------------
NOTES = frozenset({".md", ".markdown"})
"""The endings of the names of notes."""
_LINK = re.compile(r"\[\[([^\]|#^]+)|\]\(([^)\s:]+\.md)(?:#[^)]*)?\)")
_TITLE = re.compile(r"\A---\r?\n(?:(?!---)[^\n]*\n)*?title:[ \t]*([^\r\n]*)")


def read_note(path: str, text: str) -> Incoming | Left:
    """Return a note. Its path is its id; a title in its front matter has priority over the name of its file."""
    if not text.strip():
        return Left(path, "empty notes")
    links = dict.fromkeys(unquote(found[1] or found[2].removesuffix(".md")).strip() for found in _LINK.finditer(text))
    title = None if front_title(text) else PurePosixPath(path).stem
    return Incoming(path, path, text, details=given(title=title, metadata=given(path=path, links=list(links))))


def front_title(text: str) -> str:
    """Return the title in the front matter of a note; empty if it has none."""
    found = _TITLE.match(text)
    return found[1].strip().strip("'\"") if found else ""


def _note(file: File) -> Found:
    with file.text() as opened:
        yield read_note(file.name, opened.read())


VAULT = Format(
    *("vault", "a vault of Markdown notes"),
    sniff=lambda file: PurePosixPath(file.name).suffix.casefold() in NOTES,
    read_file=_note,
)

# --- Letters ---------------------------------------------------------------------------------------------------------
_ESCAPED = re.compile("^>(?=>*From )", re.MULTILINE)
"""What a mailbox puts before a line of words that would begin a letter."""


def _letters(file: File) -> Found:
    """Yield the plain texts of a mailbox. Letters that answer each other are a session."""
    with file.on_disk() as path, closing(mailbox.mbox(path, create=False)) as letters:
        for number, letter in enumerate(letters):
            yield from read_one({"letter": letter}, f"{file.name}[{number}]", _letter)


def _letter(item: Mapping[str, Any], place: str) -> Incoming | Left:
    letter: Message = item["letter"]
    parts = []
    for part in letter.walk():
        if part.get_content_maintype() == "message":
            part.set_payload("")  # an attached letter has words of somebody else
        parts.append(part)
    files = [name for part in parts if (name := part.get_filename())]
    texts = [_plain(part) for part in parts if part.get_content_type() == "text/plain" and not part.get_filename()]
    if not any(texts):
        return Left(place, "letters without plain text")
    key = str(letter.get("Message-ID") or digest(letter.get("Date"), *texts)).strip()
    thread = str(letter.get("References") or letter.get("In-Reply-To") or key).split()[0]
    name, address = parseaddr(_header(letter, "From"))
    details = given(
        session_id=f"mbox-{digest(thread)}",
        timestamp=_date(letter),
        metadata=given(conversation=_header(letter, "Subject"), sender=address, attachments=files),
    )
    return Incoming(place, key, "\n".join(filter(None, texts)), None, details, name or address or None)


def _plain(part: Message) -> str:
    raw = part.get_payload(decode=True)
    text = _decoded(raw, part.get_content_charset()) if isinstance(raw, bytes) else ""
    return text_of(_ESCAPED.sub("", text))


def _header(letter: Message, name: str) -> str:
    parts = decode_header(str(letter.get(name, "")))
    return "".join(_decoded(part, charset) if isinstance(part, bytes) else part for part, charset in parts)


def _decoded(raw: bytes, charset: str | None) -> str:
    """Return a text; in a charset that is not known, as UTF-8, in which most letters of ASCII are the same."""
    try:
        return raw.decode(charset or "utf-8", "replace")
    except LookupError:
        return raw.decode("utf-8", "replace")


def _date(letter: Message) -> datetime | None:
    """Return the time of a letter, in UTC if its zone is not known; None for a malformed one."""
    try:
        found = parsedate_to_datetime(str(letter.get("Date", "")))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


MBOX = Format("mbox", "a mailbox", sniff=lambda file: file.head.startswith(b"From "), read_file=_letters)


# --- MCP server-memory -----------------------------------------------------------------------------------------------
def _graph(entry: FileEntry) -> Found:
    """Yield the observations and relations of entities. An entity may be in several lines."""
    lists = {name: objects(entry.value.get(name)) for name in ("entities", "relations")}
    things = {f"{entry.place}.{name}[{number}]": one for name, of in lists.items() for number, one in enumerate(of)}
    for place, value in (things if "entities" in entry.value else {entry.place: entry.value}).items():
        yield from read_one(value, place, _relation) if "relationType" in value else _entity(value, place)


def _entity(entity: Mapping[str, Any], place: str) -> Found:
    name, observations = entity["name"], entity.get("observations") or []
    if not observations:
        yield Left(place, "entities without observations")
    for number, observation in enumerate(observations):
        text = text_of(observation.get("content") if isinstance(observation, dict) else observation)
        where = f"{place}.observations[{number}]"
        details = given(title=name, metadata=given(entity_type=entity.get("entityType")))
        key = f"{name}\0{text}"
        yield Incoming(where, key, text, details=details)


def _relation(relation: Mapping[str, Any], place: str) -> Incoming:
    parts = [str(relation[name]) for name in ("from", "relationType", "to")]
    return Incoming(place, "\0".join(parts), " ".join(parts), details={"metadata": {"relation": parts[1]}})


def _is_graph(value: Mapping[str, Any]) -> bool:
    is_line = value.get("type") == "entity" and "entityType" in value
    return is_line or "relationType" in value or {"entities", "relations"} <= value.keys()


MCP_MEMORY = Format("mcp-memory", "the graph of MCP's server-memory", _is_graph, _graph, wordless=EMPTY)

# --- MemoryOS --------------------------------------------------------------------------------------------------------
_PAGES = ("pages", "details")
_SAID = {"user_input": "user", "agent_response": "assistant", "user": "user", "assistant": "assistant"}
"""What a page says, as MemoryOS and as our own export writes it."""
_FACTS = ("knowledge_base", "user_knowledge", "assistant_knowledge")


def _memoryos(entry: FileEntry) -> Found:
    """Yield the pages and the knowledge of a tier. A page may be in the short term and in the middle term."""
    value, place = entry.value, entry.place
    user = given(user_id=value.get("user_id"))
    tiers = [value, *(mapping(value.get(name)) for name in ("short_term", "mid_term", "long_term"))]
    for tier in tiers:
        pages = [tier, *objects(tier.get("pages"))]
        segments = tier.get("segments") or tier.get("sessions")
        for segment in (segments or {}).values() if isinstance(segments, dict) else ():
            pages += [page for name in _PAGES for page in objects(segment.get(name))]
            if text_of(segment.get("summary")):
                yield Left(place, "summaries")
        for page in pages:
            for name in (name for name in _SAID if isinstance(page.get(name), str)):
                yield from read_one(page, f"{place}.{name}", partial(_page, name=name, user=user))
        for name in _FACTS:
            for fact in objects(tier.get(name)):
                yield from read_one(fact, f"{place}.{name}", partial(_knowledge, user=user))
        for name, profile in mapping(tier.get("user_profiles")).items():
            about = {"title": f"Profile of {name}", "metadata": {"derived": True}, **user}
            text = text_of(mapping(profile).get("data"))
            yield Incoming(f"{place}.{name}", f"profile-{name}", text, details=about)


def _page(page: Mapping[str, Any], place: str, *, name: str, user: Mapping[str, Any]) -> Incoming:
    text, time = text_of(page[name]), page.get("timestamp")
    details = {**user, **given(session_id=page.get("session_id") or "memoryos", timestamp=_local(time))}
    return Incoming(place, f"{time}\0{digest(text)}", text, _SAID[name], details)


def _knowledge(fact: Mapping[str, Any], place: str, *, user: Mapping[str, Any]) -> Incoming:
    text = text_of(fact.get("knowledge") or fact.get("text"))
    details = {**user, **given(timestamp=_local(fact.get("timestamp"))), "metadata": {"derived": True}}
    return Incoming(place, digest(text), text, details=details)


def _local(value: object) -> datetime | None:
    """Return a time; one without a zone is local, as MemoryOS writes it."""
    return datetime.fromisoformat(value) if isinstance(value, str) and value else moment(value)


_TIERS = ("user_id pages", "user_id segments", "user_id user_profile", "user_profiles knowledge_base")
MEMORYOS = Format(
    *("memoryos", "files of MemoryOS"),
    has_keys("user_input agent_response", "sessions access_frequency", *_TIERS),
    _memoryos,
    wordless=EMPTY,
)
