"""Messages of chat models and agent frameworks: their texts, calls of tools, results of tools, and other parts.

A message is opened first: it is a mapping with a role and bodies, whatever envelope it comes in. Then each part of its
bodies is identified by its type, or by its telling key where the format has no types, and read as its kind says. Names
of types and keys are compared in one spelling, so `toolUse`, `tool-use` and `tool_use` are one. `formats.py`
and `_ENVELOPES` hold what is known; all else is refused by name.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from string import whitespace
from typing import Any, NamedTuple

from neurogated.core.clock import read_expiration, read_moment
from neurogated.errors import InputError
from neurogated.ingestion import formats
from neurogated.ingestion.document import NOW, ROLES
from neurogated.ingestion.formats import BODIES, KIND_OF, kind_of, listed, normalised, spelled
from neurogated.text.strings import is_blank, one_line, repaired

KEPT_ASIDE = "message"
"""The metadata key of the parts of a message that are no text, such as its calls of tools."""

ORIGINAL = "original"
"""The metadata key of the `original` of a message."""

TIMES = ("timestamp", "created_at", "createdAt", "time", "date")
"""The keys that may hold the time of a message; the first one that has a value does."""

_EXPIRATION_DATE = "expiration_date"
_LIFETIMES = ("ttl", "expires_at", "valid_from", "valid_to", _EXPIRATION_DATE)
"""The keys, in one spelling, that say until when a message is found, and from when until when it is true."""
_MAY_BE_LIFETIME = re.compile("ttl|lifetime|expir|(?:in)?valid_(?:at|until|till|since|through|before|after|date)")

_OWN_KEYS = frozenset({"role", "name", "id", "metadata", "tool_plan", ORIGINAL, *BODIES})
_READ = frozenset({*BODIES, *formats.BESIDE, "tool_calls", "function_call", "toolInvocations", "tool_results"})
REPAIRED = "with NUL or half characters, which are now U+FFFD"
_CUT = "with a part of which only the length is kept, because it is longer than 4,000 characters"
_UNNAMED = "with a call of a tool that has no name, and is kept beside it only"
_CALL_SUFFIX = re.compile("_call$")
_NAMED_BY_TYPE = frozenset({"executable_code", "program"})
_MEDIUM = re.compile("image|document|audio|video|search_result|file")
_LONGEST_CALL = 400
_LONGEST_PART = 4_000
"""Characters of a part that is kept aside. An image or a recording as base64 is far longer; calls are shorter."""
_DEEPEST = 120
"""Lists and mappings within each other. Results of tools nest parts in parts."""
_TOOL, _ASSISTANT, _UNKNOWN = "tool", "assistant", "part"
_TEXT, _CALL, _RESULT = "text", "call", "result"


class ReadMessage(NamedTuple):
    """What a message says."""

    role: str | None
    """As the message gives it, such as `human`."""
    said: Sequence[tuple[str, str]]
    """Its texts, calls of tools and results of tools in the order of its parts, each with `text`, `call` or `result`.

    A call is a line as in `weather(city="Lyon")`. Results are nobody's words.
    """
    aside: dict[str, Any]
    """Its other parts as JSON values; long ones, such as images, are replaced by their length."""
    others: str
    """Names its parts that are no text, as in `[image]`, for a message that has nothing else."""
    thoughts: str
    """The words of its parts that nobody says, such as thoughts, each below its name, as in `[thinking]`."""
    fields: Mapping[str, Any]
    """The values of the message outside its envelope, such as `id` and `metadata`."""
    notes: Sequence[str]
    """What was repaired or left out; each continues `One of the texts is`."""
    unknown: Sequence[str]
    """Its parts that are not known, each with its place and its type or keys; other parts are."""

    @property
    def text(self) -> str:
        """Its texts, joined by line breaks; empty if it has none, such as a message that only calls tools."""
        return "\n".join([text for kind, text in self.said if kind == _TEXT])

    @property
    def name(self) -> Any:  # noqa: ANN401 - whatever the caller gives
        """The name of the speaker, or of the tool."""
        name = self.fields.get("name") or self.fields.get("author_name")
        # A name of signs that nobody could read is none.
        is_none = name == formats.NAMELESS or (isinstance(name, str) and not name.strip(f"{whitespace}\ufeff\ufffd"))
        return None if is_none else name


class _Part(NamedTuple):
    """A part of a message."""

    kind: str
    """One of `_KINDS`."""
    tag: str
    body: Mapping[str, Any]
    """Its values that are not None, by keys in one spelling."""


def as_mapping(item: object, telling: Collection[str] = ("role", "type")) -> Mapping[str, Any] | None:
    """Return a message, a part or a state as a mapping; None if it is no mapping and no object of `telling` fields."""
    if isinstance(item, dict | Mapping):
        return item
    for method in ("model_dump", "to_dict"):
        if callable(dump := getattr(item, method, None)) and not isinstance(item, type):
            return dict(dump())
    if dataclasses.is_dataclass(item) and not isinstance(item, type):
        return {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    fields = {} if isinstance(item, type | Enum) else getattr(item, "__dict__", {})
    return None if fields.keys().isdisjoint(telling) else fields


def read_message(item: Mapping[str, Any]) -> ReadMessage:
    """Return what a message says. NUL and half characters are repaired.

    Raises:
        InputError: it has no role, nothing that could be said, or only parts that are not known and no `original`.
    """
    item = _opened(item)
    reading = _Reading(is_kept=item.get(ORIGINAL) is not None)
    item = {key: value if key == ORIGINAL else reading.plain(value, is_own=key in _READ) for key, value in item.items()}
    role, content = item["role"], item.get("content")
    if not isinstance(content, str | list | dict | None):
        raise InputError(f"the content of a message must be text or parts, not {type(content).__name__}")
    sources = [reading, *_sources(item, reading)]
    said = _joined([source.said for source in sources])
    is_tool = isinstance(role, str) and ROLES.get(role.strip().casefold()) == _TOOL
    said = [(_TEXT if kind == _RESULT and is_tool else kind, text) for kind, text in said]
    beside = [(_TEXT, text) for text in _words(item.get("refusal")) + reading.beside]
    said += [one for one in beside if one not in said]
    own = {*_OWN_KEYS, _time_key(item), *(key for key in item if spelled(key) in _LIFETIMES)}
    aside = {
        str(key): reading.bounded(value)
        for key, value in item.items()
        if key not in own and (value if isinstance(value, str | list | dict) else value is not None)
    }
    if others := [part for source in sources for part in source.others]:
        aside["parts"] = [reading.bounded(part) for part in others]
    names = dict.fromkeys(name for source in sources for name in source.names)
    unknown = [one for source in sources for one in source.unknown]
    if unknown and not (said or names.keys() - {_UNKNOWN} or reading.is_kept):
        raise InputError(f"{unknown[0]}; see docs/how-to/agents.md for the formats that are known")
    thoughts = dict.fromkeys(one for source in sources for one in source.thoughts)
    others_shown = "".join(f"[{name}]" for name in names)
    return ReadMessage(role, said, aside, others_shown, "\n".join(thoughts), item, sorted(reading.notes), unknown)


def _sources(item: Mapping[str, Any], reading: _Reading) -> Iterator[_Reading]:
    """Yield a reading of each body and each list of calls of a message; `reading` takes the parts beside them."""
    for body in filter(None, map(item.get, BODIES)):
        source = reading.another()
        source.add(body)
        yield source
    spoken, beside = {spelled(key): value for key, value in item.items()}, item.get("additional_kwargs")
    for extra in (spoken, as_mapping(beside) or {}) if beside else (spoken,):
        for calls in filter(None, map(extra.get, formats.CALL_LISTS)):
            source = reading.another()
            for call in calls if isinstance(calls, list) else [calls]:
                source.add_call(as_mapping(call) or {})
            yield source
    for result in item.get("tool_results") or ():  # Cohere
        reading.say(_RESULT, _words_at(normalised(as_mapping(result) or {}), formats.RESULT_KEYS))
    for key, tag in () if formats.BESIDE.keys().isdisjoint(item) else formats.BESIDE.items():
        values = item.get(key)
        for part in values if isinstance(values, list) else [values]:
            if part not in (None, "", {}, []):
                inner = normalised(part) if isinstance(part, Mapping) and tag != "artifact" else {}
                kind = KIND_OF[tag]
                reading.say(_TEXT, _words(part) if kind == _TEXT else ())
                reading.note(_Part(kind, tag, {"text": part} if kind == "aside" and isinstance(part, str) else inner))


def _joined(sources: Iterable[Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    """Return what several sources say, which may tell the same, such as the content and the parts of a message."""
    kept: list[tuple[str, str]] = []
    for source in filter(None, sources):
        if not kept:
            kept = list(source)
            continue
        known = Counter(kept)
        told = {kind for kind in (_TEXT, _CALL, _RESULT) if _squeezed(source, kind) == _squeezed(kept, kind)}
        for one in source:
            if known[one]:
                known[one] -= 1
            elif one[0] not in told:
                kept.append(one)
    return kept


def _squeezed(said: Sequence[tuple[str, str]], wanted: str) -> str:
    return "".join("".join(text for kind, text in said if kind == wanted).split())


def times_in(item: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return when a message was said, and until when it is found and true; and keys that look alike, but are not known.

    Raises:
        InputError: a value is no time, or both `expires_at` and `expiration_date` have one.
    """
    named = {spelled(key): value for key, value in item.items() if value is not None}
    found = {name: named[name] for name in _LIFETIMES if name in named}
    if _EXPIRATION_DATE in found:
        if "expires_at" in found:
            raise InputError(f"both expires_at and {_EXPIRATION_DATE} are given; give one of them")
        found["expires_at"] = read_expiration(_EXPIRATION_DATE, found.pop(_EXPIRATION_DATE))
    if (key := _time_key(item)) is not None and (key, item[key]) != ("timestamp", NOW):
        found["timestamp"] = read_moment(key, item[key])
    return found, [name for name in named if _MAY_BE_LIFETIME.match(name) and name not in _LIFETIMES]


def _time_key(item: Mapping[str, Any]) -> str | None:
    return next((key for key in TIMES if item.get(key) is not None), None)


# --- Envelopes -------------------------------------------------------------------------------------------------------


def _opened(item: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message with a role and a body.

    Raises:
        InputError: it has neither a known envelope nor a role and something that may be said.
    """
    if item.get("role", "") is None:
        item = {key: value for key, value in item.items() if key != "role"}
    for is_envelope, opened in _ENVELOPES:
        if is_envelope(item):
            item = opened(item)
    said = {*_READ, *formats.CALL_LISTS, "refusal"}
    missing = [] if "role" in item else ["role"]
    missing += ["content"] if said.isdisjoint(item) else []
    if missing:
        kind = item.get("type")
        of_type = f" of the type {kind!r}" if kind is not None else ""
        raise InputError(
            f"a message{of_type} has no {' and no '.join(missing)}; its keys are {listed(item)}; "
            "see docs/how-to/agents.md for the formats that are known"
        )
    return item


def _role_of_type(kind: object) -> str | None:
    """Return the role that the type of a message of LangChain stands for, such as `human` or `AIMessageChunk`."""
    return ROLES.get(re.sub("message(chunk)?$", "", kind.casefold())) if isinstance(kind, str) else None


def _is_item(item: Mapping[str, Any]) -> bool:
    """Return whether a message is a single part, as of OpenAI's Responses."""
    kind = kind_of(item.get("type"))
    return "role" not in item and (
        kind in {"call", "result", "aside"} or (kind == "media" and _CALL_SUFFIX.search(item["type"]) is not None)
    )


def _of_item(item: Mapping[str, Any]) -> dict[str, Any]:
    role = _TOOL if kind_of(item.get("type")) == "result" else _ASSISTANT
    about = {"metadata", ORIGINAL, *TIMES, *(key for key in item if spelled(key) in _LIFETIMES)}
    outside = {key: item[key] for key in ("id", *about) if item.get(key) is not None}
    inside = {key: value for key, value in item.items() if key not in about}
    return {"role": role, "content": [inside], **outside}


def _of_sharegpt(item: Mapping[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in item.items() if key not in {"from", "value"}}
    if item["from"] != "function_call":
        return {"role": item["from"], "content": item["value"], **rest}
    try:
        calls = json.loads(item["value"])
        calls = [{"function": dict(one)} for one in (calls if isinstance(calls, list) else [calls])]
    except (TypeError, ValueError, RecursionError):
        return {"role": _ASSISTANT, "content": item["value"], **rest}
    return {"role": _ASSISTANT, "tool_calls": calls, **rest}


_Envelope = tuple[Callable[[Mapping[str, Any]], bool], Callable[[Mapping[str, Any]], Mapping[str, Any]]]
_ENVELOPES: tuple[_Envelope, ...] = (
    # LangChain: `dumpd`, then `messages_to_dict`, then the fields of a message, whose type is its role.
    (
        lambda item: "lc" in item and isinstance(item.get("kwargs"), Mapping),
        lambda item: (
            {"type": item["id"][-1] if item.get("id") and isinstance(item["id"], list) else None} | dict(item["kwargs"])
        ),
    ),
    (
        lambda item: "role" not in item and "type" in item and isinstance(item.get("data"), Mapping),
        lambda item: {"type": item["type"], **item["data"], **({ORIGINAL: item[ORIGINAL]} if ORIGINAL in item else {})},
    ),
    (
        lambda item: "role" not in item and _role_of_type(item.get("type")) is not None,
        lambda item: {**item, "role": _role_of_type(item["type"])},
    ),
    (_is_item, _of_item),
    (lambda item: "role" not in item and {"from", "value"} <= item.keys(), _of_sharegpt),
    (  # Cohere 1
        lambda item: "role" in item and "message" in item and not any(key in item for key in BODIES),
        lambda item: {"content" if key == "message" else key: value for key, value in item.items()},
    ),
    # Whatever else a framework keeps in a session comes with its original.
    (
        lambda item: "role" not in item and "type" in item and item.get(ORIGINAL) is not None,
        lambda item: {**_of_item(item), "role": _TOOL if str(item["type"]).endswith("_output") else _ASSISTANT},
    ),
)
"""Tests for envelopes, each with the function that opens it. Each one is tried on what the ones before return."""


# --- Parts -----------------------------------------------------------------------------------------------------------


class _Reading:
    """Reads the parts of one source of a message, such as its content, one after another."""

    def __init__(self, *, is_kept: bool, notes: set[str] | None = None) -> None:
        self.said: list[tuple[str, str]] = []
        self.beside: list[str] = []
        """The texts of parts that stand beside the bodies."""
        self.others: list[object] = []
        self.names: list[str] = []
        self.unknown: list[str] = []
        self.thoughts: list[str] = []
        self.notes: set[str] = set() if notes is None else notes
        self.is_kept = is_kept
        self._ids: set[object] = set()

    def another(self) -> _Reading:
        """Return a reading of another source, with the same notes."""
        return _Reading(is_kept=self.is_kept, notes=self.notes)

    def say(self, kind: str, texts: Iterable[str]) -> None:
        """Add texts, calls of tools or results of tools."""
        self.said += [(kind, text) for text in texts]

    def plain(self, value: object, *, is_own: bool = True, depth: int = 0) -> Any:  # noqa: ANN401 - whatever is given
        """Return a value with repaired texts; those that are read also with objects of clients as mappings.

        Raises:
            InputError: it nests too deep.
        """
        if isinstance(value, str):
            clean = repaired(value)
            self.notes.update([REPAIRED] if clean != value else ())
            return clean
        if depth > _DEEPEST:
            raise InputError(f"a message has more than {_DEEPEST} lists and mappings within each other")
        if isinstance(value, list | tuple) or (is_own and isinstance(value, Sequence) and not isinstance(value, bytes)):
            return [self.plain(one, is_own=is_own, depth=depth + 1) for one in value]
        opened = as_mapping(value, formats.OF_OBJECTS) if is_own else value if isinstance(value, Mapping) else None
        if opened is None:
            return value
        return {key: self.plain(one, is_own=is_own, depth=depth + 1) for key, one in opened.items()}

    def bounded(self, value: object) -> object:
        """Return a part as a JSON value, or its type and length if it is long."""
        try:
            written = repaired(json.dumps(value, default=_described, ensure_ascii=False))
        except (TypeError, ValueError, RecursionError):
            return {"type": type(value).__name__, "left_out": "it is no JSON value"}
        if len(written) <= _LONGEST_PART:
            # NaN and infinity are no JSON values.
            return json.loads(written, parse_constant=str)
        self.notes.update(() if self.is_kept else [_CUT])
        kind = value.get("type") if isinstance(value, Mapping) else None
        return {"type": str(kind or type(value).__name__), "characters_left_out": len(written)}

    def note(self, found: _Part) -> None:
        """Note a part that is no text, and the words that it carries."""
        if found.kind != "text":
            self.names.append(_medium(found) if found.kind == "media" else found.tag)
        self.beside += _words_of(found) if found.kind == "media" else ()
        if found.kind == "aside" and (words := _words_of(found)):
            self.thoughts.append("\n".join((f"[{found.tag}]", *words)))

    def add(self, body: object) -> None:
        """Read a text, a part or a list of parts."""
        is_list = not isinstance(body, str | dict | bytes) and isinstance(body, Sequence)
        parts: Iterable[object] = body if is_list else [body]  # type: ignore[assignment]
        for position, part in enumerate(parts):
            if isinstance(part, str):
                self.say(_TEXT, () if is_blank(part) else (part,))
            elif part is not None:
                self._add_part(part, position)

    def _add_part(self, part: object, position: int) -> None:
        try:
            found = _identified(part)
        except InputError as error:
            self.unknown.append(f"part {position} of a message {error}")
            found = _Part("aside", _UNKNOWN, {})
        if found.kind == _TEXT:
            self.say(_TEXT, _words_of(found))
            if cited := _cited(found.body):
                self.others.append(cited)
            return
        self.others.append(part)
        self.note(found)
        self.say(_TEXT, self.beside)
        self.beside = []
        if found.kind == _CALL:
            self.add_call(found.body, found.tag)
        elif found.kind == _RESULT:
            self.say(_RESULT, _words_of(found))

    def add_call(self, call: Mapping[str, Any], tag: str = "") -> None:
        """Read a call of a tool; some formats put its result into it."""
        call = normalised(call)
        inner = call.get("function") or call.get("custom") or call.get("tool_invocation") or call.get("tool_call")
        named = normalised(inner) if isinstance(inner, Mapping) else call
        line = _line_of(named, tag)
        if not line:
            self.names.append("call")
            self.notes.add(_UNNAMED)
        identity = call.get("id") or call.get("call_id") or call.get("tool_call_id")
        self.say(_CALL, (one for one in line if identity is None or (identity, one) not in self._ids))
        self._ids.update((identity, one) for one in line)
        self.say(_RESULT, _words_at(named, formats.RESULT_KEYS) if tag != "mcp_approval_request" else ())


def _identified(part: object) -> _Part:
    """Return a part with its kind.

    Raises:
        InputError: it is not known. The message goes on after the name of the part.
    """
    opened = as_mapping(part)
    if opened is None:
        raise InputError(f"is {part!r:.80}, but must be a text, or a mapping with a type")
    body = normalised(opened)
    given = next((body[key] for key in formats.TYPE_KEYS if isinstance(body.get(key), str)), None)
    if given is not None:
        kind, tag = kind_of(given), spelled(given)
        if kind is None:
            raise InputError(f"has the type {given!r:.80}, which is not known")
        if any(given.startswith(start) for start in formats.OPEN_TYPES) and tag not in KIND_OF:
            body.setdefault("tool_name", given.partition("-")[2])
    else:
        tag = next((key for key in body if key in KIND_OF), "")
        if not tag:
            raise InputError(f"has no type and no key that is known; its keys are {listed(opened)}")
        kind = "aside" if body.get("thought") is True else KIND_OF[tag]
        inner = body[tag]
        if kind == "text":
            body = {"value": inner}
        elif isinstance(inner, Mapping):
            body = normalised(inner)
    return _Part(kind, tag, body)


def _cited(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the sources of a text, which stand beside it or in a mapping with it."""
    inner = next((one for key in formats.TEXT_KEYS if isinstance(one := body.get(key), Mapping)), {})
    return {key: value for key in formats.CITED if (value := body.get(key) or inner.get(key))}


# --- Words -----------------------------------------------------------------------------------------------------------


def _words(value: object, depth: int = 0) -> list[str]:
    """Return the texts of a result of a tool or of an inner part; other values as JSON."""
    if value is None or (isinstance(value, str) and is_blank(value)):
        return []
    if isinstance(value, str):
        return [value]
    several = value if isinstance(value, list | tuple) else ()
    if several and all(isinstance(one, str) or as_mapping(one) is not None for one in several):
        return [text for one in several for text in _words(one, depth + 1)]
    opened = as_mapping(value)
    if opened is None:
        return [_as_json(value)]
    try:
        found = _identified(opened)
    except InputError:
        # Of the values that a tool returned, a single text is shown as it is.
        ((key, inner), *others) = opened.items() or [("", None)]
        is_text = not others and isinstance(inner, str | list) and key in {*formats.RESULT_KEYS, "content"}
        return _words(inner, depth + 1) if is_text else [_as_json(opened)] if opened else []
    return _words_of(found, depth + 1)


def _words_of(part: _Part, depth: int = 0) -> list[str]:
    body = part.body
    if part.kind == "text":
        if part.tag.endswith("json"):
            return [_as_json(body.get("value", body.get("json")))]
        # Some formats have the text in a mapping of its own, as in `{"text": {"value": "…"}}`.
        while isinstance(inner := next((body[key] for key in formats.TEXT_KEYS if key in body), None), Mapping):
            body = normalised(inner)
        return _words_at(body, formats.TEXT_KEYS, depth)
    if part.kind == "result":
        return _words_at(body, (*formats.RESULT_KEYS, "content", "stdout", "stderr"), depth)
    if part.kind == "aside":
        return [word for key in formats.THOUGHT_KEYS for word in _words(body.get(key) or None, depth + 1)]
    return _words_in_medium(part, depth) if part.kind == "media" else []


def _words_at(body: Mapping[str, Any], keys: Sequence[str], depth: int = 0) -> list[str]:
    """Return the texts at the first of some keys that has any."""
    given = [key for key in keys if body.get(key) not in (None, "")]
    # An empty list, as of files that code made, says less than what the code printed.
    found = (_words(body[key], depth + 1) for key in sorted(given, key=lambda key: body[key] == []))
    return next(filter(None, found), [])


def _words_in_medium(part: _Part, depth: int) -> list[str]:
    """Return the name of a picture or file, as in `[document: Lease]`, and the text that it carries."""
    nested = part.body.get(part.tag)
    inner = normalised(nested) if isinstance(nested, Mapping) else part.body
    source = normalised(one) if isinstance(one := inner.get("source"), Mapping) else {}
    texts = _words_at(inner, ("transcript", "text", "content", "cited_content"), depth)
    texts = texts or _words_at(source, ("text", "content"), depth)
    if not texts and source.get("type") == "text":
        texts = _words(source.get("data"), depth)
    if not texts and inner is not part.body and part.tag == "document":  # Cohere
        texts = _words(inner.get("data"), depth)
    named = [part.body, *(normalised(one) for one in part.body.values() if isinstance(one, Mapping))]
    names = [
        one[key] for key in formats.ALT_TEXTS for one in named if isinstance(one.get(key), str) and one[key].strip()
    ]
    names = [name for name in names if name != formats.INVENTED]
    # What a search found is named by its address, too.
    if "search" in part.tag and isinstance(url := inner.get("url"), str):
        names = [f"{names[0]} ({url})" if names else url]
    texts = _words(inner.get("context"), depth) + texts  # Anthropic
    return [*([f"[{_medium(part)}: {_line(names[0])}]"] if names else []), *texts]


def _medium(part: _Part) -> str:
    """Return what a medium is: an image, an audio, a video, a document, or a file of another kind."""
    values = [part.body, *(normalised(one) for one in part.body.values() if isinstance(one, Mapping))]
    types = [str(one.get(key, "")) for one in values for key in ("mime_type", "media_type")]
    found = _MEDIUM.search(part.tag)
    by_type = next(filter(None, map(re.compile("image|audio|video").match, types)), None)
    return found[0] if found and found[0] != "file" else by_type[0] if by_type else "file"


def _line_of(call: Mapping[str, Any], tag: str) -> list[str]:
    """Return a call of a tool as one line; none if it has no name."""
    given = next((call[key] for key in formats.NAME_KEYS if isinstance(call.get(key), str)), None)
    name = given or (_CALL_SUFFIX.sub("", tag) if _CALL_SUFFIX.search(tag) or tag in _NAMED_BY_TYPE else "")
    if not name:
        return []
    arguments: Any = next((call[key] for key in formats.ARGUMENTS if call.get(key) is not None), {})
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except (ValueError, RecursionError):
            return [_line(f"{name}({arguments})")]
    if isinstance(arguments, Mapping):
        written = ", ".join(f"{key}={_as_json(value)}" for key, value in arguments.items())
        return [_line(f"{name}({written})")]
    return [_line(f"{name}({_as_json(arguments)})")]


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, default=_described, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return f"[{type(value).__name__}]"


def _described(value: object) -> object:
    """Return a value that is no JSON value as one."""
    if isinstance(value, bytes | bytearray):
        return f"[{len(value)} bytes]"
    return as_mapping(value) or str(value)


def _line(text: str) -> str:
    line = one_line(text.replace("\0", " "))
    return line if len(line) <= _LONGEST_CALL else f"{line[:_LONGEST_CALL]}…"
