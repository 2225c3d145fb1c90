"""The input of `memory.add`: texts and messages, converted to documents."""

from __future__ import annotations

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypedDict, TypeGuard, cast
from uuid import UUID

from neurogated.core.clock import Moment
from neurogated.core.habits import explains_reading
from neurogated.core.model import checked_metadata
from neurogated.core.node_kind import CALL, CALL_SUFFIX, PLACEHOLDER, RESULT_SUFFIX
from neurogated.errors import InputError
from neurogated.ingestion.document import Details, Document, Passage, passages_of, read_details
from neurogated.ingestion.messages import (
    KEPT_ASIDE,
    ORIGINAL,
    as_mapping,
    keys_beside,
    messages_in,
    read_message,
    times_in,
)
from neurogated.ingestion.speakers import ROLES, known_role
from neurogated.text.strings import repaired, repaired_text

_log = logging.getLogger(__name__)


class _Said(TypedDict):
    role: str
    """`user`, `assistant`, `system` or `tool`, or a word for one of them such as `human`; case makes no difference."""
    content: str | Sequence[Any] | None
    """A text, or parts such as `{"type": "text", "text": "…"}`. Parts that are no text go to `metadata["message"]`."""


class Message(_Said, total=False):
    """One message of a conversation. `memory.add` also takes the messages of other formats and frameworks."""

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


Content = str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any] | tuple[str, str]]
"""A text, a message, or a list of them. A pair of a role and a text is a message, too, as `("user", "Hello.")`."""

_BLANK = "blank, and left out"
_CUT = "with a part of which only the length is kept, because it is longer than 4,000 characters"
_REPAIRED = "with NUL or half characters, which are now U+FFFD"


@explains_reading("it is the list of the ids of the memories, with .notes and .skipped")
class AddReport(list[str]):
    """The ids of what `add` stored, in order, and what it left out or repaired."""

    __slots__ = ("notes", "skipped")

    def __init__(self, ids: Iterable[str] = (), notes: Sequence[str] = (), skipped: int = 0) -> None:
        """Take the ids, and what is to be told."""
        super().__init__(ids)
        self.notes = tuple(notes)
        """What was left out or repaired, a sentence each."""
        self.skipped = skipped
        """The number of messages that gave no memory, because they are blank."""


class Contents(list[Document]):
    """The documents of some texts and messages, with what `AddReport` tells of them."""

    def __init__(self, documents: Iterable[Document], told: Counter[str], unread: Sequence[str] = ()) -> None:
        super().__init__(documents)
        self.skipped = told[_BLANK]
        counted = [f"{count} of the texts {'is' if count == 1 else 'are'} {what}" for what, count in (+told).items()]
        beside = [f"beside the messages, nobody reads {', '.join(map(repr, unread))}"] if unread else []
        self.notes = (*counted, *beside)

    def report(self, ids: Iterable[str]) -> AddReport:
        """Return the ids of the memories of the documents with what is to be told of them."""
        return AddReport(ids, self.notes, self.skipped)


def read_contents(content: Content, details: Details) -> Contents:
    """Return a document for each text and message. The details apply to all; values in a message have priority.

    Calls of tools are a document of their own, of the kind `call`, and so are results of tools, with the role `tool`;
    beside a text only if the details name no kind. A message whose parts are all silent, such as an image, gives a
    `placeholder`. A blank one in a list gives no document. NUL and half characters are repaired.

    Raises:
        InputError: an item is neither text nor message, or has an unknown role or part; the error has its position.
            Or the only item is a blank text.
    """
    scope, given = read_details(details)
    is_spoken, role_map = given.pop("speakers_in_text", False), given.pop("role_map", None)
    listed = None if _is_pair(content, role_map) else messages_in(content)
    items = [content] if listed is None else listed
    if listed is not None and _has_two_texts(content) and not re.search(r"\s", content[0].strip()):
        raise InputError(
            f"{content!r:.100} may be a role and a text, but {content[0]!r:.40} is no known role: say what it stands "
            "for by role_map, or put two texts into a list"
        )
    if "id" in given and len(items) != 1:
        raise InputError(f"the id {given['id']!r} is given for {len(items)} memories; give every message its own id")
    _refuse_id_of_a_part(given.get("id"))
    documents, told = [], Counter[str]()
    for position, item in enumerate(items):
        try:
            if listed is not None and isinstance(item, str) and _is_blank(item):
                told[_BLANK] += 1
                continue
            if isinstance(item, str):
                told[_REPAIRED] += repaired(item) != item
                read = _speeches(item, given, is_spoken)
            else:
                read = list(_read(item, given, role_map, told, is_alone=listed is None))
            documents += [Document((passage,), scope=scope, **own) for passage, own in read]
        except InputError as error:
            raise InputError(str(error) if listed is None else f"content {position}: {error}") from None
    found = Contents(documents, told, keys_beside(content))
    for note in found.notes:
        _log.warning("%s", note)
    return found


def _is_pair(item: object, role_map: Mapping[str, str] | None) -> bool:
    """Return whether an item is a message in the short form of LangChain, such as `("user", "Hello.")`."""
    return _has_two_texts(item) and (item[0].strip().casefold() in ROLES or item[0] in (role_map or ()))


def _has_two_texts(item: object) -> TypeGuard[tuple[str, str]]:
    return isinstance(item, tuple) and len(item) == 2 and all(isinstance(part, str) for part in item)  # noqa: PLR2004 - a pair


def _refuse_id_of_a_part(name: object) -> None:
    if str(name).endswith((CALL_SUFFIX, RESULT_SUFFIX)):
        raise InputError(f"the id {name!r} ends like that of the calls or results of a message; choose another id")


def _is_blank(text: str) -> bool:
    return not text.removeprefix("\ufeff").strip()


def _speeches(text: str, given: Mapping[str, Any], is_spoken: object) -> list[tuple[Passage, Mapping[str, Any]]]:
    passages = passages_of(text, is_spoken=bool(is_spoken))
    if "id" in given and len(passages) > 1:
        raise InputError(f"the id {given['id']!r} is given for a text of {len(passages)} speeches; leave it out")
    return [(passage, given) for passage in passages]


def _read(
    item: object, given: Mapping[str, Any], role_map: Mapping[str, str] | None, told: Counter[str], *, is_alone: bool
) -> Iterator[tuple[Passage, Mapping[str, Any]]]:
    """Yield the passages of a message, each with the other fields of its document."""
    if isinstance(item, list):
        item = tuple(item)
    if _is_pair(item, role_map):
        item = dict(zip(("role", "content"), cast("tuple[str, str]", item), strict=True))
    opened = as_mapping(item)
    if opened is None:
        raise InputError(f"{item!r} is neither text nor a message such as {{'role': 'user', 'content': 'Hello.'}}")
    said = read_message(opened)
    role = known_role(said.role, role_map)
    original, name = opened.get(ORIGINAL), said.name
    repaired_name = name and repaired_text("the name of a message", name)
    metadata = dict(checked_metadata(said.fields.get("metadata") or {}))
    aside = {key: kept for key, kept in ((KEPT_ASIDE, said.aside or None), (ORIGINAL, original)) if kept is not None}
    times, unread = times_in(said.fields)
    told.update(f"with {key!r}, which is kept beside it and not read; expires_at and valid_to are" for key in unread)
    if not {"ttl", "expires_at"}.isdisjoint(times):
        given = {name: value for name, value in given.items() if name not in {"ttl", "expires_at"}}
    own = {**given, **times, **({"id": said.fields["id"]} if said.fields.get("id") is not None else {})}
    _refuse_id_of_a_part(own.get("id"))
    told[_REPAIRED] += any(repaired(text) != text for text in (said.text, said.calls, said.results, name or ""))
    pieces = [
        (said.text, role, "", {}),
        (said.calls, role, CALL_SUFFIX, {"kind": CALL}),
        (said.results, "tool", RESULT_SUFFIX, {}),
    ]
    pieces = [piece for piece in pieces if not _is_blank(piece[0])]
    told[_CUT] += said.is_cut and original is None
    if not pieces and (said.others or original is not None):
        pieces = [(said.others or f"[{opened.get('type', role)}]", role, "", {"kind": PLACEHOLDER})]
    if not pieces:
        if is_alone and isinstance(opened.get("content"), str) and not aside:
            raise InputError("a text is empty or blank; leave it out")
        told[_BLANK] += 1
    for place, (text, by, suffix, about) in enumerate(pieces if "kind" not in own else pieces[:1]):
        named = {"id": f"{own['id']}{suffix}"} if place and "id" in own else {}
        is_named = "kind" not in about and not place
        yield (
            Passage(text, metadata, speaker=(repaired_name or None) if is_named else None, role=by, aside=aside),
            {**about, **own, **named},
        )
        aside = {}
