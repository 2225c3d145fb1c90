"""What a setting is: a field with a line of help and the values it may have."""

from __future__ import annotations

import dataclasses
import math
import os
import types
from dataclasses import field
from typing import Any

from neurogated.errors import ConfigError

__all__ = ["checked", "parse_bool", "setting"]

_TRUE_WORDS = frozenset({"true", "yes", "on", "1"})
_FALSE_WORDS = frozenset({"false", "no", "off", "0"})
_NONE_WORDS = frozenset({"", "none", "null"})


def setting(
    default: Any,  # noqa: ANN401 - a setting may be of any of the field types below
    help: str,  # noqa: A002 - the word argparse uses for it
    *,
    low: float = -math.inf,
    high: float = math.inf,
    choices: tuple[str, ...] = (),
) -> Any:  # noqa: ANN401
    """Return a field of a configuration with its default, its help and the values that are allowed."""
    return field(default=default, metadata={"help": help, "low": low, "high": high, "choices": choices})


def parse_bool(text: str) -> bool:
    """Return the truth value of a word such as `true`, `yes`, `off` or `0`.

    Raises:
        ConfigError: any other word.
    """
    word = text.strip().lower()
    if word in _TRUE_WORDS | _FALSE_WORDS:
        return word in _TRUE_WORDS
    raise ConfigError(f"{text!r} is neither true nor false")


def _parse(text: str, kinds: tuple[type, ...]) -> Any:  # noqa: ANN401
    """Read `text`, from the environment or the command line, as the first of `kinds` that fits."""
    if types.NoneType in kinds and text.strip().lower() in _NONE_WORDS:
        return None
    if bool in kinds:
        return parse_bool(text)
    for kind in (int, float):
        if kind in kinds:
            return kind(text)
    return text


def checked(spec: dataclasses.Field[Any], value: Any, kinds: tuple[type, ...]) -> Any:  # noqa: ANN401
    """Return `value` as one of `kinds`, the types of its field.

    Raises:
        ConfigError: it is of another type, out of range, or none of the choices; the message says what is allowed.
    """
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    try:
        if isinstance(value, str):
            value = _parse(value, kinds)
        elif float in kinds and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if type(value) not in kinds:
            raise ConfigError(f"a {type(value).__name__} is not allowed")
    except (ValueError, OverflowError) as error:
        names = " or ".join("none" if kind is types.NoneType else kind.__name__ for kind in kinds)
        raise ConfigError(f"{spec.name} is {value!r}, but must be {names} ({error})") from None
    low, high, choices = (spec.metadata[key] for key in ("low", "high", "choices"))
    if isinstance(value, int | float) and not (low <= value <= high and math.isfinite(value)):
        allowed = f"at least {low:g}" if high == math.inf else f"between {low:g} and {high:g}"
        raise ConfigError(f"{spec.name} is {value}, but must be {allowed}")
    if choices and value not in choices:
        raise ConfigError(f"{spec.name} is {value!r}, but must be one of {', '.join(choices)}")
    return value
