"""Messages of chat models and agent frameworks: their texts, calls of tools, results of tools, and other parts.

A message is opened first: it is a mapping with a role and bodies, whatever envelope it comes in. Then each part of its
bodies is identified by its type, or by its telling key where the format has no types, and read as its kind says.
Types and keys of parts are in `formats.toml`, envelopes of one message in `_without_envelope`, of several in
`contents.py`, roles in `document.py`; all else is refused by name. What a tool returned is a value of its own, which no
key makes a part.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from enum import Enum
from string import whitespace
from typing import Any, NamedTuple

from neurogated.core.clock import read_expiration, read_moment
from neurogated.core.model import json_metadata
from neurogated.errors import InputError
from neurogated.ingestion import formats
from neurogated.ingestion.document import NOW, ROLES
from neurogated.ingestion.formats import BODIES, KIND_OF, Part, identified, is_given, kind_of, normalised, spelled
from neurogated.text.strings import is_blank, one_line, repaired

SHORTEST = "{'role': 'user', 'content': 'Hi.'}"
"""A message, for errors."""
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
_READ = frozenset({*BODIES, *formats.BESIDE, *formats.CALL_LISTS, "tool_results", "refusal"})
REPAIRED = "with NUL or half characters, which are now U+FFFD"
_CUT = "with a part of which only the length is kept, because it has over 4,000 characters or bytes that are no text"
_UNNAMED = "with a call of a tool that has no name, and is kept beside it only"
_CALL_SUFFIX = re.compile("_call$")
_NAMED_BY_TYPE = frozenset({"executable_code", "program", "file_search", "code_interpreter"})
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
    others: Sequence[str]
    """Names its parts that are no text, such as `image`, for a message that has nothing else."""
    thoughts: str
    """The words of its parts that nobody says, such as thoughts, each below its name, as in `[thinking]`."""
    fields: Mapping[str, Any]
    """The values of the message outside its envelope, such as `id` and `metadata`."""
    notes: Sequence[str]
    """What was repaired or left out; each continues `texts`."""
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


def as_mapping(item: object, telling: Collection[str] = ("role", "type")) -> Mapping[str, Any] | None:
    """Return a message, a part or a state as a mapping; None if it is no mapping and no object of `telling` fields."""
    if isinstance(item, dict | Mapping):
        return item
    if isinstance(item, str | list | int | float | bytes | type | Enum | None) or type(item) is tuple:
        return None
    for method in ("model_dump", "to_dict", "_asdict"):
        if callable(dump := getattr(item, method, None)) and isinstance(found := dump(), Mapping):
            return found
    if dataclasses.is_dataclass(item):
        return {field.name: getattr(item, field.name) for field in dataclasses.fields(item)}
    # Errors show it, so its repr must not raise.
    fields, _ = getattr(item, "__dict__", {}), repr(item)
    return None if fields.keys().isdisjoint(telling) else fields


@formats.foreign_values  # imports and frameworks read messages, too
def read_message(item: Mapping[str, Any]) -> ReadMessage:
    """Return what a message says. NUL and half characters are repaired.

    Raises:
        InputError: it has no role, nothing that could be said, or only parts that are not known and no `original`.
    """
    item = _opened(item)
    reading = _Reading(is_kept=item.get(ORIGINAL) is not None)
    if not isinstance(original := item.get(ORIGINAL), str | None):
        item = {**item, **json_metadata({ORIGINAL: original})}
    plain = {key: reading.plain(one, is_own=spelled(key) in _READ) for key, one in item.items() if key != ORIGINAL}
    item = {**item, **plain}
    role, content, refusal = item["role"], item.get("content"), item.get("refusal")
    is_tool = isinstance(role, str) and ROLES.get(role.strip().casefold()) == _TOOL
    if not is_tool and not isinstance(content, str | list | dict | None):
        raise InputError(f"the content of a message must be text or parts, not {type(content).__name__}")
    sources = [reading, *_sources(item, reading, is_tool=is_tool)]
    if is_tool and not any(source.said for source in sources):
        reading.say(_RESULT, _returned(Part(_CALL, "", normalised(item))))
    said = [(_TEXT if is_tool and kind == _RESULT else kind, one) for kind, one in _joined(s.said for s in sources)]
    beside = [(_TEXT, text) for text in (_own(refusal) if isinstance(refusal, str) else []) + reading.beside]
    said += [one for one in beside if one not in said]
    own = {*_OWN_KEYS, _time_key(item), *(key for key in item if spelled(key) in _LIFETIMES)}
    aside = {str(key): reading.bounded(value) for key, value in item.items() if key not in own and is_given(value)}
    if others := [part for source in sources for part in source.others]:
        aside["parts"] = [reading.bounded(part) for part in others]
    names = dict.fromkeys(name for source in sources for name in source.names)
    unknown = [one for source in sources for one in source.unknown]
    if unknown and not (said or names.keys() - {_UNKNOWN} or reading.is_kept):
        raise InputError(f"{unknown[0]}; say it as text, or give the whole message as its {ORIGINAL!r}, too")
    thoughts = dict.fromkeys(one for source in sources for one in source.thoughts)
    return ReadMessage(role, said, aside, [*names], "\n".join(thoughts), item, sorted(reading.notes), unknown)


def _sources(item: Mapping[str, Any], reading: _Reading, *, is_tool: bool) -> Iterator[_Reading]:
    """Yield a reading of each body and each list of calls of a message; `reading` takes the parts beside them."""
    for key in BODIES:
        if is_given(body := item.get(key)):
            source = _Reading(reading)
            source.add(body, is_returned=is_tool and key == "content")
            yield source
    spoken = {spelled(key): value for key, value in item.items()}
    for extra in (spoken, as_mapping(spoken.get("additional_kwargs")) or {}):
        for calls in filter(None, map(extra.get, formats.CALL_LISTS)):
            source = _Reading(reading)
            for call in calls if isinstance(calls, list) else [calls]:
                source.add_call(as_mapping(call) or {})
            yield source
    reading.add_results(spoken.get("tool_results") or [])
    for key, tag in () if formats.BESIDE.keys().isdisjoint(spoken) else formats.BESIDE.items():
        values = spoken.get(key)
        for part in values if isinstance(values, list) else [values]:
            if is_given(part):
                inner = normalised(part) if isinstance(part, Mapping) and tag != "artifact" else {}
                is_thought = KIND_OF[tag] == "aside" and isinstance(part, str)
                reading.say(_TEXT, _own(part) if KIND_OF[tag] == _TEXT else ())
                reading.note(Part(KIND_OF[tag], tag, {"text": part} if is_thought else inner))


def _joined(sources: Iterable[Sequence[tuple[str, str]]]) -> list[tuple[str, str]]:
    """Return what several sources say, which may tell the same, such as the content and the parts of a message."""
    kept: list[tuple[str, str]] = []
    for source in filter(None, sources):
        known = Counter(kept)
        told = {kind for kind in dict(source) if _squeezed(source, kind) == _squeezed(kept, kind)}
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
    item = _without_envelope({key: value for key, value in item.items() if key != "role" or value is not None})
    missing = [] if "role" in item else ["role"]
    missing += ["content"] if _READ.isdisjoint(map(spelled, item)) else []
    if missing:
        of_type = f" of the type {item['type']!r}" if item.get("type") is not None else ""
        door = next((one for one, keys in formats.DOORS.items() if keys <= {*map(spelled, item)}), None)
        raise InputError(
            f"a message{of_type} has no {' and no '.join(missing)}; its keys are {formats.listed(item)}; "
            + (f"give it as {SHORTEST}" if door is None else f"neurogated.integrations.{door} stores such messages")
        )
    return item


def _without_envelope(item: Mapping[str, Any]) -> Mapping[str, Any]:
    kept = {ORIGINAL: item[ORIGINAL]} if ORIGINAL in item else {}
    if "lc" in item and isinstance(item.get("kwargs"), Mapping):  # LangChain's `dumpd`
        kind = item["id"][-1] if item.get("id") and isinstance(item["id"], list) else None
        item = {"type": kind, **item["kwargs"], **kept}
    if "role" not in item and "type" in item and isinstance(item.get("data"), Mapping):  # its `messages_to_dict`
        item = {"type": item["type"], **item["data"], **kept}
    if "role" in item:
        is_body = "message" in item and not any(key in item for key in BODIES)  # Cohere 1
        return {"content" if is_body and key == "message" else key: value for key, value in item.items()}
    kind = item.get("type")
    word = kind.casefold() if isinstance(kind, str) and kind.isalpha() else ""  # `tool-call` is a part
    role = ROLES.get(re.sub("message(chunk)?$", "", word))
    if role is not None:  # its messages, whose type is a role, as in `human` or `AIMessageChunk`
        return {**item, "role": role}
    if {"from", "value"} <= item.keys():
        return _of_sharegpt(item)
    is_part = kind_of(kind) in {"call", "result", "aside"} or (kind_of(kind) == "media" and str(kind).endswith("_call"))
    # Whatever else a framework keeps in a session comes with its original.
    return _of_item(item) if is_part or (kind is not None and item.get(ORIGINAL) is not None) else item


def _of_item(item: Mapping[str, Any]) -> dict[str, Any]:
    is_result = kind_of(item["type"]) == _RESULT or str(item["type"]).endswith("_output")
    about = {"metadata", ORIGINAL, *TIMES, *(key for key in item if spelled(key) in _LIFETIMES)}
    outside = {key: item[key] for key in ("id", *about) if item.get(key) is not None}
    inside = {key: value for key, value in item.items() if key not in about}
    return {"role": _TOOL if is_result else _ASSISTANT, "content": [inside], **outside}


def _of_sharegpt(item: Mapping[str, Any]) -> dict[str, Any]:
    rest = {key: one for key, one in item.items() if key not in {"from", "value"}}
    role, said = item["from"], item["value"]
    if role != "function_call":
        return {"role": role, "content": said, **rest}
    try:
        calls = json.loads(said)
        calls = [{"function": dict(one)} for one in (calls if isinstance(calls, list) else [calls])]
    except (TypeError, ValueError, RecursionError):
        return {"role": _ASSISTANT, "content": said, **rest}
    return {"role": _ASSISTANT, "tool_calls": calls, **rest}


# --- Parts -----------------------------------------------------------------------------------------------------------


class _Reading:
    """Reads the parts of one source of a message, such as its content, one after another."""

    def __init__(self, first: _Reading | None = None, *, is_kept: bool = False) -> None:
        self.said: list[tuple[str, str]] = []
        self.beside: list[str] = []
        """The texts of parts that stand beside the bodies."""
        self.others: list[object] = []
        self.names, self.unknown, self.thoughts = list[str](), list[str](), list[str]()
        self.is_kept = is_kept
        self.notes: set[str] = set() if first is None else first.notes
        self.calls: dict[str, tuple[_Reading, set[str]]] = {} if first is None else first.calls
        """The lines of calls by their ids, with the source that tells them."""

    def say(self, kind: str, texts: Iterable[str]) -> None:
        """Add texts, calls of tools or results of tools."""
        self.said += [(kind, text) for text in texts]

    def plain(self, value: object, *, is_own: bool = True, depth: int = 0) -> Any:  # noqa: ANN401 - whatever is given
        """Return a value with repaired texts; those that are read also with objects of clients as mappings.

        Raises:
            InputError: it nests too deep.
        """
        value = value.value if isinstance(value, Enum) else value
        if isinstance(value, str):
            clean = repaired(value)
            if clean != value:
                self.notes.add(REPAIRED)
            return clean
        if isinstance(value, bytes | bytearray):
            try:
                return str(self.plain(value.decode())).encode()
            except UnicodeDecodeError:
                self.notes.update(() if self.is_kept else [_CUT])
                return b"[%d bytes]" % len(value)
        if depth > _DEEPEST:
            raise InputError(f"a message has more than {_DEEPEST} lists and mappings within each other")
        if (opened := as_mapping(value, formats.OF_OBJECTS if is_own else ())) is not None:
            return {key: self.plain(one, is_own=is_own, depth=depth + 1) for key, one in opened.items()}
        if isinstance(value, list | tuple) or (is_own and isinstance(value, Sequence)):
            return [self.plain(one, is_own=is_own, depth=depth + 1) for one in value]
        return value

    def bounded(self, value: object) -> object:
        """Return a part as a JSON value, or its type and length if it is long."""
        try:
            written = repaired(json.dumps(value, default=_described, ensure_ascii=False))
        except (TypeError, ValueError, RecursionError):
            return {"type": type(value).__name__, "left_out": "it is no JSON value"}
        if len(written) <= _LONGEST_PART:
            return json.loads(written, parse_constant=str)  # NaN and infinity are no JSON values
        self.notes.update(() if self.is_kept else [_CUT])
        kind = value.get("type") if isinstance(value, Mapping) else None
        return {"type": str(kind or type(value).__name__), "characters_left_out": len(written)}

    def note(self, found: Part) -> None:
        """Note a part that is no text, and the words that it carries."""
        if found.kind != "text":
            self.names.append(_medium(found) if found.kind == "media" else found.tag)
        self.beside += _words_of(found) if found.kind == "media" else ()
        if found.kind == "aside" and (words := _thought(found.body)):
            self.thoughts.append("\n".join((f"[{found.tag}]", *words)))

    def add(self, body: object, *, is_returned: bool = False) -> None:
        """Read a text, a part or a list of parts; of what a tool returned, all that is no part is said as it is."""
        parts = body if isinstance(body, list) else [body]
        if is_returned and not any(isinstance(one, str) or _part_in_result(one, is_typed=True) for one in parts):
            self.say(_RESULT, _own(body))
            return
        for place, whole in enumerate(parts, 1):
            if isinstance(whole, str) or (is_returned and not _part_in_result(whole, is_typed=True)):
                self.say(_TEXT, _own(whole))
            elif whole is not None:
                for part in formats.split_part(whole):
                    self._add_part(part, place)

    def _add_part(self, part: object, place: int) -> None:
        try:
            found = identified(part)
        except InputError as error:
            self.unknown.append(f"part {place} of a message {error}")
            found = Part("aside", _UNKNOWN, {})
        if found.kind == _TEXT:
            self.say(_TEXT, words := _words_of(found))
            if rest := formats.beside_text(found):
                self.others.append(rest)
                self.names += [] if words else [found.tag]
            return
        self.others.append(part)
        self.note(found)
        self.say(_TEXT, self.beside)
        self.beside = []
        if found.kind == _CALL:
            self.add_call(found.body, found.tag)
        elif found.kind == _RESULT:
            self.say(_RESULT, _returned(found))

    def add_call(self, call: Mapping[str, Any], tag: str = "") -> None:
        """Read a call of a tool; some formats put its result into it."""
        call = normalised(call)
        given, holders = call.get("type"), ("function", "custom", "tool_invocation", "tool_call")
        kind = spelled(given) if isinstance(given, str) else ""
        inner = next((call[key] for key in (*holders, kind) if isinstance(call.get(key), Mapping)), call)
        named, tag = normalised(inner), kind if kind in _NAMED_BY_TYPE else tag
        line, identity = _line_of(named, tag), call.get("id") or call.get("call_id") or call.get("tool_call_id")
        if line:
            teller, lines = (self.calls if identity is not None else {}).setdefault(_as_json(identity), (self, set()))
            self.say(_CALL, [line] if teller is self and line not in lines else ())
            lines.add(line)
        else:
            self.names.append("call")
            self.notes.add(_UNNAMED)
        if tag == "file_search_call" and isinstance(files := named.pop("results", None), list):
            typed = [{**one, "type": "file"} if isinstance(one, Mapping) else one for one in files]
            self.say(_RESULT, _words(typed, is_typed=True))
        self.say(_RESULT, _returned(Part(_CALL, tag, named)) if tag != "mcp_approval_request" else ())

    def add_results(self, results: object) -> None:
        """Read the results beside the message of a tool, as Cohere has them."""
        if not isinstance(results, list) or not all(isinstance(one, Mapping) for one in results):
            raise InputError(f"the tool_results of a message are {results!r:.80}, but must be a list of mappings")
        for result in results:
            self.say(_RESULT, _returned(Part(_RESULT, "tool_result", normalised(result))))


def _part_in_result(value: object, *, is_typed: bool) -> Part | None:
    """Return a part among what a tool returned; None for a value of the tool's own, whatever keys it has.

    A typed value is a part only if it has the keys that its type needs; a text may have no others. An untyped value is
    a part only if it has a single key.
    """
    try:
        found = identified(value)
    except InputError:
        return None
    body, is_single = found.body, isinstance(value, Mapping) and len(value) == 1
    if not found.is_typed and not (is_single and (not is_typed or found.kind == _RESULT)):
        return None
    if found.kind == _TEXT:
        texts, words = [body[key] for key in formats.TEXT_KEYS if key in body], _words_of(found)
        is_part = bool(words) or any(isinstance(one, str) for one in texts)
        known = formats.OF_TEXTS if words else formats.OF_BLANKS
        is_own = len(texts) > 1 or formats.tells_more(body, known)
        is_part &= not is_own if found.is_typed else found.tag in {"text", "json"}
    elif found.kind == "media":
        is_part = not formats.SOURCES.isdisjoint(body) and (found.is_typed or found.tag not in body)
        # A row of a search may look like a medium. A picture is far longer.
        is_part &= (
            not formats.tells_more(body, formats.OF_MEDIA) or max(map(len, map(str, body.values()))) > _LONGEST_PART
        )
    else:
        is_part = found.kind == _RESULT or found.tag.startswith("tool_approval")
    return found if is_part else None


# --- Words -----------------------------------------------------------------------------------------------------------


def _own(value: object) -> list[str]:
    """Return a value that a tool returned: a text as it is, also if it is given as bytes, all else as JSON."""
    text = value.decode() if isinstance(value, bytes) else value
    if text is None or (isinstance(text, str) and is_blank(text)):
        return []
    return [text if isinstance(text, str) else _as_json(text)]


def _words(value: object, *, is_typed: bool) -> list[str]:
    """Return the texts where a format has a text, a part or a list of them; all else as a value of the tool's own."""
    several = value if isinstance(value, list) else [value]
    found = [one if isinstance(one, str) else _part_in_result(one, is_typed=is_typed) for one in several]
    if not any(one is not None for one in found):
        return _own(value) if is_given(value) else []
    pairs = zip(several, found, strict=True)
    return [text for one, part in pairs for text in (_words_of(part) if isinstance(part, Part) else _own(one))]


def _words_at(body: Mapping[str, Any], keys: Sequence[str], *, is_typed: bool) -> list[str]:
    return next(filter(None, (_words(body.get(key) or None, is_typed=is_typed) for key in keys)), [])


def _returned(result: Part) -> list[str]:
    """Return what a tool returned, what it printed and what failed; of a call, the result that is within it."""
    found, is_call = list[list[str]](), result.kind == _CALL
    # Where a format has parts in a result. All else that a tool returned is its own, whatever its keys are.
    places = () if is_call or result.tag.endswith("tool_return") else ("content", "output")
    for key in formats.RESULT_KEYS if is_call else (*formats.PRINTED, *formats.RESULT_KEYS):
        value = result.body.get(key)
        if key in (places if result.is_typed else ("content", "result")):
            words = _words(value, is_typed=result.is_typed)
        elif key in {"response", "outputs"}:  # of objects, for which Gemini and Cohere wrap a text
            several = value if isinstance(value, list) else [value]
            wraps = [isinstance(one, Mapping) and [*one] in (["output"], ["result"]) for one in several]
            inner = [(*one.values(),)[0] if wrapped else one for one, wrapped in zip(several, wraps, strict=True)]
            words = [word for one in inner for word in _own(one)]
        else:
            words = [] if key.startswith("error") and isinstance(value, bool) else _own(value)
        if words and words not in found and not (found and key == "structured_content"):
            found.append(words)
    if not found and result.kind == _RESULT:
        rest = {
            key: one
            for key, one in result.body.items()
            if key not in formats.OF_RESULTS and isinstance(one, str | list | dict)
        }
        found += [_own({key: one for key, one in rest.items() if one} or None)]
    return [word for words in found for word in words]


def _words_of(part: Part) -> list[str]:
    body = part.body
    if part.kind == _TEXT:
        if part.tag.endswith("json"):
            return _own(next((body[key] for key in formats.JSON_KEYS if key in body), None))
        # Some formats have the text in a mapping of its own, as in `{"text": {"value": "…"}}`.
        while isinstance(inner := next((body[key] for key in formats.TEXT_KEYS if key in body), None), Mapping):
            body = normalised(inner)
        return _words_at(body, formats.TEXT_KEYS, is_typed=part.is_typed)
    if part.kind == _RESULT:
        return _returned(part)
    return _words_in_medium(part) if part.kind == "media" else []


def _thought(value: object) -> list[str]:
    if isinstance(value, Mapping):
        body = normalised(value)
        value = [body[key] for key in formats.THOUGHT_KEYS if key in body]
    return [text for one in value for text in _thought(one)] if isinstance(value, list) else _own(value)


def _words_in_medium(part: Part) -> list[str]:
    """Return the name of a picture or file, as in `[document: Lease]`, and the text that it carries."""
    nested, is_typed = part.body.get(part.tag), part.is_typed
    inner = normalised(nested) if isinstance(nested, Mapping) else part.body
    source = normalised(one) if isinstance(one := inner.get("source"), Mapping) else {}
    texts = _words_at(inner, ("transcript", "text", "content", "cited_content"), is_typed=is_typed)
    is_text = source.get("type") == "text" or inner.get("format") in formats.TEXT_FILES
    keys = [
        key for key in ("data", "bytes") if is_text and isinstance(source.get(key), str if key == "data" else bytes)
    ]
    texts = texts or _words_at(source, ("text", "content", *keys), is_typed=is_typed)
    if not texts and inner is not part.body and part.tag == "document":  # Cohere
        texts = _own(inner.get("data"))
    given = [one.get(key) for key in formats.ALT_TEXTS for one in _bodies(part)]
    names = [name for name in given if isinstance(name, str) and name.strip() and name != formats.INVENTED]
    # What a search found is named by its address, too.
    if "search" in part.tag and isinstance(url := inner.get("url"), str):
        names = [f"{names[0]} ({url})" if names else url]
    texts = _own(inner.get("context")) + texts  # Anthropic
    return [*([f"[{_medium(part)}: {_line(names[0])}]"] if names else []), *texts]


def _bodies(part: Part) -> list[Mapping[str, Any]]:
    return [part.body, *(normalised(one) for one in part.body.values() if isinstance(one, Mapping))]


def _medium(part: Part) -> str:
    """Return what a medium is: an image, an audio, a video, a document, or a file of another kind."""
    types = [str(one.get(key, "")) for one in _bodies(part) for key in ("mime_type", "media_type")]
    found = _MEDIUM.search(part.tag)
    by_type = next(filter(None, map(re.compile("image|audio|video").match, types)), None)
    return found[0] if found and found[0] != "file" else by_type[0] if by_type else "file"


def _line_of(call: Mapping[str, Any], tag: str) -> str:
    """Return a call of a tool as one line; "" if it has no name."""
    given = next((call[key] for key in formats.NAME_KEYS if isinstance(call.get(key), str)), None)
    name = given or (_CALL_SUFFIX.sub("", tag) if _CALL_SUFFIX.search(tag) or tag in _NAMED_BY_TYPE else "")
    written: Any = next((one for key in formats.ARGUMENTS if is_given(one := call.get(key))), {})
    try:
        arguments = json.loads(written) if isinstance(written, str) else written
    except (ValueError, RecursionError):
        arguments = None
    if isinstance(arguments, Mapping):
        written = ", ".join(f"{key}={_as_json(value)}" for key, value in arguments.items())
    elif arguments is not None:
        written = _as_json(arguments)
    return _line(f"{name}({written})") if name else ""


def _as_json(value: object) -> str:
    try:
        return json.dumps(value, default=_described, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError):
        return str(value)  # as with keys that are tuples


def _described(value: object) -> object:
    return value.decode() if isinstance(value, bytes) else as_mapping(value) or str(value)


def _line(text: str) -> str:
    line = one_line(text.replace("\0", " "))
    return line if len(line) <= _LONGEST_CALL else f"{line[:_LONGEST_CALL]}…"
