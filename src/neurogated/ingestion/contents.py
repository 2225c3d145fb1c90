"""The input of `memory.add`: texts and messages, converted to documents."""

import logging
import reprlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta
from enum import Enum
from itertools import groupby
from typing import Any, Required, Self, TypedDict
from uuid import UUID

from neurogated.core.clock import Moment, to_utc
from neurogated.core.habits import explains_reading
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CALL, PLACEHOLDER
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.ingestion import formats
from neurogated.ingestion.document import Details, Document, Passage, known_role, passages_of, read_details
from neurogated.ingestion.formats import SYSTEM, foreign_values, is_given, kind_of, spelled
from neurogated.ingestion.messages import KEPT_ASIDE, ORIGINAL, REPAIRED, SHORTEST, as_mapping, read_message, times_in
from neurogated.text.strings import is_blank, repaired
from neurogated.text.times import Zone

_log = logging.getLogger(__name__)


class Message(TypedDict, total=False):
    """One message of a conversation. `memory.add` also takes the messages of other formats and frameworks."""

    role: Required[str]
    """`user`, `assistant`, `system` or `tool`, or a word for one of them such as `human`; case makes no difference."""
    content: Required[str | Sequence[Any] | None]
    """A text, or parts such as `{"type": "text", "text": "…"}`. Parts that are no text go to `metadata["message"]`."""
    name: str
    """The speaker's name."""
    timestamp: Moment
    """See `Moment`; `created_at`, `time` or `date` are read in its place."""
    ttl: timedelta | float
    expires_at: Moment
    expiration_date: Moment
    """The last day on which it is found, in place of `expires_at`."""
    valid_from: Moment
    valid_to: Moment
    id: str | UUID
    metadata: Mapping[str, Any]
    original: Any
    """A JSON value of any size, such as the message in the format of a framework. The first memory of the message has
    it whole in `metadata["original"]`."""


Content = (
    str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any] | tuple[str, str | Sequence[Any]]]
)
"""A text, a message, or a list of them. A tuple of a role and a text or parts is a message, too, as
`("user", "Hello.")`; the role is a known one, or in `role_map`."""

_DETAILS = {"user_id", "agent_id", "session_id", "tags", "importance", "kind"}
"""Arguments of `add` that a message does not have: otherwise, who writes a message would choose its owner."""
HELD_IN = ("messages", "conversations", "contents")
"""The keys of a list of messages, as in a state of LangGraph and a record of ShareGPT."""

COMPLETIONS = {"choices": "message", "candidates": "content", "output": "message", "outputs": "", "message": ""}
"""The keys of whole answers of models, with the key of the message within: OpenAI, Gemini, OpenAI's Responses and
Bedrock, conversations of Mistral, Ollama and Cohere."""
_BLANK, _UNREAD = "that are blank, and left out", "which is kept beside it and not read"
_PAIR = (str | Enum, str | Enum | list)
_SHOWN, _LONGEST = 5, 500
"""Ids or places in a note, and characters of what is told of a message."""


@explains_reading("it is the list of the ids of the memories, with .notes, .skipped and .refused")
class AddReport(list[str]):
    """The ids of what `add` stored, in order, and what it left out or repaired."""

    __slots__ = ("notes", "refused", "skipped")

    def __init__(self, ids: Iterable[str] = (), notes: Sequence[str] = (), skipped: int = 0, refused: int = 0) -> None:
        """Take the ids, and what is to be told."""
        super().__init__(ids)
        self.notes = tuple(notes)
        """What was left out or repaired, a sentence each."""
        self.skipped = skipped
        """The number of messages that gave no memory, because they are blank."""
        self.refused = refused
        """The number of messages that gave no memory, because they are refused; `notes` has their places,
        which count from 1: `content 2` is the second message, and `part 1 of a message` its first part."""

    def __repr__(self) -> str:
        """Return the ids, and how many messages are refused, so that nobody overlooks them."""
        return super().__repr__() + f" ({self.refused} refused; see notes)" * bool(self.refused)


class Contents(list[Document]):
    """The documents of some texts and messages, with what `AddReport` tells of them."""

    def __init__(self, documents: Iterable[Document], notes: Iterable[str], skipped: int, refused: int) -> None:
        super().__init__(documents)
        self.notes, self.skipped, self.refused = tuple(notes), skipped, refused

    def noted(self, stored: Iterable[MemoryNode], now: datetime, zone: Zone = None) -> Self:
        """Add notes on texts that have expired by `now`, and on the `stored` memories that other texts replace."""
        notes, named = list[str](), [one for one in self if one.id is not None]
        past = [one.id for one in self if one.expires_at is not None and to_utc(one.expires_at, zone) <= now]
        notes += _note("texts that have expired already, which no call finds", past)
        given, stay = {one.id: one for one in named}, {one.id for one in stored}
        again = [one.id for one in named if one is not given[one.id] and (one.replace or one.id not in stay)]
        notes += _note("texts with the id of a later one, which replaces them", again)
        others = dict[str, list[str]]()
        for node in stored:
            if (one := given.get(node.id)) is not None and one.scope.session_id != node.scope.session_id:
                session = node.scope.session_id
                place = "outside of sessions" if session is None else f"of the session {session!r}"
                end = "are replaced" if one.replace else "stay as they are"
                others.setdefault(f"memories {place} that {end}", []).append(node.id)
        for what, ids in others.items():
            notes += _note(f"{what}, since an id names one memory in all sessions", ids)
        for note in notes:
            _log.warning("%s", note)
        self.notes += tuple(notes)
        return self

    def report(self, ids: Iterable[str]) -> AddReport:
        """Return the ids of the memories of the documents with what is to be told of them."""
        return AddReport(ids, self.notes, self.skipped, self.refused)


def read_contents(content: Content, details: Details, check: Callable[[Document], None] = lambda _: None) -> Contents:
    """Return a document for each text and message. The details apply to all; values in a message have priority.

    Calls of tools are a passage of their own, of the kind `call`, and so are results of tools, with the role `tool`;
    beside a text only if the details name no kind. All passages of a message are stored and removed together. A message
    whose parts are all silent, such as an image, gives a `placeholder`. A blank one in a list gives no document, and
    neither does one that cannot be read. NUL and half characters are repaired. What is repaired or left out is counted.

    Args:
        content: see `memory.add`.
        details: of all texts and messages.
        check: raises InputError for a document that cannot be stored.

    Raises:
        InputError: the only item is a blank text. Or nothing is stored, and an item is neither text nor message, has an
            unknown role, no part that is known, or a value that is wrong; the error has its place.
    """
    scope, given = read_details(details)
    is_spoken, role_map = given.pop("speakers_in_text", False), given.pop("role_map", None)
    known_role("user", role_map)  # a map that is wrong is no fault of a message
    # What the caller's own generator raises, such as an error of a network, is no fault of a message.
    with nullcontext() if hasattr(content, "__next__") else foreign_values:
        listed = None if _is_pair(content, role_map) else _messages_in(content)
    items, beside = ([("", content)], []) if listed is None else listed
    documents, told, refused, unknown = list[Document](), dict[str, list[str]](), list[str](), list[str]()
    for place, item in items:
        try:
            with foreign_values:
                found, notes, left = _read(item, scope, given, role_map, is_spoken=bool(is_spoken))
            for document in found:
                check(document)
        except InputError as error:
            if listed is None:
                raise
            refused.append(f"{place}: {str(error)[:_LONGEST]}")
            continue
        documents += found
        for what in notes if found else (_BLANK,):
            told.setdefault(what, []).append(place)
        unknown += [f"{place}: {one}" if place else one for one in left]
    if "id" in given and (count := max(len(items), len(documents))) != 1:
        raise InputError(f"the id {given['id']!r} is given for {count} memories; give every message its own id")
    if refused and not documents:
        raise InputError(_shown(refused, 1))
    said = content.get("content") if isinstance(content, Mapping) else content
    if listed is None and not documents and isinstance(said, str):
        raise InputError("a text is empty or blank; leave it out")
    counted = [note for what, places in told.items() for note in _note(f"texts {what}", places)]
    counted += _note("messages that cannot be read or stored, and are left out", refused)
    counted += _note("parts that are not known, and are kept beside their messages", unknown)
    counted += _note("keys beside the messages, which are left out", list(map(repr, beside)))
    for note in counted:
        _log.warning("%s", note)
    return Contents(documents, counted, len(told.get(_BLANK, ())), len(refused))


def _note(what: str, places: Sequence[str | None]) -> list[str]:
    """Return a note that counts something and names its first places, where they have a name; none without any."""
    shown = _shown(places, _SHOWN) if all(places) else ""
    return [", ".join(filter(None, (f"{what}: {len(places)}", shown)))] if places else []


def _shown(places: Sequence[object], most: int) -> str:
    others = len(places) - most
    return "; ".join([*map(str, places[:most]), *([f"and {others} more"] if others > 0 else [])])


def _is_pair(item: object, role_map: Mapping[str, str] | None) -> bool:
    """Return whether an item is a message in the short form of LangChain, such as `("user", "Hello.")`.

    Raises:
        InputError: the first one of two texts in a tuple, or of a text and a list, is no known role.
    """
    if type(item) is not tuple or len(item) != len(_PAIR) or not all(map(isinstance, item, _PAIR)):
        return False
    try:
        return bool(known_role(getattr(item[0], "value", item[0]), role_map))
    except InputError as error:
        raise InputError(f"a pair is a role and what it says, but {error}; give texts as a list") from None


def _read(
    item: object, scope: Scope, given: Mapping[str, Any], role_map: Mapping[str, str] | None, *, is_spoken: bool
) -> tuple[list[Document], Sequence[str], Sequence[str]]:
    """Return the documents of a text or of a message, what is left out or repaired, and its parts that are not known.

    A message is one document: its text, its calls of tools and their results. A blank one is none.
    """
    if isinstance(item, InputError):
        raise item
    if isinstance(item, str):
        speeches = () if is_blank(item) else passages_of(item, is_spoken=is_spoken)
        said = [Document((speech,), scope=scope, **given) for speech in speeches]
        return said, [REPAIRED] * bool(said and repaired(item) != item), ()
    pair: Any = tuple(item) if isinstance(item, list) else item  # JSON has lists
    item = {"role": pair[0], "content": pair[1]} if _is_pair(pair, role_map) else item
    if (opened := as_mapping(item)) is None:
        is_list = isinstance(item, list | tuple)
        wanted = "a list in a list; give all in one" if is_list else f"neither text nor a message, as {SHORTEST}"
        raise InputError(f"{reprlib.repr(item)} is {wanted}")
    message = read_message(opened)
    role, name, original = known_role(message.role, role_map), message.name, message.fields.get(ORIGINAL)
    if not isinstance(name, str | None):
        raise InputError(f"the name of a message is {name!r:.60}, but must be text")
    metadata = message.fields.get("metadata") or {}
    aside = {key: kept for key, kept in ((KEPT_ASIDE, message.aside or None), (ORIGINAL, original)) if kept is not None}
    times, unread = times_in(message.fields)
    if not {"ttl", "expires_at"}.isdisjoint(times):
        given = {name: value for name, value in given.items() if name not in {"ttl", "expires_at"}}
    own = {**given, **times, **({"id": message.fields["id"]} if message.fields.get("id") is not None else {})}
    pieces = [(kind, "\n".join([text for _, text in run])) for kind, run in groupby(message.said, lambda one: one[0])]
    if not pieces and message.thoughts:
        pieces = [("text", message.thoughts)]
    elif not pieces and (message.others or original is not None):
        names = message.others or [opened.get("type", role)]
        role = "tool" if {kind_of(name) for name in names} == {"result"} else role
        pieces = [(PLACEHOLDER, "".join(f"[{name}]" for name in names))]
    first = "text" if message.text else pieces[0][0] if pieces else ""
    if "kind" in own:
        pieces = [(first, message.text)] if message.text else pieces[:1]
    passages = [
        Passage(
            text,
            metadata,
            speaker=(name or None) if kind == first and kind not in {CALL, PLACEHOLDER} else None,
            role="tool" if kind == "result" else role,
            aside={} if place else aside,
            kind=own.get("kind", kind if kind in {CALL, PLACEHOLDER} else None),
            part="" if kind == first else f"#{kind}",
        )
        for place, (kind, text) in enumerate(pieces)
    ]
    documents = [Document(tuple(passages), scope=scope, **own)] if passages else []
    details = sorted(_DETAILS.intersection(message.aside)) if message.aside and original is None else ()
    notes = [
        *message.notes,
        *(f"with {key!r}, {_UNREAD}; expires_at and valid_to are" for key in unread),
        *(f"with {key!r}, {_UNREAD}; give it to add" for key in details),
    ]
    return documents, notes, message.unknown


def _messages_in(content: object) -> tuple[list[tuple[str, object]], list[str]] | None:
    """Return the messages of a list, or of a mapping or object that holds one, with their places.

    What the system says beside a list is its first message. The names of other keys beside it are returned, too. In
    the place of an item that cannot be opened is the error. None for a single text or message.
    """
    if isinstance(content, str | bytes):
        return None
    if isinstance(content, Sequence | Iterator) and not hasattr(content, "_asdict"):
        every, left_out = list[tuple[str, object]](), dict[str, None]()
        for position, item in enumerate(content, 1):
            place = f"content {position}"
            # A tuple in a list is a message.
            try:
                with foreign_values:
                    inside = None if isinstance(item, list) or type(item) is tuple else _messages_in(item)
            except InputError as error:
                inside = [("", error)], []
            found, beside = ([("", item)], []) if inside is None else inside
            every += [(f"{place}: {inner}" if inner else place, one) for inner, one in found]
            left_out |= dict.fromkeys(beside)
        return every, list(left_out)
    opened = as_mapping(content)
    if opened is not None and {"values", "next", "tasks"} <= opened.keys():  # a snapshot of LangGraph
        opened = {**opened, "values": None, **(as_mapping(opened["values"], HELD_IN) or {})}
    if opened is None or "role" in opened:
        return None
    held = next((key for key in HELD_IN if isinstance(opened.get(key), list | tuple)), None)
    if held is None:
        return _messages_of_completion(opened)
    messages = list[tuple[str, object]]()
    others = {key: value for key, value in opened.items() if key != held and is_given(value)}
    for key in SYSTEM:
        if (said := others.pop(key, None)) is not None:
            inner = as_mapping(said)
            message = {"content": said} if inner is None or "type" in inner else inner
            messages.append((key, {**message, "role": "system"}))
    messages += [(f"{held} {position}", one) for position, one in enumerate(opened[held], 1)]
    return messages, [str(key) for key in others]


def _messages_of_completion(opened: Mapping[str, Any]) -> tuple[list[tuple[str, object]], list[str]] | None:
    """Return the messages of what a model's API returned, and the keys beside them; None for anything else.

    Raises:
        InputError: it has no message, or several of which one was chosen.
    """
    if "type" in opened:
        return None
    for key, inner in COMPLETIONS.items():
        held = opened.get(key)
        several = held if isinstance(held, list | tuple) else None
        if several is not None and key.startswith("output"):
            return [(f"{key} {position}", one) for position, one in enumerate(several, 1)], _telling(opened, key)
        found = as_mapping(several[0] if several is not None and len(several) == 1 else held, ("role", inner))
        message = as_mapping(found.get(inner)) if inner and found is not None else found
        if several is None and (message is None or "role" not in message):
            continue
        if message is None:
            raise InputError(f"{len(several or ())} {key} given; give one whole, as in .{key}[0].{inner}, not streamed")
        # Its id is not the caller's own, and neither is one in an envelope within.
        said = {name: value for name, value in message.items() if name not in {"id", "lc"}}
        beside = _telling(opened, key) + (_telling(found, inner) if inner and found is not None else [])
        return [("", {**said, "role": message.get("role") or "assistant"})], beside
    return None


def _telling(answer: Mapping[str, Any], held: str) -> list[str]:
    told = {str(key): one for key, one in answer.items() if key != held and spelled(key) not in formats.OF_ANSWERS}
    return [key for key, one in told.items() if is_given(one) and not isinstance(one, int | float | datetime)]
