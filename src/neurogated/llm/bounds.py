"""Length limits of answers, derived from their JSON schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_THOUGHT_TOKENS = 512
"""Tokens for thoughts and chat besides the answer."""
_CHARACTERS_A_TOKEN = 2
_FRAME = 16
"""Characters of a key, of quotation marks and brackets."""
_BOUNDS = frozenset({"maxLength", "maxItems"})


def answer_tokens(schema: Mapping[str, Any] | None, most: int) -> int:
    """Return the token limit of an answer: the longest fitting answer and some thought, and at most `most`.

    The limit stops a model that repeats itself long before the timeout.
    """
    characters = None if schema is None else _longest(schema)
    return most if characters is None else min(most, characters // _CHARACTERS_A_TOKEN + _THOUGHT_TOKENS)


def without_bounds(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a schema without `maxLength` and `maxItems`. Some servers reject these, and validation ignores them."""
    if isinstance(schema, Mapping):
        return {name: without_bounds(value) for name, value in schema.items() if name not in _BOUNDS}
    return [without_bounds(value) for value in schema] if isinstance(schema, list) else schema


def _longest(schema: Mapping[str, Any]) -> int | None:
    """Return the maximum characters of a fitting value, None if the schema sets no bound."""
    match schema.get("type"):
        case "object":
            parts = [_longest(value) for value in schema.get("properties", {}).values()]
            return None if None in parts else sum(part + _FRAME for part in parts if part is not None)
        case "array":
            item = _longest(schema.get("items", {}))
            return None if item is None or "maxItems" not in schema else schema["maxItems"] * (item + _FRAME)
        case "string":
            if "enum" in schema:
                return max(map(len, schema["enum"]))
            return schema.get("maxLength")
        case "number" | "integer" | "boolean" | "null":
            return _FRAME
        case _:
            return None
