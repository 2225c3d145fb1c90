"""The input of `memory.add`: texts and messages, converted to documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

from neurogated.core.clock import Moment
from neurogated.core.model import checked_metadata
from neurogated.errors import InputError
from neurogated.ingestion.document import Details, Document, Passage, checked_text, read_details
from neurogated.ingestion.messages import KEPT_ASIDE, read_message


class _Said(TypedDict):
    role: str
    """`user`, `assistant`, or another role."""
    content: str | Sequence[Any] | None
    """A text, or parts such as `{"type": "text", "text": "…"}`. Parts that are no text go to `metadata["message"]`."""


class Message(_Said, total=False):
    """One message of a conversation, in the format of OpenAI's or Anthropic's chat models."""

    name: str
    """The speaker's name."""
    timestamp: Moment
    """See `Moment`."""
    id: str | UUID
    metadata: Mapping[str, Any]


Content = str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any]]
"""A text, a message, or a list of them."""


def read_contents(content: Content, details: Details) -> list[Document]:
    """Return a document for each text and message. The details apply to all; values in a message have priority.

    A message without text, such as one that only calls tools, gives no document.

    Raises:
        InputError: an item is neither text nor message, or is blank; the error has its position.
    """
    scope, given = read_details(details)
    several = isinstance(content, Sequence) and not isinstance(content, str)
    items: list[object] = list(content) if several else [content]
    if "id" in given and len(items) != 1:
        raise InputError(f"the id {given['id']!r} is given for {len(items)} memories; give every message its own id")
    documents = []
    for position, item in enumerate(items):
        try:
            passage, own = _read(item)
            if passage is not None:
                documents.append(Document((passage,), scope=scope, **{**given, **own}))
        except InputError as error:
            raise InputError(f"content {position}: {error}" if several else str(error)) from None
    return documents


def _read(item: object) -> tuple[Passage | None, dict[str, Any]]:
    """Return a text or message as a passage, and its id and timestamp if it has them; no passage if it has no text."""
    if isinstance(item, str):
        return Passage(item), {}
    if hasattr(item, "model_dump"):  # the messages of the clients of OpenAI and Anthropic
        item = item.model_dump()
    if not isinstance(item, Mapping):
        raise InputError(f"{item!r} is neither text nor a message such as {{'role': 'user', 'content': 'Hello.'}}")
    said, name, metadata = read_message(item), item.get("name"), item.get("metadata")
    for what, value in (("role", said.role), ("name", name)):
        if value is not None:
            checked_text(f"the {what} of a message", value)
    checked_text("the content of a message", said.text)
    if not said.text.strip() and (said.aside or item.get("content") in (None, [])):
        return None, {}
    kept = {**({KEPT_ASIDE: said.aside} if said.aside else {}), **checked_metadata(metadata or {})}
    own = {key: item[key] for key in ("id", "timestamp") if item.get(key) is not None}
    passage = Passage(said.text, kept, speaker=name or None, role=said.role or None)
    return passage, own
