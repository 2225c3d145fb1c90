"""Assistants whose exports are logs: Gemini, AI Studio, Grok and Microsoft Copilot. See docs/formats/."""

from __future__ import annotations

import csv
import html
import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from pathlib import PurePosixPath
from typing import Any

from neurogated.archive.foreign.incoming import (
    Format,
    Found,
    Incoming,
    Left,
    ends_of,
    last_leaf,
    read_each,
    read_one,
    unseen,
)
from neurogated.archive.foreign.stream import File, FileEntry
from neurogated.archive.foreign.values import digest, given, mapping, moment, moment_or_none, objects, text_of

# --- Gemini ----------------------------------------------------------------------------------------------------------

_PROMPTED = re.compile(r"(?:Prompted|Asked|Said|Branched|Answered)(?: with| Gemini| Bard)?:? |Eingegebener Prompt:\s")
_DONE = re.compile(r"(?:Created|Used|Added|Gave|Selected|Shared|Deleted|Viewed|Visited|Edited|Pinned|Renamed) ")
_ATTACHED = re.compile(r"\s*(?:Attached \d+ files?|\d+ Datei(?:en)? angehängt)\.?\s*$")
_CONVERSATION = re.compile(r"gemini\.google\.com/app/(?:c/)?([0-9A-Za-z_-]+)")
_BLOCK = re.compile(r"<(?:p|br|li|div|h[1-6]|tr|pre|[uo]l|table|blockquote)\b[^>]*>")
_TAG = re.compile(r"<[^>]*>")


def _words(text: str) -> str:
    """Return the words of HTML, a line for each block."""
    lines = html.unescape(_TAG.sub("", _BLOCK.sub("\n", text))).split("\n")
    return text_of("\n".join(filter(None, (" ".join(line.split()) for line in lines))))


def _gemini(entry: FileEntry) -> Found:
    """Yield a prompt and its answer. The log has no conversations, unless an address names one: a day is a session."""
    value, place = entry.value, entry.place
    time, title = moment(value["time"]), text_of(value.get("title"))
    if not re.search("gemini|bard", f"{value.get('header')} {value.get('products')}", re.IGNORECASE):
        yield Left(place, "activities of other products")
        return
    named = _CONVERSATION.search(str(value.get("titleUrl") or ""))
    session = named[1] if named else f"{time:%Y-%m-%d}"
    details = given(session_id=f"gemini-{session}", timestamp=time)
    asked = {one.get("name"): text_of(one.get("value")) for one in objects(value.get("details"))}
    said = [_words(one["html"]) for one in objects(value.get("safeHtmlItem")) if isinstance(one.get("html"), str)]
    answer = "\n".join(filter(None, said)) or asked.get("Response", "")
    prompt = asked.get("Request") or _ATTACHED.sub("", _PROMPTED.sub("", title, count=1))
    if not asked.get("Request") and (_DONE.match(title) or not (answer or _PROMPTED.match(title))):
        yield Left(place, "activities that are no prompts")
        return
    key = f"{value['time']}\0{digest(title)}"
    files = [one["name"] for one in objects(value.get("attachedFiles")) if one.get("name")]
    about = given(metadata=given(attachments=files))
    yield Incoming(place, key, prompt, "user", {**details, **about}) if prompt else Left(place, "files without words")
    if answer:
        yield Incoming(f"{place}.safeHtmlItem", f"{key}\0answer", answer, "assistant", details)


GEMINI = Format("gemini", "the activity of Gemini", lambda value: {"header", "title", "time"} <= value.keys(), _gemini)


def _aistudio(file: File) -> Found:
    """Yield the chunks of a prompt of AI Studio, whose session is named after its file. Most have no time."""
    name, repeats = PurePosixPath(file.name).stem, Counter[str]()
    for entry in file.entries():
        if not isinstance(entry, FileEntry):
            yield entry
            continue
        value = mapping(entry.value)
        if text_of(mapping(value.get("systemInstruction")).get("text")):
            yield Left(f"{entry.place}.systemInstruction", "instructions")

        def chunk(one: Mapping[str, Any], place: str) -> Incoming | Left:
            parts = [part for part in objects(one.get("parts")) if not part.get("thought")]
            text = text_of(one.get("text")) or text_of("".join(str(part.get("text") or "") for part in parts))
            if one.get("isThought"):
                return Left(place, "thoughts")
            if not text:
                return Left(place, "files without words")
            key = digest(one.get("role"), text)
            repeats[key] += 1
            details = given(session_id=f"aistudio-{name}", timestamp=moment(one.get("createTime")))
            role = "assistant" if one.get("role") == "model" else one.get("role")
            return Incoming(place, f"{key}-{repeats[key]}", text, role, details)

        chunks = mapping(value.get("chunkedPrompt")).get("chunks")
        yield from read_each(chunks, f"{entry.place}.chunkedPrompt.chunks", chunk)


AISTUDIO = Format(
    "aistudio", "a prompt of AI Studio", lambda value: isinstance(value.get("chunkedPrompt"), dict), read_file=_aistudio
)

# --- Grok ------------------------------------------------------------------------------------------------------------


def _bson(value: object) -> datetime | None:
    """Return a time, also one in MongoDB's extended JSON: `{"$date": {"$numberLong": "1736500000000"}}`."""
    while isinstance(value, dict):
        value = next(iter(value.values()), None)
    return moment(int(value)) if isinstance(value, str) and value.isdecimal() else moment(value)


def _grok(entry: FileEntry) -> Found:
    """Yield the responses of a conversation, in the order of the file, with their branches."""
    about, place = mapping(entry.value["conversation"]), f"{entry.place}.responses"
    listed = {one["response"]["_id"]: one["response"] for one in objects(entry.value["responses"]) if _is_response(one)}
    parents = {key: one.get("parent_response_id") or None for key, one in listed.items()}
    times = {key: _bson(listed[key].get("create_time")) for key in parents}
    last = about.get("leaf_response_id")
    others = unseen(parents, last if last in parents else last_leaf(parents, times)) if any(parents.values()) else {}
    ends = ends_of(parents, times, others)
    details = given(session_id=f"grok-{about['id']}", metadata=given(conversation=about.get("title")))
    private = bool(about.get("temporary"))

    def response(one: Mapping[str, Any], place: str) -> Incoming | Left:
        said = mapping(one["response"])
        key, text = said["_id"], text_of(said.get("message"))
        if not text:
            return Left(place, "pictures" if said.get("generated_image_urls") else "no words")
        role = "user" if str(said["sender"]).casefold() in {"human", "user"} else "assistant"
        own = {**details, **given(timestamp=times.get(key))}
        return Incoming(place, key, text, role, own, branch=others.get(key), ended_at=ends.get(key), is_private=private)

    yield from read_each(entry.value["responses"], place, response)


def _is_response(one: Mapping[str, Any]) -> bool:
    return isinstance(one.get("response"), dict) and isinstance(one["response"].get("_id"), str)


GROK = Format("grok", "an export of Grok", lambda value: {"conversation", "responses"} <= value.keys(), _grok)

# --- Microsoft Copilot -----------------------------------------------------------------------------------------------

_LAYOUTS = (
    ("Conversation", "Time", "Author", "Message"),
    ("ChatName", "CreatedAt", "Author", "MessageContent"),
    ("ClientApp", "Timestamp", "", "Prompt"),
)
"""The columns of conversation, time, author and text. In the last layout all texts are the user's."""


def _columns(file: File) -> tuple[str, str, str, str] | None:
    first = next(csv.reader(file.head.decode("utf-8-sig", "replace").splitlines()[:1]), [])
    return next((one for one in _LAYOUTS if set(filter(None, one)) <= set(first)), None)


def _copilot(file: File) -> Found:
    """Yield the rows from the oldest to the newest.

    The files begin with the newest row, and an answer has the second of its question. So rows are turned round, not
    sorted. Times without a zone are taken for UTC, which the other layout writes.
    """
    title, time, author, message = _columns(file) or _LAYOUTS[0]
    with file.text() as text:
        rows = list(csv.DictReader(text))
    known = [one for row in rows if (one := _copilot_time(row.get(time))) is not None]
    is_reversed = len(known) > 1 and known[0] > known[-1]
    repeats = Counter[str]()
    numbered = list(enumerate(rows, start=2))

    def said(row: Mapping[str, Any], place: str) -> Incoming | Left | None:
        words, name = text_of(row[message]), row.get(title) or "untitled"
        by = (row.get(author) or "user").strip().casefold() if author else "user"
        if not words:
            return None
        role = "user" if by in {"human", "user"} else "assistant"
        moment_of = _copilot_time(row[time])
        if moment_of is None:
            raise ValueError(f"{row[time]!r} is no time")
        key = digest(row[time], role, words)
        repeats[key] += 1
        about = given(session_id=f"copilot-{digest(name)}", metadata={"conversation": name})
        return Incoming(place, f"{key}-{repeats[key]}", words, role, {**about, "timestamp": moment_of})

    for number, row in reversed(numbered) if is_reversed else numbered:
        yield from read_one(row, f"{file.name}: row {number}", said)


def _copilot_time(value: object) -> datetime | None:
    try:
        return datetime.strptime(str(value), "%m/%d/%Y %H:%M:%S %z")
    except ValueError:
        return moment_or_none(value)


COPILOT = Format(
    "copilot", "the activity of Microsoft Copilot", sniff=lambda file: bool(_columns(file)), read_file=_copilot
)
