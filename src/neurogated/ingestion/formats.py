"""The parts of messages: their kinds by their types or keys, which `formats.toml` lists, and their values."""

import re
from collections.abc import Collection, Mapping
from contextlib import ContextDecorator
from functools import lru_cache
from typing import Any, NamedTuple

from neurogated.errors import InputError
from neurogated.text.strings import table_of

_TABLE = table_of(__package__, "formats")
_KEYS = {name: tuple(keys.split()) for name, keys in _TABLE["keys"].items()}
KIND_OF = {tag: kind for kind, tags in _TABLE["kinds"].items() for tag in tags.split()}
# A user interface of Vercel names the tool, or the program's own data, in the type.
_OPEN_TYPES = {"tool-": "call", "data-": "aside"}
TEXT_KEYS, THOUGHT_KEYS, ALT_TEXTS = _KEYS["text"], _KEYS["thought"], _KEYS["alt_text"]
NAME_KEYS, ARGUMENTS, CALL_LISTS = _KEYS["name"], _KEYS["arguments"], _KEYS["calls"]
RESULT_KEYS, PRINTED, JSON_KEYS = _KEYS["result"], _KEYS["printed"], ("json", "value", "text")
BODIES, SYSTEM, BESIDE = _KEYS["bodies"], _KEYS["system"], _TABLE["beside"]
OF_ANSWERS = frozenset(_KEYS["of_answers"])
DOORS = {door: frozenset(keys.split()) for door, keys in _TABLE["doors"].items()}
SOURCES, TEXT_FILES = frozenset(_KEYS["source"]), frozenset(_KEYS["text_files"])
# What has other keys than these in the value of a tool is a value of the tool's own.
OF_BLANKS = {*TEXT_KEYS, *_KEYS["type"]}
OF_TEXTS = {*OF_BLANKS, *_KEYS["cited"], *_KEYS["beside_text"]} - {"id", "index"}
OF_MEDIA = {*SOURCES, *ALT_TEXTS, *OF_TEXTS, *_KEYS["of_media"]}
OF_RESULTS = {*RESULT_KEYS, *PRINTED, *OF_TEXTS, *OF_ANSWERS, *_KEYS["of_results"]}
_SILENT = {*_KEYS["type"], *_KEYS["beside_text"], *_KEYS["state"]}
INVENTED, NAMELESS = _TABLE["invented"]["file"], _TABLE["invented"]["agent"]
OF_OBJECTS = frozenset({*_KEYS["type"], "function", "custom", *NAME_KEYS, *ARGUMENTS, *TEXT_KEYS, "url", "data"})
"""An object within a message is read only if it has one of these fields."""
_JOINED = str.maketrans("-.", "__")
_HUMP = re.compile("(?<=[a-z0-9])(?=[A-Z])")


class _ForeignValues(ContextDecorator):
    """Raises InputError for whatever a value of others raises while it is read, which may be any exception."""

    def __enter__(self) -> None: ...

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, Exception) and not isinstance(error, InputError):
            raise InputError(f"a value in it cannot be read: it raised {type(error).__name__}") from error


foreign_values = _ForeignValues()


@lru_cache(4096)
def spelled(name: object) -> str:
    """Return a type or key in one spelling: `toolUse`, `tool-use` and `tool.use` are `tool_use`. Else it is empty."""
    return _HUMP.sub("_", name).translate(_JOINED).casefold() if isinstance(name, str) else ""


def is_given(value: object) -> bool:
    """Return whether a value is neither None nor empty, without asking objects of others."""
    return bool(value) if isinstance(value, str | list | dict | tuple) else value is not None


def tells_more(body: Mapping[str, Any], known: Collection[str]) -> bool:
    """Return whether a part has other values than those of the known keys and an id that LangChain invented."""
    return any(
        key not in known and is_given(one) and not (key == "id" and str(one).startswith(_TABLE["invented"]["id"]))
        for key, one in body.items()
    )


def kind_of(given: object) -> str | None:
    """Return the kind of parts of a type; None if the type is not known."""
    if not isinstance(given, str):
        return None
    own = next((kind for start, kind in _OPEN_TYPES.items() if given.startswith(start)), None)
    return KIND_OF.get(spelled(given), own)


def normalised(value: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of a part that are not None, by keys in one spelling."""
    return {spelled(key): one for key, one in value.items() if one is not None}


def listed(item: Mapping[str, Any]) -> str:
    """Return the first keys of a value, for errors."""
    return ", ".join(repr(str(key)[:40]) for key in list(item)[:8]) or "none"


class Part(NamedTuple):
    """A part of a message."""

    kind: str
    """`text`, `call`, `result`, `media`, or `aside`."""
    tag: str
    body: Mapping[str, Any]
    """Its values that are not None, by keys in one spelling."""
    is_typed: bool = True
    """Whether its type tells its kind, and not its key."""


def identified(part: object) -> Part:
    """Return a part with its kind.

    Raises:
        InputError: it is not known. The message goes on after the name of the part.
    """
    if not isinstance(part, Mapping):
        raise InputError(f"is {part!r:.80}, but must be a text, or a mapping with a type")
    body = normalised(part)
    given = next((body[key] for key in _KEYS["type"] if isinstance(body.get(key), str)), None)
    if given is not None:
        kind, tag = kind_of(given), spelled(given)
        if kind is None:
            raise InputError(f"has the type {given!r:.80}, which is not known")
        if any(given.startswith(start) for start in _OPEN_TYPES) and tag not in KIND_OF:
            body.setdefault("tool_name", given.partition("-")[2])
        return Part(kind, tag, body)
    tag = next((key for key in body if key in KIND_OF), "")
    if not tag:
        raise InputError(f"has no type and no key that is known; its keys are {listed(part)}")
    kind, inner = "aside" if body.get("thought") is True else KIND_OF[tag], body[tag]
    if kind == "text":
        body = {**{key: one for key, one in body.items() if key != tag}, "json" if tag == "json" else "text": inner}
    elif isinstance(inner, Mapping):
        body = normalised(inner)
    return Part(kind, tag, body, is_typed=False)


def split_part(part: object) -> list[object]:
    """Return the parts that a part without a type holds, such as a text and a picture, each with its own key."""
    if not isinstance(part, Mapping) or not normalised(part).keys().isdisjoint(_KEYS["type"]):
        return [part]
    keys = [key for key, one in part.items() if spelled(key) in KIND_OF and not isinstance(one, bool | None)]
    beside = {key: one for key, one in part.items() if key not in keys}
    return [{**beside, key: part[key]} for key in keys] or [part]


def beside_text(part: Part) -> dict[str, Any]:
    """Return the values of a text that are not said, but may say something, such as its sources and pictures."""
    rest = {key: one for key, one in part.body.items() if key not in _SILENT and is_given(one)}
    is_json = part.tag.endswith("json")
    said = rest.pop(next((key for key in (JSON_KEYS if is_json else TEXT_KEYS) if key in rest), ""), None)
    inner = normalised(said) if isinstance(said, Mapping) and not is_json else {}
    return rest | (beside_text(part._replace(body=inner)) if inner else {})
