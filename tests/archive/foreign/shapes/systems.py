"""Files of memory systems."""

from __future__ import annotations

import json
from typing import Any

from tests.archive.foreign.shapes.shape import Said, Shape

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
                "messages": [_zep("1", "user", "I moved."), {"role": "user"}, {"role": "user", "content": "Unnamed."}],
            }
        },
        [("user", None, "2026-11-01T00:00:00+00:00", "I moved."), ("user", None, None, "Unnamed.")],
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
        {"a.af": _letta("I am Ana.", _T1), "b.af": _letta("I am Bob.", _T1)},
        [
            ("user", None, _T1, "I am Ana."),
            (None, None, None, "Block: I am Ana."),
            ("user", None, _T1, "I am Bob."),
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
        [(None, None, _T1, _SUMMARY["message"]), ("assistant", None, _T2, "Let me look.")],
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
