"""Exports of ChatGPT and Claude."""

from __future__ import annotations

import json
from typing import Any

from tests.archive.foreign.shapes.shape import Said, Shape

# --- ChatGPT ---------------------------------------------------------------------------------------------------------

_CITE, _ENTITY = (
    "\ue200cite\ue202turn0search0\ue202turn0search3\ue201",
    '\ue200entity\ue202["drink","rooibos","tea"]\ue201',
)


def _node(
    key: str, parent: str | None, role: str, parts: object = None, time: float | None = None, **more: object
) -> tuple[str, dict[str, object]]:
    content = more.pop("content", {"content_type": more.pop("kind", "text"), "parts": parts})
    author = {"role": role, "name": more.pop("name", None), "metadata": {}}
    message = {"id": key, "author": author, "create_time": time, "content": content, "recipient": "all", "metadata": {}}
    return key, {"id": key, "parent": parent, "children": [], "message": {**message, **more}}


def _chatgpt(*nodes: tuple[str, object], **about: object) -> dict[str, Any]:
    root: tuple[str, object] = ("root", {"id": "root", "message": None, "parent": None, "children": []})
    return {"title": "Tea", "create_time": 1767261590.0, "mapping": dict((root, *nodes)), **about}


_HIDDEN = {"is_visually_hidden_from_conversation": True}
_CONTEXT = {"content_type": "user_editable_context", "user_profile": "Name: Ana", "user_instructions": "Be brief"}
_PLAN = json.dumps({"name": "Tea plan", "type": "document", "content": "Monday rooibos"})
_TEA = _chatgpt(
    _node("s", "root", "system", [""], metadata=_HIDDEN),
    _node("ctx", "s", "user", content=_CONTEXT, metadata=_HIDDEN),
    _node("u1", "ctx", "user", ["Which tea for the evening?"], 1767261600.0, name="Ana"),
    _node("c0", "u1", "assistant", content={"content_type": "code", "text": "{}"}, recipient="web.run"),
    _node("t0", "c0", "tool", ["Results."], name="web.run"),
    _node("th", "t0", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "c"}]}),
    _node(
        "a1",
        "th",
        "assistant",
        [f"It is mild {_CITE}. Try {_ENTITY} 【7†source】. \ue203Quoted\ue204 :contentReference[oaicite:0]{{index=0}}"],
        1767261604.0,
        metadata={"content_references": [{"matched_text": _CITE}, {"matched_text": " "}]},
    ),
    _node(
        "u2",
        "a1",
        "user",
        [{"content_type": "image_asset_pointer", "asset_pointer": "sediment://f"}, "This is my new kettle."],
        1767261605.0,
        kind="multimodal_text",
    ),
    _node(
        "u3",
        "u2",
        "user",
        [{"content_type": "audio_transcription", "text": "I broke its lid."}, {"content_type": "audio_asset_pointer"}],
        1767261606.0,
        kind="multimodal_text",
    ),
    _node("bio", "u3", "assistant", ["User has a new kettle."], 1767261607.0, recipient="bio"),
    _node("bior", "bio", "tool", ["Model set context updated."], name="bio"),
    _node(
        "cv",
        "bior",
        "assistant",
        content={"content_type": "code", "text": _PLAN},
        time=1767261609.0,
        recipient="canmore.create_textdoc",
    ),
    _node("u4", "cv", "user", ["Edited away."], 1767261611.0),
    _node("u5", "cv", "user", ["Thanks."], 1767261612.0),
    conversation_id="6957",
    current_node="u5",
)
_TEA_SAID: list[Said] = [
    ("user", None, "2026-01-01T09:59:50+00:00", "Name: Ana\nBe brief"),
    ("user", "Ana", "2026-01-01T10:00:00+00:00", "Which tea for the evening?"),
    ("assistant", None, "2026-01-01T10:00:04+00:00", "It is mild. Try rooibos. Quoted"),
    ("user", None, "2026-01-01T10:00:05+00:00", "This is my new kettle."),
    ("user", None, "2026-01-01T10:00:06+00:00", "I broke its lid."),
    (None, None, "2026-01-01T10:00:07+00:00", "User has a new kettle."),
    ("assistant", None, "2026-01-01T10:00:09+00:00", "[document: Tea plan]\nMonday rooibos"),
    ("user", None, "2026-01-01T10:00:12+00:00", "Thanks."),
]
_TEA_LEFT = {"instructions": 1, "calls of tools": 1, "results of tools": 2, "thoughts": 1, "of another branch": 1}
_UNNAMED: list[dict[str, Any]] = [
    _chatgpt(_node("1", None, "user", [f"Fact {number} on otters."], 1767261600.0), current_node="1")
    for number in (1, 2)
]
_LEAVES = _chatgpt(
    _node("u1", "root", "user", ["Where?"], 1767261600.0),
    _node("a2", "u1", "assistant", ["The newest answer."], 1767261700.0),
    _node("a1", "u1", "assistant", ["An older answer."], 1767261650.0),
    id="c",
)
CHATGPT = {
    "a conversation with all kinds of messages": Shape(
        "chatgpt", {"conversations.json": [_TEA]}, _TEA_SAID, _TEA_LEFT, ["chatgpt-6957", ""], ["Edited away."]
    ),
    "conversations that have no ids but equal nodes": Shape(
        "chatgpt",
        {"conversations (1).json": _UNNAMED},
        [("user", None, "2026-01-01T10:00:00+00:00", f"Fact {number} on otters.") for number in (1, 2)],
    ),
    "a conversation without a current node": Shape(
        "chatgpt",
        {"x.zip": {"user.json": {"id": "u"}, "conversations-000.json": [7, _LEAVES], "chat.html": "<html>"}},
        [
            ("user", None, "2026-01-01T10:00:00+00:00", "Where?"),
            ("assistant", None, "2026-01-01T10:01:40+00:00", "The newest answer."),
        ],
        {"of another branch": 1, "a file of another kind": 2, "of another kind": 1},
        branches=["An older answer."],
    ),
    "what must not be remembered": Shape(
        "chatgpt", {"chat.json": {**_UNNAMED[0], "is_do_not_remember": True}}, [], {"private, not to be remembered": 1}
    ),
}

# --- Claude ----------------------------------------------------------------------------------------------------------

_ROOT = "00000000-0000-4000-8000-000000000000"
_LATER = "This block is not supported on your current device yet."


def _claude(
    key: str, sender: str, text: str, minute: int, parent: str | None = _ROOT, **more: object
) -> dict[str, Any]:
    time = f"2026-03-01T09:{minute:02}:00.000000Z"
    content = [{"type": "text", "text": text, "citations": []}] if text else []
    message = {"uuid": key, "sender": sender, "text": text, "content": content, "created_at": time}
    return {**message, "attachments": [], "files": [], **({"parent_message_uuid": parent} if parent else {}), **more}


_MOVE = {
    "uuid": "c1",
    "name": "Move",
    "summary": "The user plans to move to Porto.",
    "chat_messages": [
        _claude("u1", "human", "I want to move to Lisbon.", 0),
        _claude("a1", "assistant", "Lisbon is lovely.", 1, "u1"),
        _claude("u2", "human", "I want to move to Porto.", 5),
        _claude(
            "a2",
            "assistant",
            f"```\n{_LATER}\n```\n\nPorto it is.",
            6,
            "u2",
            content=[
                {"type": "thinking", "thinking": "Hm."},
                {"type": "text", "text": "Porto it is."},
                {"type": "token_budget"},
            ],
        ),
        _claude(
            "u3",
            "human",
            "",
            8,
            "a2",
            attachments=[{"file_name": "", "extracted_content": "The rent is 900 euros."}],
            files=[{"file_uuid": "f", "file_name": "photo.png"}],
        ),
        _claude("a3", "assistant", _LATER, 9, "u3", content=[{"type": "tool_use", "name": "web", "input": {}}]),
        _claude("u4", "human", "", 10, "a3", files=[{"file_uuid": "f", "file_name": "photo.png"}]),
    ],
}
_MOVE_SAID: list[Said] = [
    ("user", None, "2026-03-01T09:05:00+00:00", "I want to move to Porto."),
    ("assistant", None, "2026-03-01T09:06:00+00:00", "Porto it is."),
    ("user", None, "2026-03-01T09:08:00+00:00", "The rent is 900 euros."),
    (None, None, None, "The user plans to move to Porto."),
]
_MEMORIES = [{"conversations_memory": "Ana bakes.", "project_memories": {"p1": "The cafe opens."}, "account_uuid": "a"}]
_PROJECT = {
    "uuid": "p1",
    "name": "Cafe",
    "description": "A cafe in Porto.",
    "prompt_template": "Be brief.",
    "created_at": "2026-02-01T00:00:00Z",
    "updated_at": "2026-02-02T00:00:00Z",
    "docs": [{"uuid": "d1", "filename": "menu.md", "content": "Tea.", "created_at": "2026-02-03T00:00:00Z"}],
}
CLAUDE = {
    "a conversation with branches, attachments and blocks": Shape(
        "claude",
        {"conversations.json": [_MOVE]},
        _MOVE_SAID,
        {"of another branch": 2, "only tool_use": 1, "no words": 1},
        ["claude-c1", ""],
        ["I want to move to Lisbon.", "Lisbon is lovely."],
    ),
    "several zip files": Shape(
        "claude",
        {
            "conversations-000.zip": {"conversations.json": [_MOVE], "users.json": [{"uuid": "a"}]},
            "memories-000.zip": {"memories.json": _MEMORIES},
            "projects-000.zip": {"projects.json": [_PROJECT]},
        },
        [
            *_MOVE_SAID,
            (None, None, None, "Ana bakes."),
            (None, None, None, "The cafe opens."),
            (None, None, "2026-02-02T00:00:00+00:00", "A cafe in Porto."),
            (None, None, "2026-02-02T00:00:00+00:00", "Be brief."),
            (None, None, "2026-02-03T00:00:00+00:00", "Tea."),
        ],
        {"of another branch": 2, "only tool_use": 1, "no words": 1, "a file of another kind": 1},
        branches=["I want to move to Lisbon.", "Lisbon is lovely."],
    ),
    "messages without parents": Shape(
        "claude",
        {"conversations.json": [{"uuid": "c", "name": "", "chat_messages": [_claude("u", "human", "Hi.", 0, None)]}]},
        [("user", None, "2026-03-01T09:00:00+00:00", "Hi.")],
    ),
}
