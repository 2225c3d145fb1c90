"""Values of JSON as texts, times and objects."""

import hashlib
import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from neurogated.text.strings import repaired

_MILLISECONDS = 1e11  # numbers of seconds above this are milliseconds


def mapping(value: object) -> Mapping[str, Any]:
    """Return an object of JSON; an empty one for null. Raises ValueError for another value."""
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise ValueError(f"it has {str(value)[:40]!r} where an object must be")  # noqa: TRY004 - told apart from faults of readers
    return value


def objects(value: object) -> list[dict[str, Any]]:
    """Return the objects of a list; an empty list for any other value."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def text_of(value: object) -> str:
    """Return a text that a memory can store, or an empty one for another value.

    NUL and halves of surrogate pairs, which no memory can store, are replaced by U+FFFD.
    """
    return repaired(value).strip() if isinstance(value, str) else ""


def words_of(body: object) -> str:
    """Return the words of a message: a text, or the texts of its parts, a line each."""
    texts = [text_of(one.get("text")) for one in objects(body)] if isinstance(body, list) else [text_of(body)]
    return "\n".join(filter(None, texts))


def minus(body: object, pattern: re.Pattern[str]) -> Any:  # noqa: ANN401 - JSON
    """Return the body of a message, or a part of it, whose words have lost what the pattern matches."""
    if isinstance(body, list):
        return [minus(one, pattern) for one in body]
    if isinstance(body, dict) and isinstance(body.get("text"), str):
        return {**body, "text": pattern.sub("", body["text"])}
    return pattern.sub("", body) if isinstance(body, str) else body


def moment(value: object) -> datetime | None:
    """Return a time: seconds or milliseconds since 1970, or a text in ISO format, in UTC unless it has a zone.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(value, dict):  # as MongoDB writes it: {"$date": {"$numberLong": "1736500000000"}}
        inner = next(iter(value.values()), None)
        return moment(int(inner) if isinstance(inner, str) and inner.isdecimal() else inner)
    if value is None or value == "":
        return None
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.replace(tzinfo=UTC) if found.tzinfo is None else found
        if isinstance(value, int | float) and not isinstance(value, bool):
            return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    raise ValueError(f"{value!r} is no time")


def moment_or_none(value: object) -> datetime | None:
    """Return a time; None for a malformed one, too."""
    try:
        return moment(value)
    except ValueError:
        return None


def given(**details: object) -> dict[str, Any]:
    """Return the details that have a value."""
    return {name: value for name, value in details.items() if value not in (None, "", {}, [])}


def digest(*parts: object) -> str:
    """Return a short name for something that has none in its file."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:16]


def has_keys(*alternatives: str) -> Callable[[Mapping[str, Any]], bool]:
    """Return whether an object has all keys of one of the alternatives, which spaces separate."""
    return lambda value: any(value.keys() >= set(one.split()) for one in alternatives)
