"""Messages of chat models, in the formats of OpenAI and Anthropic: their texts, calls of tools, and other parts."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, cast

from neurogated.errors import InputError
from neurogated.ingestion.speakers import ROLES
from neurogated.text.strings import one_line

KEPT_ASIDE = "message"
"""The metadata key of the parts of a message that are no text, such as its calls of tools."""

ORIGINAL = "original"
"""The metadata key of the `original` of a message."""

TIMES = ("timestamp", "created_at", "time", "date")
"""The keys that may hold the time of a message; the first one that has a value does."""
_OWN_KEYS = frozenset({"role", "content", "name", "timestamp", "id", "metadata", ORIGINAL})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
# Keys of messages that have no content, in OpenAI's format.
_INSTEAD_OF_CONTENT = frozenset({"tool_calls", "function_call", "refusal", "audio"})
_CALL_TYPES = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use", "function_call", "custom_tool_call", "mcp_call"}
)
# The names of the arguments: of OpenAI, Anthropic and LangChain.
_ARGUMENTS = ("arguments", "input", "args")
_LONGEST_CALL = 400
_FILE = re.compile("image|file|document|audio|video")
_ALT_TEXTS = ("alt", "alt_text", "title", "filename", "name")
_TOOL = "tool"
_TOOL_RESULT = "tool_result"
# An image or a recording as base64 is far longer; calls of tools are shorter.
_LONGEST_PART = 4_000


class Said(NamedTuple):
    """What a message says."""

    role: str | None
    """As the message gives it, such as `human`."""
    text: str
    """Its texts, joined by line breaks; empty if it has none, such as a message that only calls tools."""
    aside: dict[str, Any]
    """Its other parts as JSON values; long ones, such as images, are replaced by their length."""
    calls: str = ""
    """Its calls of tools, a line each, as in `weather(city="Lyon")`."""


def read_message(item: Mapping[str, Any]) -> Said:
    """Return what a message says.

    A message that holds nothing but results of tools has the role `tool`. The type of a message of LangChain is its
    role. Another item without a role and without a text, as of OpenAI's Responses, has the role `tool` if it is an
    output, and `assistant` otherwise.

    Raises:
        InputError: it has no role, or neither content nor anything else.
    """
    if "role" not in item and isinstance(kind := item.get("type"), str):
        role = ROLES.get(kind.casefold().removesuffix("messagechunk"))
        if role is None and not isinstance(item.get("content"), str):
            role = _TOOL if kind.endswith("_output") else "assistant"
        item = {"content": item.get("output"), **item, **({} if role is None else {"role": role})}
    own = {*_OWN_KEYS, time_key(item)}
    aside = {str(key): _bounded(value) for key, value in item.items() if key not in own and value is not None}
    said_otherwise = not aside.keys().isdisjoint(_INSTEAD_OF_CONTENT)
    if missing := [key for key in ("role", "content") if key not in item and not (key == "content" and said_otherwise)]:
        raise InputError(f"a message has no {' and no '.join(missing)}")
    role, content = item["role"], item.get("content")
    content = [content] if isinstance(content, Mapping) else content
    if not isinstance(content, Sequence) or isinstance(content, str | bytes):
        # The text of a message is checked with all other texts.
        return Said(role, "" if content is None else cast("str", content), aside, _calls_in(item))
    texts, results, others = _sorted_parts(content)
    calls = _calls_in({**item, "parts": others})
    if others:
        aside["parts"] = [_bounded(part) for part in others]
    if not texts:
        return Said(_TOOL if results else role, "\n".join(results), aside, calls)
    # Beside a text of the user's own, results of tools are nobody's words.
    return Said(role, "\n".join(texts), aside, calls)


def time_key(item: Mapping[str, Any]) -> str | None:
    """Return the key of the time of a message; None if it has no time."""
    return next((key for key in TIMES if item.get(key) is not None), None)


def _calls_in(item: Mapping[str, Any]) -> str:
    """Return the calls of tools of a message, a line each; a call that occurs in two formats counts once."""
    listed = item.get("tool_calls")
    found = list(listed) if isinstance(listed, Sequence) and not isinstance(listed, str) else []
    found += [item.get("function_call"), *([item] if item.get("type") in _CALL_TYPES else ())]
    parts = item.get("parts", ())
    found += [part for part in parts if isinstance(part, Mapping) and part.get("type") in _CALL_TYPES]
    return "\n".join(dict.fromkeys(line for call in found if (line := _line_of(call))))


def _line_of(call: object) -> str | None:
    """Return a call of a tool as one line; None if it has no name."""
    inner = call.get("function") or call.get("custom") or call if isinstance(call, Mapping) else None
    if not isinstance(inner, Mapping) or not isinstance(name := inner.get("name"), str):
        return None
    given: Any = next((inner[key] for key in _ARGUMENTS if inner.get(key) is not None), {})
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except ValueError:
            return _line(f"{name}({given})")
    if isinstance(given, Mapping):
        return _line(f"{name}({', '.join(f'{key}={_written(value)}' for key, value in given.items())})")
    return _line(f"{name}({_written(given)})")


def _written(value: object) -> str:
    return json.dumps(_bounded(value), ensure_ascii=False)


def _line(text: str) -> str:
    line = one_line(text.replace("\0", " "))
    return line if len(line) <= _LONGEST_CALL else f"{line[:_LONGEST_CALL]}…"


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
            if isinstance(part, Mapping):
                texts += _note_of(part)
                results += _texts_in(part) if part.get("type") == _TOOL_RESULT else ()
            others.append(part)
    return [text for text in texts if text.strip()], results, others


def _note_of(part: Mapping[str, Any]) -> list[str]:
    """Return a note such as `[image: a red barn]` for an image or a file that has an alternative text or a name."""
    kind = _FILE.search(str(part.get("type")))
    if kind is None:
        return []
    inner = [part, *(value for value in part.values() if isinstance(value, Mapping))]
    names = [one[key] for key in _ALT_TEXTS for one in inner if isinstance(one.get(key), str) and one[key].strip()]
    return [f"[{kind[0]}: {_line(names[0])}]"] if names else []


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
