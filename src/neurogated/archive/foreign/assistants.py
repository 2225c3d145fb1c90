"""Assistants: ChatGPT, Claude, Gemini, AI Studio, Grok and Microsoft Copilot. See docs/formats/."""

import csv
import html
import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from neurogated.archive.foreign.incoming import (
    EMPTY,
    FILES,
    Branches,
    Format,
    Found,
    Incoming,
    Left,
    read_each,
    read_one,
)
from neurogated.archive.foreign.stream import File, FileEntry
from neurogated.archive.foreign.values import (
    digest,
    given,
    has_keys,
    mapping,
    minus,
    moment,
    moment_or_none,
    objects,
    text_of,
    words_of,
)
from neurogated.text.strings import table_of

# --- ChatGPT ---------------------------------------------------------------------------------------------------------
_TABLE = table_of(__package__, "assistants")
_MARK, _REST, _UNSUPPORTED, _PROMPTED, _DONE, _ATTACHED, _CONVERSATION, _BLOCK, _TAG, _CARD = (
    re.compile(one) for one in _TABLE["patterns"].values()
)


def _chatgpt(entry: FileEntry) -> Found:
    """Yield the messages of a conversation: those of the branch that the user sees, in order, and then the others.

    A conversation is a tree. The seen branch leads from the node `current_node` to the parents; without it, from the
    newest message that no other follows. A message without a time has the time of the message before it.
    """
    conversation, nodes = entry.value, mapping(entry.value["mapping"])
    first = next((one["message"] for one in nodes.values() if isinstance(one, dict) and one.get("message")), None)
    # Ids of nodes may repeat, so a conversation without an id has a hash of its begin.
    unnamed = digest(conversation.get("create_time"), json.dumps(first, sort_keys=True))
    name, title = conversation.get("conversation_id") or conversation.get("id") or unnamed, conversation.get("title")
    about = given(session_id=f"chatgpt-{name}", metadata=given(conversation=title))
    is_private = any(conversation.get(name) for name in _TABLE["private"])
    parents = {key: node.get("parent") for key, node in nodes.items() if isinstance(node, dict)}
    times = {key: _time_of(nodes[key]) for key in parents}
    branches = Branches(parents, times, conversation.get("current_node"), keeps_lost=False)
    time = _time_of({"message": conversation})
    unseen = (key for key in nodes if key in branches.left or key not in parents)
    for key in (*branches.seen, *unseen):
        place = f"{entry.place}.mapping.{key}"
        if isinstance(nodes[key], dict) and nodes[key].get("message") is None:
            continue
        for one in read_one(nodes[key], place, partial(_chatgpt_message, key=key, about=about)):
            if not isinstance(one, Incoming):
                yield one
                continue
            time = one.details.get("timestamp") or time
            details = {**one.details, **given(timestamp=time)}
            found = branches.of(key)
            found["ended_at"] = found["ended_at"] or time
            yield replace(one, details=details, is_private=is_private, **found)


def _time_of(node: Mapping[str, Any]) -> datetime | None:
    """Return the time of a message; None for one that has no time or a malformed one."""
    message = node.get("message")
    return moment_or_none(message.get("create_time") or None) if isinstance(message, dict) else None


def _chatgpt_message(node: Mapping[str, Any], place: str, *, key: str, about: Mapping[str, Any]) -> Incoming | Left:
    message = mapping(node["message"])
    author, content, flags = (mapping(message.get(name)) for name in ("author", "content", "metadata"))
    kind, recipient, role = content.get("content_type"), message.get("recipient") or "all", author.get("role")
    details = {**about, **given(timestamp=moment(message.get("create_time") or None))}
    own = {name: value for name, value in details.items() if name != "session_id"}
    if kind == "user_editable_context":
        return _instructions(content, flags, place, own)
    if kind == "model_editable_context" or recipient == "bio":
        text = text_of(content.get("model_set_context")) or _shown_text(content)
        return Incoming(place, f"memory-{digest(text)}", text, None, own | {"title": "Memory of ChatGPT"})
    if isinstance(recipient, str) and recipient.startswith("canmore."):
        return _canvas(content, place, key, details)
    if role in {"system", "developer"} or any(flags.get(name) for name in _TABLE["hidden"]):
        return Left(place, "instructions" if role in {"system", "developer"} else "hidden messages")
    if role == "tool" or recipient != "all" or kind not in _TABLE["spoken"]:
        return Left(place, "results of tools" if role == "tool" else _TABLE["unsaid"].get(kind or "", "calls of tools"))
    files = [str(one["name"]) for one in objects(flags.get("attachments")) if one.get("name")]
    if files:
        details["metadata"] = {**details.get("metadata", {}), "attachments": files}
    shown = content.get("parts")
    if isinstance(shown, list):
        # Without the marks of citations, and with the names of entities.
        shown = [_REST.sub("", _MARK.sub(_as_shown, one)) if isinstance(one, str) else one for one in shown]
    return Incoming(place, key, "", role, details, author.get("name") or None, content=shown)


def _shown_text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    texts = [one for one in parts if isinstance(one, str)] if isinstance(parts, list) else []
    return text_of("\n".join(texts)) or text_of(content.get("text"))


def _instructions(content: Mapping[str, Any], flags: Mapping[str, Any], place: str, own: Mapping[str, Any]) -> Incoming:
    """Return what the user wrote about himself and how to answer. Every conversation repeats it."""
    data = mapping(flags.get("user_context_message_data"))
    about = text_of(data.get("about_user_message")) or text_of(content.get("user_profile"))
    wish = text_of(data.get("about_model_message")) or text_of(content.get("user_instructions"))
    text = "\n".join(filter(None, (about, wish)))
    own = {**{name: value for name, value in own.items() if name != "metadata"}, "title": "Custom instructions"}
    return Incoming(place, f"instructions-{digest(text)}", text, "user", own)


def _canvas(content: Mapping[str, Any], place: str, key: str, details: Mapping[str, Any]) -> Incoming | Left:
    """Return the document that a canvas begins with. Its later changes are patterns and replacements."""
    made = json.loads(content.get("text") or _shown_text(content) or "{}")
    text = text_of(made.get("content")) if isinstance(made, dict) else ""
    if not text:
        return Left(place, "changes of a canvas")
    return Incoming(place, key, f"[document: {made.get('name', 'canvas')}]\n{text}", "assistant", details)


def _as_shown(found: re.Match[str]) -> str:
    """Return the name within the mark of an entity, as in `["drink","rooibos","tea"]`, or the title of a link."""
    if found[2] in {"url", "link_title"}:
        return f"{found[1]}{found[3].partition(chr(0xE202))[0]}"
    if found[2] != "entity":
        return ""
    try:
        return f"{found[1]}{json.loads(found[3])[1]}"
    except (ValueError, TypeError, LookupError, RecursionError):
        return ""


CHATGPT = Format("chatgpt", "an export of ChatGPT", lambda value: isinstance(value.get("mapping"), dict), _chatgpt)


# --- Claude ----------------------------------------------------------------------------------------------------------
_ROLES = {"human": "user", "assistant": "assistant"}
_PARENT = "parent_message_uuid"
_DERIVED = {"derived": True}  # marks what Claude wrote about conversations


def _claude(entry: FileEntry) -> Found:
    value, place = entry.value, entry.place
    if "chat_messages" in value:
        yield from _claude_chat(value, place)
    elif "docs" in value:
        yield from _project(value, place)
    else:
        texts = {"conversations": value.get("conversations_memory"), **mapping(value.get("project_memories"))}
        files = objects(value.get("memory_files"))
        texts |= {str(one.get("path") or one.get("name")): one.get("content") for one in files}
        for name, text in texts.items():
            yield _noted(f"{place}.{name}", f"memory-{name}", text, "Memory of Claude", metadata=_DERIVED)


def _claude_chat(value: Mapping[str, Any], place: str) -> Found:
    """Yield the messages of a conversation with their branches. The last message is at the end of the seen one."""
    messages, name = value["chat_messages"], value["uuid"]
    about = given(session_id=f"claude-{name}", metadata=given(conversation=value.get("name")))
    listed = {one["uuid"]: one for one in objects(messages) if isinstance(one.get("uuid"), str)}
    parents = {key: one[_PARENT] for key, one in listed.items() if isinstance(one.get(_PARENT), str)}
    times = {key: moment_or_none(listed[key].get("created_at")) for key in parents}
    last = value.get("current_leaf_message_uuid")
    branches = Branches(parents, times, last if last in parents else next(reversed(parents), None))
    yield from read_each(messages, f"{place}.chat_messages", partial(_claude_message, about=about, branches=branches))
    if summary := text_of(value.get("summary")):
        title = f"Summary of {value.get('name') or 'a conversation'}"
        yield _noted(f"{place}.summary", f"summary-{name}", summary, title, metadata=_DERIVED)


def _claude_message(
    message: Mapping[str, Any], place: str, *, about: Mapping[str, Any], branches: Branches
) -> Incoming | Left:
    """Return what is said, with the texts of attached files. Thoughts, calls of tools and their results are not."""
    role, key, said = _ROLES.get(message["sender"]), message["uuid"], message.get("content")
    if role is None:
        return Left(place, f"messages of {message['sender']!r:.40}")
    parts = said if isinstance(said, list) else []
    # The words may be beside parts that have none.
    text = said if isinstance(said, str) and said else message.get("text") or ""
    said = minus(parts if words_of(parts) else [*parts, text], _UNSUPPORTED)
    added = objects(message.get("attachments"))
    wordless = [one for one in added if not text_of(one.get("extracted_content"))]
    files = [name for one in objects(message.get("files")) + wordless if (name := text_of(one.get("file_name")))]
    details = {**about, **given(timestamp=moment(message.get("created_at")))}
    if files:
        details["metadata"] = {**about.get("metadata", {}), "attachments": files}
    attached = [(text_of(one.get("file_name")), text_of(one.get("extracted_content"))) for one in added]
    text = "\n".join(f"[document: {name}]\n{text}" if name else text for name, text in attached if text)
    return Incoming(place, key, text, role, details, content=said, **branches.of(key))


def _noted(place: str, key: str, text: object, title: str, **details: object) -> Incoming:
    return Incoming(place, key, text_of(text), details=given(title=title, **details))


def _project(value: Mapping[str, Any], place: str) -> Found:
    name, time = value.get("name") or "a project", moment(value.get("updated_at") or value.get("created_at"))
    for key, title in (("description", str(name)), ("prompt_template", f"Instructions of {name}")):
        if text_of(value.get(key)):
            yield _noted(f"{place}.{key}", f"{value['uuid']}-{key}", value[key], title, timestamp=time)

    def document(one: Mapping[str, Any], place: str) -> Incoming:
        title = f"{one.get('filename') or 'a document'} ({name})"
        key = one.get("uuid") or digest(value["uuid"], one.get("filename"))
        return _noted(place, key, one.get("content"), title, timestamp=moment(one.get("created_at")) or time)

    yield from read_each(value["docs"], f"{place}.docs", document)


CLAUDE = Format(
    *("claude", "an export of Claude", has_keys("chat_messages", "conversations_memory", "uuid name docs"), _claude),
    wordless=EMPTY,
)


# --- Gemini ----------------------------------------------------------------------------------------------------------


def _gemini(entry: FileEntry) -> Found:
    """Yield a prompt and its answer. The log has no conversations, unless an address names one: a day is a session."""
    value, place = entry.value, entry.place
    if "conversation_turns" in value:
        yield from _gemini_chat(value, place)
        return
    time, title = moment(value["time"]), text_of(value.get("title"))
    if not re.search("gemini|bard", f"{value.get('header')} {value.get('products')}", re.IGNORECASE):
        yield Left(place, "activities of other products")
        return
    named = _CONVERSATION.search(str(value.get("titleUrl") or ""))
    session = named[1] if named else f"{time:%Y-%m-%d}"
    details = given(session_id=f"gemini-{session}", timestamp=time)
    asked = {one.get("name"): text_of(one.get("value")) for one in objects(value.get("details"))}
    pages = [one["html"] for one in objects(value.get("safeHtmlItem")) if isinstance(one.get("html"), str)]
    # A line for each block.
    lines = [html.unescape(_TAG.sub("", _BLOCK.sub("\n", one))).split("\n") for one in pages]
    said = ["\n".join(filter(None, (" ".join(line.split()) for line in page))) for page in lines]
    answer = text_of("\n".join(filter(None, said))) or asked.get("Response", "")
    prompt = asked.get("Request") or _ATTACHED.sub("", _PROMPTED.sub("", title, count=1))
    if not asked.get("Request") and (_DONE.match(title) or not (answer or _PROMPTED.match(title))):
        yield Left(place, "activities that are no prompts")
        return
    key = f"{value['time']}\0{digest(title)}"
    files = [one["name"] for one in objects(value.get("attachedFiles")) if one.get("name")]
    about = given(metadata=given(attachments=files))
    yield Incoming(place, key, prompt, "user", {**details, **about})
    if answer:
        yield Incoming(f"{place}.safeHtmlItem", f"{key}\0answer", answer, "assistant", details)


def _gemini_chat(value: Mapping[str, Any], place: str) -> Found:
    """Yield the turns of a conversation. Editing or trying again repeats the index of a turn; the last one is seen."""
    turns, seen = value["conversation_turns"], Counter[str]()
    counts = Counter(_turn(one)[0] for one in objects(turns))
    about = given(session_id=f"gemini-{value['creation_time']}", metadata=given(conversation=value.get("title")))

    def read(turn: Mapping[str, Any], place: str) -> Incoming | Left:
        name, said = _turn(turn)
        seen[name], said = seen[name] + 1, mapping(said)
        parts = objects(said.get("text"))
        words = [said.get("prompt"), *(one.get("data") for one in parts)]
        words += [card.get("content") for one in parts for card in objects(one.get("cards"))]
        text = "\n".join(filter(None, map(text_of, words)))
        if said.get("turn_deleted_time"):
            return Left(place, "deleted messages")
        key, details = f"{name}-{seen[name]}", given(timestamp=moment(said.get("turn_last_modified")))
        branch = key if seen[name] < counts[name] else None
        return Incoming(place, key, text, name.partition("-")[0], {**about, **details}, branch=branch)

    yield from read_each(turns, f"{place}.conversation_turns", read)


def _turn(value: Mapping[str, Any]) -> tuple[str, Any]:
    said = value.get("user_turn") or value.get("system_turn")
    index = said.get("turn_index") if isinstance(said, dict) else None
    return f"{'user' if 'user_turn' in value else 'assistant'}-{index}", said


GEMINI = Format(
    *("gemini", "the activity of Gemini", has_keys("header title time", "conversation_turns creation_time"), _gemini),
    wordless=FILES,
)


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
            if not text and (why := next((why for name, why in _TABLE["chunks"].items() if name in one), None)):
                return Left(place, why)
            key = digest(one.get("role"), text)
            repeats[key] += 1
            details = given(session_id=f"aistudio-{name}", timestamp=moment(one.get("createTime")))
            role = "assistant" if one.get("role") == "model" else one.get("role")
            return Incoming(place, f"{key}-{repeats[key]}", text, role, details)

        chunks = mapping(value.get("chunkedPrompt")).get("chunks")
        yield from read_each(chunks, f"{entry.place}.chunkedPrompt.chunks", chunk)


AISTUDIO = Format(
    *("aistudio", "a prompt of AI Studio", lambda value: isinstance(value.get("chunkedPrompt"), dict)),
    read_file=_aistudio,
    wordless=FILES,
)

# --- Grok ------------------------------------------------------------------------------------------------------------


def _grok(entry: FileEntry) -> Found:
    """Yield the responses of a conversation, in the order of the file, with their branches."""
    about, place = mapping(entry.value["conversation"]), f"{entry.place}.responses"
    responses = [one["response"] for one in objects(entry.value["responses"]) if isinstance(one.get("response"), dict)]
    listed = {one["_id"]: one for one in responses if isinstance(one.get("_id"), str)}
    parents = {key: one.get("parent_response_id") or None for key, one in listed.items()}
    times = {key: moment_or_none(listed[key].get("create_time")) for key in parents}
    branches = Branches(parents if any(parents.values()) else {}, times, about.get("leaf_response_id"))
    details = given(session_id=f"grok-{about['id']}", metadata=given(conversation=about.get("title")))
    private = bool(about.get("temporary"))

    def response(one: Mapping[str, Any], place: str) -> Incoming | Left:
        said = mapping(one["response"])
        key, text = said["_id"], text_of(_CARD.sub("", said.get("message") or ""))
        if not text and said.get("generated_image_urls"):
            return Left(place, "pictures")
        role = "user" if str(said["sender"]).casefold() in {"human", "user"} else "assistant"
        own = {**details, **given(timestamp=moment(said.get("create_time")))}
        return Incoming(place, key, text, role, own, is_private=private, **branches.of(key))

    yield from read_each(entry.value["responses"], place, response)


GROK = Format("grok", "an export of Grok", has_keys("conversation responses"), _grok)

# --- Microsoft Copilot -----------------------------------------------------------------------------------------------


def _columns(file: File) -> list[str] | None:
    first = next(csv.reader(file.head.decode("utf-8-sig", "replace").splitlines()[:1]), [])
    return next((one for one in _TABLE["layouts"] if set(filter(None, one)) <= set(first)), None)


def _copilot(file: File) -> Found:
    """Yield the rows from the oldest to the newest.

    The files begin with the newest row, and an answer has the second of its question. So rows are turned round, not
    sorted. Times without a zone are taken for UTC, which the other layout writes.
    """
    title, time, author, message = _columns(file) or _TABLE["layouts"][0]
    with file.text() as text:
        rows = list(csv.DictReader(text))
    known = [one for row in rows if (one := _copilot_time(row.get(time))) is not None]
    is_reversed = len(known) > 1 and known[0] >= known[-1]
    repeats = Counter[str]()
    numbered = list(enumerate(rows, start=2))

    def said(row: Mapping[str, Any], place: str) -> Incoming:
        words, name = text_of(row[message]), row.get(title) or "untitled"
        by = (row.get(author) or "user").strip().casefold() if author else "user"
        role = "user" if by in {"human", "user"} else "assistant"
        moment_of = _copilot_time(row[time])
        if words and moment_of is None:
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
