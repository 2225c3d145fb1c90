"""The input of `memory.add`: texts and messages, converted to documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

from neurogated.core.clock import Moment, read_moment
from neurogated.core.model import checked_metadata
from neurogated.core.node_kind import CALL, PLACEHOLDER
from neurogated.errors import InputError
from neurogated.ingestion.document import NOW, Details, Document, Passage, checked_text, passages_of, read_details
from neurogated.ingestion.messages import KEPT_ASIDE, ORIGINAL, read_message, time_key
from neurogated.ingestion.speakers import ROLES, known_role


class _Said(TypedDict):
    role: str
    """`user`, `assistant`, `system` or `tool`, or a word for one of them such as `human`; case makes no difference."""
    content: str | Sequence[Any] | None
    """A text, or parts such as `{"type": "text", "text": "…"}`. Parts that are no text go to `metadata["message"]`."""


class Message(_Said, total=False):
    """One message of a conversation, in the format of OpenAI's or Anthropic's chat models."""

    name: str
    """The speaker's name."""
    timestamp: Moment
    """See `Moment`; `created_at`, `time` or `date` are read in its place."""
    id: str | UUID
    metadata: Mapping[str, Any]
    original: Any
    """A JSON value of any size, such as the message in the format of a framework. The first memory of the message has
    it whole in `metadata["original"]`."""


Content = str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any] | tuple[str, str]]
"""A text, a message, or a list of them. A pair of a role and a text is a message, too, as `("user", "Hello.")`."""


def read_contents(content: Content, details: Details) -> list[Document]:
    """Return a document for each text and message. The details apply to all; values in a message have priority.

    Calls of tools are a document of their own, of the kind `call`; beside a text only if the details name no kind. A
    message that has neither text nor calls gives no document, or a `placeholder` if it has an `original`.

    Raises:
        InputError: an item is neither text nor message, is blank, or has an unknown role; the error has its position.
    """
    scope, given = read_details(details)
    several = isinstance(content, Sequence) and not isinstance(content, str) and not _is_pair(content)
    items: list[object] = list(content) if several else [content]
    if "id" in given and len(items) != 1:
        raise InputError(f"the id {given['id']!r} is given for {len(items)} memories; give every message its own id")
    is_spoken, role_map = given.pop("speakers_in_text", False), given.pop("role_map", None)
    documents = []
    for position, item in enumerate(items):
        try:
            read = _speeches(item, given, is_spoken) if isinstance(item, str) else _read(item, given, role_map)
            documents += [Document((passage,), scope=scope, **own) for passage, own in read]
        except InputError as error:
            raise InputError(f"content {position}: {error}" if several else str(error)) from None
    return documents


def _is_pair(item: object) -> bool:
    """Return whether an item is a message in the short form of LangChain, such as `("user", "Hello.")`."""
    if not isinstance(item, tuple) or len(item) != 2 or not all(isinstance(part, str) for part in item):  # noqa: PLR2004 - a pair
        return False
    return item[0].strip().casefold() in ROLES


def _speeches(text: str, given: Mapping[str, Any], is_spoken: object) -> list[tuple[Passage, Mapping[str, Any]]]:
    passages = passages_of(text, is_spoken=bool(is_spoken))
    if "id" in given and len(passages) > 1:
        raise InputError(f"the id {given['id']!r} is given for a text of {len(passages)} speeches; leave it out")
    return [(passage, given) for passage in passages]


def _read(
    item: object, given: Mapping[str, Any], role_map: Mapping[str, str] | None
) -> Iterator[tuple[Passage, Mapping[str, Any]]]:
    """Yield the passages of a message, each with the other fields of its document."""
    if hasattr(item, "model_dump"):  # the messages of the clients of OpenAI and Anthropic
        item = item.model_dump()
    if isinstance(item, tuple) and _is_pair(item):
        item = dict(zip(("role", "content"), item, strict=True))
    if not isinstance(item, Mapping):
        raise InputError(f"{item!r} is neither text nor a message such as {{'role': 'user', 'content': 'Hello.'}}")
    said, name = read_message(item), item.get("name")
    role = None if said.role is None else known_role(said.role, role_map)
    if name is not None:
        checked_text("the name of a message", name)
    checked_text("the content of a message", said.text)
    metadata = dict(checked_metadata(item.get("metadata") or {}))
    original = item.get(ORIGINAL)
    aside = {key: kept for key, kept in ((KEPT_ASIDE, said.aside or None), (ORIGINAL, original)) if kept is not None}
    own = {**given, **_own_details(item)}
    is_blank = not said.text.strip()
    if not is_blank or not (aside or item.get("content") in (None, [])):
        yield Passage(said.text, metadata, speaker=name or None, role=role, aside=aside), own
        aside = {}
    if said.calls and (is_blank or "kind" not in own):
        if "id" in own and not is_blank:
            own = {**own, "id": f"{own['id']}#call"}
        yield Passage(said.calls, metadata, role=role, aside=aside), {"kind": CALL, **own}
    elif is_blank and original is not None:
        name = f"[{item.get('type', role)}]"
        yield Passage(name, metadata, role=role, aside=aside), {"kind": PLACEHOLDER, **own}


def _own_details(item: Mapping[str, Any]) -> dict[str, Any]:
    """Return the id and the time of a message, as far as it has them."""
    found = {"id": item["id"]} if item.get("id") is not None else {}
    if (key := time_key(item)) is not None and (key, item[key]) != ("timestamp", NOW):
        found["timestamp"] = read_moment(key, item[key])
    return found
