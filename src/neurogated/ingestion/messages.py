"""Messages of chat models, in the formats of OpenAI and Anthropic: their text, and the parts that are no text."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from neurogated.errors import InputError

KEPT_ASIDE = "message"
"""The metadata key of the parts of a message that are no text, such as its calls of tools."""

_OWN_KEYS = frozenset({"role", "content", "name", "timestamp", "id", "metadata"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
# Keys of messages that have no content, in OpenAI's format.
_INSTEAD_OF_CONTENT = frozenset({"tool_calls", "function_call", "refusal", "audio"})
_TOOL = "tool"
_TOOL_RESULT = "tool_result"
# An image or a recording as base64 is far longer; calls of tools are shorter.
_LONGEST_PART = 4_000


class Said(NamedTuple):
    """What a message says."""

    role: str | None
    text: str
    """Its texts, joined by line breaks; empty if it has none, such as a message that only calls tools."""
    aside: dict[str, Any]
    """Its other parts as JSON values; long ones, such as images, are replaced by their length."""


def read_message(item: Mapping[str, Any]) -> Said:
    """Return what a message says.

    A message that holds nothing but results of tools has the role `tool`.

    Raises:
        InputError: it has no role, or neither content nor anything else.
    """
    aside = {str(key): _bounded(value) for key, value in item.items() if key not in _OWN_KEYS and value is not None}
    said_otherwise = not aside.keys().isdisjoint(_INSTEAD_OF_CONTENT)
    if missing := [key for key in ("role", "content") if key not in item and not (key == "content" and said_otherwise)]:
        raise InputError(f"a message has no {' and no '.join(missing)}")
    role, content = item["role"], item.get("content")
    if not isinstance(content, Sequence) or isinstance(content, str | bytes):
        # The text of a message is checked with all other texts.
        return Said(role, "" if content is None else cast("str", content), aside)
    texts, results, others = _sorted_parts(content)
    if others:
        aside["parts"] = [_bounded(part) for part in others]
    if not texts:
        return Said(_TOOL if results else role, "\n".join(results), aside)
    # Beside a text of the user's own, results of tools are nobody's words.
    return Said(role, "\n".join(texts), aside)


def _sorted_parts(parts: Sequence[object]) -> tuple[list[str], list[str], list[object]]:
    """Return the texts of a message, the texts of results of tools, and its other parts."""
    texts: list[str] = []
    results: list[str] = []
    others: list[object] = []
    for part in parts:
        text = _text_of(part)
        if text is not None:
            texts.append(text)
        else:
            if isinstance(part, Mapping) and part.get("type") == _TOOL_RESULT:
                results += _texts_in(part)
            others.append(part)
    return [text for text in texts if text.strip()], results, others


def _texts_in(result: Mapping[str, Any]) -> list[str]:
    content = result.get("content")
    pieces = [content] if isinstance(content, str) else content if isinstance(content, Sequence) else []
    return [text for text in map(_text_of, pieces) if text is not None and text.strip()]


def _text_of(part: object) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, Mapping) and part.get("type") in _TEXT_TYPES and isinstance(part.get("text"), str):
        return str(part["text"])
    return None


def _bounded(value: object) -> object:
    """Return a part as a JSON value, or its type and length if it is long."""
    try:
        written = json.dumps(value, default=str, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return {"type": type(value).__name__, "left_out": "it is no JSON value"}
    if len(written) <= _LONGEST_PART:
        # NaN and infinity are no JSON values.
        return json.loads(written, parse_constant=str)
    kind = value.get("type") if isinstance(value, Mapping) else None
    return {"type": str(kind or type(value).__name__), "characters_left_out": len(written)}
