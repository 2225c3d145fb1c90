"""The input of `memory.add`: texts and messages, converted to documents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypedDict
from uuid import UUID

from neurogated.core.clock import Moment
from neurogated.core.model import checked_metadata
from neurogated.core.node_kind import CALL, PLACEHOLDER
from neurogated.errors import InputError
from neurogated.ingestion.document import Details, Document, Passage, checked_text, read_details
from neurogated.ingestion.messages import KEPT_ASIDE, ORIGINAL, read_message


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
    original: Any
    """A JSON value of any size, such as the message in the format of a framework. The first memory of the message has
    it whole in `metadata["original"]`."""


Content = str | Message | Mapping[str, Any] | Sequence[str | Message | Mapping[str, Any]]
"""A text, a message, or a list of them."""


def read_contents(content: Content, details: Details) -> list[Document]:
    """Return a document for each text and message. The details apply to all; values in a message have priority.

    Calls of tools are a document of their own, of the kind `call`; beside a text only if the details name no kind. A
    message that has neither text nor calls gives no document, or a `placeholder` if it has an `original`.

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
            documents += [Document((passage,), scope=scope, **own) for passage, own in _read(item, given)]
        except InputError as error:
            raise InputError(f"content {position}: {error}" if several else str(error)) from None
    return documents


def _read(item: object, given: Mapping[str, Any]) -> Iterator[tuple[Passage, dict[str, Any]]]:
    """Yield the passages of a text or message, each with the other fields of its document."""
    if isinstance(item, str):
        yield Passage(item), dict(given)
        return
    if hasattr(item, "model_dump"):  # the messages of the clients of OpenAI and Anthropic
        item = item.model_dump()
    if not isinstance(item, Mapping):
        raise InputError(f"{item!r} is neither text nor a message such as {{'role': 'user', 'content': 'Hello.'}}")
    said, name = read_message(item), item.get("name")
    for what, value in (("role", said.role), ("name", name)):
        if value is not None:
            checked_text(f"the {what} of a message", value)
    checked_text("the content of a message", said.text)
    metadata = dict(checked_metadata(item.get("metadata") or {}))
    original = item.get(ORIGINAL)
    aside = {key: kept for key, kept in ((KEPT_ASIDE, said.aside or None), (ORIGINAL, original)) if kept is not None}
    own = {**given, **{key: item[key] for key in ("id", "timestamp") if item.get(key) is not None}}
    is_blank = not said.text.strip()
    if not is_blank or not (aside or item.get("content") in (None, [])):
        yield Passage(said.text, metadata, speaker=name or None, role=said.role or None, aside=aside), own
        aside = {}
    if said.calls and (is_blank or "kind" not in own):
        if "id" in own and not is_blank:
            own["id"] = f"{own['id']}#call"
        yield Passage(said.calls, metadata, role=said.role or None, aside=aside), {"kind": CALL, **own}
    elif is_blank and original is not None:
        name = f"[{item.get('type', said.role)}]"
        yield Passage(name, metadata, role=said.role or None, aside=aside), {"kind": PLACEHOLDER, **own}
