"""Small files of our own in the shapes in which other systems write them, with what must be read from each."""

from __future__ import annotations

import json
import sqlite3
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Said = tuple[str | None, str | None, str | None, str]
"""Role, speaker, time in ISO format and text."""


@dataclass(frozen=True)
class Shape:
    """A file, or several in a folder, and what is in it."""

    source: str
    files: Mapping[str, Any]
    """Contents by names: texts as they are, statements of SQL for a database, files of a zip file, else JSON."""
    said: Sequence[Said]
    left: Mapping[str, int] = field(default_factory=dict)
    """Records that are left out, by reason."""
    sessions: Sequence[str] | None = None
    branches: Sequence[str] = ()
    """Texts of branches that were left."""

    def write(self, folder: Path) -> Path:
        """Write the files, and return the path to import."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in self.files.items():
            _write(folder / name, content)
        return folder / next(iter(self.files)) if len(self.files) == 1 else folder


def _write(path: Path, content: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".zip":
        assert isinstance(content, dict)
        with zipfile.ZipFile(path, "w") as archive:
            for name, one in content.items():
                archive.writestr(name, one if isinstance(one, str) else json.dumps(one))
    elif path.suffix == ".db":
        assert isinstance(content, str)
        with sqlite3.connect(path) as database:
            database.executescript(content)
        database.close()
    elif isinstance(content, str):
        path.write_bytes(content.encode())
    elif path.suffix == ".jsonl":
        assert isinstance(content, list)
        path.write_text("".join(json.dumps(one) + "\n" for one in content), encoding="utf-8")
    else:
        path.write_text(json.dumps(content), encoding="utf-8")


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
_TEA_LEFT = {
    "instructions": 1,
    "calls of tools": 1,
    "results of tools": 2,
    "thoughts": 1,
    "of another branch": 1,
}
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
        "chatgpt",
        {"chat.json": {**_UNNAMED[0], "is_do_not_remember": True}},
        [],
        {"private, not to be remembered": 1},
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

# --- Memory systems --------------------------------------------------------------------------------------------------

_MEM0: dict[str, Any] = {
    "id": "m1",
    "memory": "Ana lives in Lyon.",
    "created_at": "2026-03-01T12:00:00-07:00",
    "updated_at": "2026-03-01T12:00:00-07:00",
    "user_id": "ana",
}
MEM0 = {
    "memories with roles, actors and relations": Shape(
        "mem0",
        {
            "all.json": {
                "results": [
                    {**_MEM0, "role": "user", "actor_id": "Ana", "expiration_date": "2999-01-31"},
                    {**_MEM0, "id": "m2", "memory": "Tea.", "attributed_to": "assistant"},
                    {**_MEM0, "id": "m3", "memory": "Old.", "expiration_date": "2020-01-31"},
                ],
                "relations": [{"source": "ana", "relationship": "lives_in", "target": "lyon"}],
            }
        },
        [
            ("user", "Ana", "2026-03-01T12:00:00-07:00", "Ana lives in Lyon."),
            ("assistant", None, "2026-03-01T12:00:00-07:00", "Tea."),
        ],
        {"expired": 1, "relations are not imported": 1},
    ),
    "a list after an odd first entry": Shape(
        "mem0",
        {"all.jsonl": [{"version": "v1.1"}, _MEM0]},
        [(None, None, "2026-03-01T12:00:00-07:00", "Ana lives in Lyon.")],
        {"of another kind": 1},
    ),
}


def _zep(key: str, role: str, text: str, **more: object) -> dict[str, Any]:
    return {
        "uuid": key,
        "thread_uuid": "t1",
        "role": role,
        "content": text,
        "created_at": "2026-11-01T00:00:00Z",
        **more,
    }


_EDGE: dict[str, Any] = {
    "uuid": "e1",
    "name": "LIVES_IN",
    "fact": "Ana lives in Lyon.",
    "valid_at": "2024-02-03T10:00:00Z",
    "created_at": "2026-11-01T00:00:00Z",
}
ZEP = {
    "messages of zep-cloud 4": Shape(
        "zep",
        {
            "messages.json": {
                "items": [
                    _zep("m1", "user", "I moved.", name="Ana Silva", reference_time="2024-02-03T10:00:00Z"),
                    _zep("m2", "assistant", "Noted.", name="Helper", reference_time="2024-02-03T10:00:05Z"),
                    _zep("m3", "system", "Be nice."),
                ],
                "total_size": 3,
            }
        },
        [
            ("user", "Ana Silva", "2024-02-03T10:00:00+00:00", "I moved."),
            ("assistant", "Helper", "2024-02-03T10:00:05+00:00", "Noted."),
        ],
        {"instructions": 1},
        ["zep-t1"],
    ),
    "model_dump of episodes": Shape(
        "zep",
        {
            "episodes.json": {
                "items": [
                    {
                        "uuid_": "ep1",
                        "thread_uuid": "t1",
                        "role": "user",
                        "role_name": "Ana",
                        "content": "I moved.",
                        "source": "message",
                        "created_at": "2026-11-01T00:00:00Z",
                        "reference_time": "2024-02-03T10:00:00Z",
                    }
                ]
            }
        },
        [("user", "Ana", "2024-02-03T10:00:00+00:00", "I moved.")],
        sessions=["zep-t1"],
    ),
    "edges that expired, and one that never held": Shape(
        "zep",
        {
            "edges.json": {
                "items": [{**_EDGE, "expired_at": "2026-01-01T00:00:00Z"}, {**_EDGE, "invalid_at": _EDGE["valid_at"]}]
            }
        },
        [(None, None, "2026-11-01T00:00:00+00:00", "Ana lives in Lyon.")],
        {"facts that held at no time": 1},
    ),
    "a thread with its messages": Shape(
        "zep",
        {
            "thread.json": {
                "thread_id": "t1",
                "user_id": "ana",
                "messages": [_zep("1", "user", "I moved."), {"role": "user"}],
            }
        },
        [("user", None, "2026-11-01T00:00:00+00:00", "I moved.")],
        {"malformed": 1},
    ),
}
_EPISODE: dict[str, object] = {
    "uuid": "p1",
    "name": "chat 1",
    "group_id": "g",
    "source": "message",
    "source_description": "a chat",
    "content": "Ana: I moved to Perth.",
    "valid_at": "2025-06-01T00:00:00Z",
    "created_at": "2026-06-01T00:00:00Z",
    "entity_edges": [],
}
GRAPHITI = {
    "episodes": Shape(
        "graphiti",
        {"episodes.json": {"episodes": [_EPISODE], "nodes": [{"uuid": "n1", "name": "Ana"}]}},
        [(None, None, "2025-06-01T00:00:00+00:00", "Ana: I moved to Perth.")],
        {"nodes are not imported": 1},
    ),
    "edges": Shape(
        "graphiti",
        {"edges.jsonl": [{**_EDGE, "group_id": "g", "source_node_uuid": "n1", "target_node_uuid": "n2"}]},
        [(None, None, "2026-11-01T00:00:00+00:00", "Ana lives in Lyon.")],
    ),
}


def _letta(value: str, time: str, **agent: object) -> dict[str, Any]:
    said = {"id": "message-0", "role": "user", "content": [{"type": "text", "text": value}], "created_at": time}
    agent = {"id": "agent-0", "name": "helper", "block_ids": ["block-0"], "messages": [said], **agent}
    return {"agents": [agent], "blocks": [{"id": "block-0", "label": "human", "value": f"Block: {value}"}]}


_T1, _T2 = "2026-01-01T00:00:00+00:00", "2026-01-02T00:00:00+00:00"
_CALL = {"id": "c", "type": "function", "function": {"name": "archival_memory_search", "arguments": "{}"}}
_ANSWER = {"id": "c", "type": "function", "function": {"name": "send_message", "arguments": '{"message": "Hello."}'}}
_SUMMARY = {"type": "system_alert", "message": "The following is a summary of the previous 9 messages: Ana moved."}
_NEW_AGENT: list[dict[str, object]] = [
    {"role": "system", "content": "You are Letta.", "created_at": _T1},
    {"role": "user", "content": json.dumps(_SUMMARY), "created_at": _T1},
    {"role": "user", "content": json.dumps({"type": "heartbeat"}), "created_at": _T1},
    {
        "role": "assistant",
        "content": [{"type": "text", "text": "Let me look."}],
        "tool_calls": [_CALL],
        "created_at": _T2,
    },
    {"role": "tool", "content": "[]", "created_at": _T2},
    {"role": "assistant", "content": None, "tool_calls": [_CALL], "created_at": _T2},
]
LETTA = {
    "two agents of one name": Shape(
        "letta",
        {"a.af": _letta("I am Ana.", _T1), "b.af": _letta("I am Bob.", _T2)},
        [
            ("user", None, _T1, "I am Ana."),
            (None, None, None, "Block: I am Ana."),
            ("user", None, _T2, "I am Bob."),
            (None, None, None, "Block: I am Bob."),
        ],
    ),
    "a newer agent in a file that is a JSON text": Shape(
        "letta",
        {
            "a.af": json.dumps(
                json.dumps(_letta("", _T1, agent_type="letta_v1_agent", messages=_NEW_AGENT, block_ids=[]))
            )
        },
        [
            (None, None, _T1, _SUMMARY["message"]),
            ("assistant", None, _T2, "Let me look."),
        ],
        {"instructions": 1, "events": 1, "results of tools": 1, "calls of tools": 1},
    ),
    "an older agent, which thinks beside its calls": Shape(
        "letta",
        {"a.af": _letta("", _T1, messages=[{**_NEW_AGENT[3], "tool_calls": [_ANSWER]}], block_ids=[])},
        [("assistant", None, _T2, "Hello.")],
    ),
}


def _pam(key: str, role: str, content: object, minute: int, parent: str | None, **more: object) -> dict[str, Any]:
    time = f"2026-03-01T09:{minute:02}:00+02:00"
    return {"id": key, "role": role, "content": content, "created_at": time, "parent_id": parent, **more}


PAM = {
    "a conversation with branches and code": Shape(
        "pam",
        {
            "c7.json": {
                "schema": "portable-ai-memory-conversation",
                "id": "c7",
                "title": "Home",
                "messages": [
                    _pam("1", "user", {"type": "text", "text": "Write it."}, 0, None, children_ids=["2", "3"]),
                    _pam("2", "assistant", {"type": "text", "text": "A first try."}, 1, "1"),
                    _pam(
                        "3",
                        "assistant",
                        {
                            "type": "multipart",
                            "parts": [{"type": "code", "language": "python", "code": "x = 1"}, {"type": "image"}],
                        },
                        2,
                        "1",
                    ),
                    _pam("4", "assistant", {"type": "text", "text": "Hm."}, 3, "3", is_thought=True),
                ],
            }
        },
        [
            ("user", None, "2026-03-01T09:00:00+02:00", "Write it."),
            ("assistant", None, "2026-03-01T09:02:00+02:00", "```python\nx = 1\n```"),
        ],
        {"of another branch": 1, "thoughts": 1},
        ["pam-c7"],
        ["A first try."],
    ),
    "memories": Shape(
        "pam",
        {
            "memory-store.json": {
                "schema": "portable-ai-memory",
                "owner": {"id": "ana"},
                "memories": [
                    {"id": "1", "type": "fact", "content": "Tea.", "temporal": {"created_at": "2026-03-01T12:00:00Z"}},
                    {
                        "id": "2",
                        "type": "fact",
                        "status": "retracted",
                        "content": "No.",
                        "temporal": {"created_at": _T1},
                    },
                ],
                "conversations_index": [{"id": "c7"}],
            }
        },
        [(None, None, "2026-03-01T12:00:00+00:00", "Tea.")],
        {"retracted memories without an end": 1, "conversations_index are not imported": 1},
    ),
}
_STORE = """
CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL,
    created_at TIMESTAMP, updated_at TIMESTAMP, PRIMARY KEY (prefix, key));
INSERT INTO store VALUES ('users.ana', 'k', '{"text": "Tea."}', '2024-01-01 10:00:00', '2024-01-02 10:00:00');
"""
_ITEM: dict[str, object] = {"namespace": ["users", "ana"], "key": "k", "value": {"text": "Tea."}}
_JS_TIMES = {"createdAt": "2024-01-01T10:00:00.000Z", "updatedAt": "2024-01-02T10:00:00.000Z"}
_ITEM_SAID: list[Said] = [(None, None, "2024-01-02T10:00:00+00:00", "Tea.")]
LANGGRAPH = {
    "items of JavaScript": Shape("langgraph", {"items.json": [{**_ITEM, **_JS_TIMES}]}, _ITEM_SAID),
    "tables of SqliteStore": Shape("langgraph", {"store.db": _STORE}, _ITEM_SAID),
}

SHAPES: dict[str, Shape] = {
    f"{one.source}: {name}": one
    for group in (CHATGPT, CLAUDE, MEM0, ZEP, GRAPHITI, LETTA, PAM, LANGGRAPH)
    for name, one in group.items()
}
