"""A document as it is given: its passages, their speakers and its details."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from datetime import datetime, timedelta
from typing import Any, Literal, Self, TypedDict, Unpack
from uuid import UUID

from neurogated.core.clock import Moment, read_moment, to_utc
from neurogated.core.found import Statement
from neurogated.core.habits import refuse_unknown
from neurogated.core.model import MemoryNode, checked_unit, json_metadata
from neurogated.core.node_kind import FACT, TURN, given_kind
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.text.strings import checked_names, is_blank, repaired_text
from neurogated.text.times import Zone
from neurogated.utils.hash_utils import compute_mdhash_id

_WORDS = {
    "user": ("user", "human"),
    "assistant": ("assistant", "ai", "model", "bot", "chatbot", "gpt", "agent", "tool-call"),
    "system": ("system", "developer"),
    "tool": ("tool", "function", "observation", "ipython", "tool-response"),
}
ROLES = {word: role for role, words in _WORDS.items() for word in words}
"""The role that each known word, in lower case, stands for."""
_KNOWN = "; ".join(f"{', '.join(words)} → {role}" for role, words in _WORDS.items())

_LONGEST = 40
MOST_CHARS = 10_000_000
"""Characters of a document, about those of ten long novels."""
_NAME = r"[^\W\d_a-z][^\W\d_]*[.'\u2019-]?[^\W\d_]*\.?"
_LABEL = re.compile(rf"\s*({_NAME}(?: {_NAME}){{0,2}})[:\uff1a]\s*(?=\S)")


def known_role(role: object, role_map: Mapping[str, str] | None = None) -> str:
    """Return the role `user`, `assistant`, `system` or `tool` that a word stands for; case makes no difference.

    Args:
        role: the word, such as `human` or `AI`.
        role_map: further words with what they stand for.

    Raises:
        InputError: neither the map nor `ROLES` has the word.
    """
    if role_map is None and type(role) is str and role in ROLES:
        return ROLES[role]
    given: Any = role_map
    words = ROLES
    if given is not None:
        if not isinstance(given, Mapping) or not all(isinstance(word, str) for word in given):
            raise InputError(f'the role_map is {role_map!r}, but must map words to roles, as in {{"customer": "user"}}')
        words = ROLES | {word.strip().casefold(): known_role(one) for word, one in given.items()}
    found = words.get(role.strip().casefold()) if isinstance(role, str) else None
    if found is None:
        raise InputError(f"the role {role!r:.80} is unknown; known are {_KNOWN}; or say what it is by role_map")
    return found


def labelled_speaker(text: str) -> str | None:
    """Return the name before a colon at the beginning of a text, None if there is none.

    The name has one to three capitalised words and up to 40 characters. "Note: buy milk" has the same form, so nobody
    may be shown as the speaker of a text because of it, unless the caller says that texts name their speakers.
    """
    return None if (label := _label(text)) is None else label[1]


def spoken_parts(text: str) -> list[tuple[str | None, str]]:
    """Return the parts of a text that names its speakers, each with its speaker and without this name.

    A part begins at each line that begins with a name and a colon. Lines before the first one have no speaker.
    """
    parts: list[tuple[str | None, list[str]]] = [(None, [])]
    for line in text.splitlines(keepends=True):
        label = _label(line)
        if label is not None:
            parts.append((label[1], []))
        parts[-1][1].append(line if label is None else line[label.end() :])
    said = [(speaker, "".join(lines).strip()) for speaker, lines in parts]
    return [one for one in said if one[1]]


def _label(text: str) -> re.Match[str] | None:
    label = _LABEL.match(text[: _LONGEST + 2])
    return label if label is not None and label[1][0].isupper() else None


NOW = "now"
"""The timestamp of a text that has the time at which it arrives."""
PARTS_OF_MESSAGES = ("#call", "#result")
"""Ends of the ids of the calls of tools of a message, and of their results, which are stored beside its text."""
_CHUNK_ID = re.compile("#(?:[0-9]+|call|result)$")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
# Joins the parts of the hashed text. Texts must not contain it, so different documents have different hash inputs.
_SEPARATOR = "\0"


class Details(TypedDict, total=False):
    """The owner of a text, and optional facts about it."""

    user_id: str | None
    """The user who owns the text. Without it, every user finds the text."""
    agent_id: str | None
    """The agent that it belongs to."""
    session_id: str | None
    """The conversation that it is a part of."""
    path: Sequence[str]
    """A position in your own tree of scopes."""
    id: str | UUID | None
    """Your own id. Adding a text with this id again replaces the memory by a new version (upsert).

    The id of a long text names its first memory, and all of them in `delete` and `update`.
    """
    replace: bool
    """False: a memory that has the `id` already stays as it is, whoever adds it at the same time. Default: true."""
    title: str | None
    """The subject of the text; it is embedded with the text."""
    metadata: Mapping[str, Any] | None
    """Your own JSON values, stored with every chunk. The memory does not interpret them."""
    kind: str | None
    """One of `NODE_KINDS`; default: `turn` in a session and `episode` elsewhere."""
    importance: float | None
    """0–1."""
    timestamp: Moment | Literal["now"] | None
    """The time of the statement or event; see `Moment`. Default: a message, which has a role or a session, has the time
    at which it arrives, and any other text has none. `now` gives a new memory the time at which it arrives."""
    tags: Sequence[str]
    ttl: timedelta | float | None
    """Lifetime from now, as a timedelta or in seconds; default: no limit. No recall finds an expired memory."""
    expires_at: Moment | None
    """The time from which no call finds the text; in place of `ttl`."""
    valid_from: Moment | None
    """The time from which the content is true."""
    valid_to: Moment | None
    """The time until which the content is true."""
    speakers_in_text: bool
    """Whether a text names its speakers, as in "Ann: Hello.". Each line that begins with a name and a colon begins a
    memory with this speaker and without the name. By default, no text is searched for a speaker."""
    role_map: Mapping[str, str] | None
    """What further roles of messages stand for, as in `{"customer": "user"}`."""


_SCOPE = ("user_id", "agent_id", "session_id", "path")
_KEYS = frozenset({"text", *Details.__annotations__})


def read_details(details: Details) -> tuple[Scope, dict[str, Any]]:
    """Return the scope and the other fields of a document that are given.

    Raises:
        InputError: a name is unknown.
    """
    refuse_unknown(details, Details.__annotations__)
    given: dict[str, Any] = dict(details)
    scope = Scope(**{name: given.pop(name) for name in _SCOPE if name in given})
    if given.get("timestamp") == NOW:
        given |= {"timestamp": None, "stamped": True}
    return scope, {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document, such as a paragraph or a turn of a dialogue. No chunk spans two passages."""

    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Metadata of this passage's nodes, in addition to the document's."""
    speaker: str | None = None
    """The speaker's name."""
    role: str | None = None
    """`user`, `assistant`, `system` or `tool`, or a word for one of them; see `ROLES`."""
    aside: Mapping[str, Any] = field(default_factory=dict)
    """Metadata of the first of this passage's nodes. `metadata` has priority."""
    kind: str | None = None
    """In place of the document's kind."""
    part: str = ""
    """Of a message with several parts, the end of the ids of this one: one of `PARTS_OF_MESSAGES`, or "" for its words,
    and without words for what it begins with. All of them are stored, replaced and removed together."""

    def __post_init__(self) -> None:
        # Editors put a mark of the byte order before a text, which is none of its words.
        object.__setattr__(self, "text", repaired_text("a passage", self.text).lstrip("\ufeff"))
        object.__setattr__(self, "metadata", json_metadata(self.metadata))
        object.__setattr__(self, "aside", json_metadata(self.aside))
        if self.role is not None:
            object.__setattr__(self, "role", known_role(self.role))
        if is_blank(self.text):
            raise InputError("a text is empty or blank; leave it out")


@dataclass(frozen=True, slots=True)
class Document:
    """Successive passages under one title. See `Details` for the fields that have no description here."""

    passages: tuple[Passage, ...]
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    ttl: timedelta | float | None = None
    """None for ever, also for a document that is stored already."""
    expires_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    scope: Scope = field(default_factory=Scope)
    """The owner. The same text in two scopes makes two memories."""
    kind: str | None = None
    importance: float | None = None
    timestamp: datetime | None = None
    """Without a zone it is a time in the zone of the memory."""
    stamped: bool | None = None
    """Whether new memories without a timestamp get the time at which they arrive; None: those of messages."""
    tags: tuple[str, ...] = ()
    id: str | None = None
    """It names the calls of tools of a message and their results, too."""
    replace: bool = True
    statement: Statement | None = None
    """The parts of a fact; its text is stored as one memory, however long it is."""
    outcome: float | None = None
    """The outcome of an event, from 1, success, to -1, failure; None if it is unknown."""
    markdown: bool | None = None
    """Whether the text is Markdown, which is cut between its blocks; None if the text shows it."""

    def __post_init__(self) -> None:
        if not self.passages:
            raise InputError("a document has no passage; give it at least one")
        if self.title is not None:
            title = repaired_text("a title", self.title).lstrip("\ufeff")
            object.__setattr__(self, "title", title if title.strip() else None)
        if self.id is not None and len(self.passages) > 1 and not self.has_parts:
            raise InputError(f"the id {self.id!r} is given for {len(self.passages)} passages, but names one memory")
        if not isinstance(self.id, str | UUID | None):
            raise InputError(f"the id is {self.id!r}, but must be a text or a UUID")
        node_id = None if self.id is None else str(self.id)
        object.__setattr__(self, "id", node_id)
        if node_id is not None and _CHUNK_ID.search(node_id):
            raise InputError(f"the id {node_id!r} ends like the id of a chunk; choose another id")
        if node_id is not None and _CONTROL.search(node_id):
            raise InputError(f"the id {node_id!r} has a control character, which not every database stores")
        object.__setattr__(self, "metadata", json_metadata(self.metadata))
        checked_unit("the importance", None, 0 if self.importance is None else self.importance)
        given_kind(self.kind)
        object.__setattr__(self, "ttl", checked_ttl(self.ttl))
        object.__setattr__(self, "expires_at", read_moment("expires_at", self.expires_at))
        if self.ttl is not None and self.expires_at is not None:
            raise InputError("both ttl and expires_at are given; give one of them")
        begin, end = read_moment("valid_from", self.valid_from), read_moment("valid_to", self.valid_to)
        if begin is not None and end is not None and to_utc(end) <= to_utc(begin):
            raise InputError(f"valid_to, {self.valid_to}, must lie after valid_from, {self.valid_from}")
        object.__setattr__(self, "valid_from", begin)
        object.__setattr__(self, "valid_to", end)
        # The constructor of a node refuses unstorable values before anything is stored.
        object.__setattr__(self, "timestamp", read_moment("timestamp", self.timestamp))
        for passage in self.passages:
            MemoryNode("document" if self.id is None else self.id, "", scope=self.scope, **self.fields_of(passage))

    @property
    def has_parts(self) -> bool:
        """Whether it is a message with several parts."""
        return len(self.passages) > 1 and any(passage.part for passage in self.passages)

    @property
    def main(self) -> Passage:
        """The passage that its id names, such as the first words of a message."""
        return next(passage for passage in self.passages if not passage.part)

    @property
    def in_session(self) -> bool:
        """Whether the passages are turns of a session. Equal turns are stored as separate memories."""
        return self.scope.session_id is not None

    @property
    def may_be_fact(self) -> bool:
        """Whether its memories may be facts; an id may be that of one."""
        kinds = {self.kind, *[passage.kind for passage in self.passages]}
        return self.statement is not None or self.id is not None or FACT in kinds

    def is_stamped(self, passage: Passage) -> bool:
        """Return whether new memories of a passage get the time at which they arrive."""
        is_message = self.statement is None and (self.in_session or passage.role is not None)
        return self.timestamp is None and (is_message if self.stamped is None else self.stamped)

    def fields_of(self, passage: Passage, zone: Zone = None) -> dict[str, Any]:
        """Return the given fields of a passage's nodes, without scope and validity."""
        given = {
            "kind": passage.kind or self.kind or (TURN if self.in_session else None),
            "title": self.title,
            "role": passage.role,
            "speaker": passage.speaker,
            "importance": self.importance,
            "timestamp": self.timestamp and to_utc(self.timestamp, zone),
        }
        fields = {name: value for name, value in given.items() if value is not None}
        return fields | ({"tags": tuple(sorted(set(checked_names("tags", self.tags))))} if self.tags else {})

    @classmethod
    def from_text(cls, text: str, **details: Unpack[Details]) -> Self:
        """Return a document of one passage; with `speakers_in_text`, of one for each speech."""
        scope, given = read_details(details)
        if "role_map" in given:
            raise InputError("a role_map is given for a text; only messages have roles")
        return cls(passages_of(text, is_spoken=given.pop("speakers_in_text", False)), scope=scope, **given)

    @property
    def document_id(self) -> str:
        """Hash of title, texts, speakers and scope. It does not depend on metadata."""
        text = _SEPARATOR.join((self.title or "", *(passage.text for passage in self.passages)))
        speakers = [(passage.speaker, passage.role) for passage in self.passages]
        # No passage is empty, so the passages alone never produce two successive separators.
        owner = f"{_SEPARATOR}{_SEPARATOR}{astuple(self.scope)!r}" if self.scope else ""
        owner += f"{_SEPARATOR}{_SEPARATOR}{speakers!r}" if any(map(any, speakers)) else ""
        return compute_mdhash_id(text + owner, prefix="doc-")


def passages_of(text: str, *, is_spoken: bool) -> tuple[Passage, ...]:
    """Return a text as one passage, or, if it names its speakers, as a passage for each speech."""
    if not is_spoken:
        return (Passage(text),)
    text = repaired_text("a passage", text)
    return tuple(Passage(said, speaker=speaker) for speaker, said in spoken_parts(text)) or (Passage(text),)


def read_documents(documents: Iterable[str | Document | Mapping[str, Any]]) -> Iterator[Document]:
    """Yield texts, documents and mappings with `text` as documents; see `NeuroGraphMemory.add_documents`.

    Raises:
        InputError: an item is none of these; the message has its position. Or one text is given in place of a list.
    """
    if isinstance(documents, str):
        raise InputError("the documents are one text, but must be a list; put a single document in a list")
    for position, item in enumerate(documents, 1):
        try:
            yield _read_document(item)
        except InputError as error:
            raise InputError(f"document {position}: {error}") from None


def checked_ttl(ttl: object) -> timedelta | None:
    """Return `ttl`, a timedelta or a number of seconds, as a timedelta; None for None.

    Raises:
        InputError: `ttl` has another type, or is not above 0.
    """
    if ttl is None:
        return None
    if isinstance(ttl, bool) or not isinstance(ttl, timedelta | int | float):
        raise InputError(f"the ttl is {ttl!r}, but must be a timedelta or a number of seconds")
    try:
        span = ttl if isinstance(ttl, timedelta) else timedelta(seconds=ttl)
    except (OverflowError, ValueError):
        raise InputError(f"the ttl is {ttl} seconds, which is not a duration; leave it out for ever") from None
    if span <= timedelta():
        seconds = span.total_seconds()
        raise InputError(f"the ttl is {seconds:,g} seconds, but must be above 0; to forget at once, delete")
    return span


def _read_document(item: object) -> Document:
    if isinstance(item, str | Document):
        return Document.from_text(item) if isinstance(item, str) else item
    if not isinstance(item, Mapping) or "text" not in item:
        raise InputError(f"{item!r} is neither text nor Document nor a mapping with 'text'")
    refuse_unknown(map(str, item), sorted(_KEYS), "keys")
    return Document.from_text(**item)
