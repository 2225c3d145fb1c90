"""Sessions of agents."""

from __future__ import annotations

import json

from tests.archive.foreign.shapes.shape import Said, Shape

# --- Agents ----------------------------------------------------------------------------------------------------------


def _code(key: str, parent: str | None, kind: str, content: object, minute: int, **more: object) -> dict[str, object]:
    line = {"type": kind, "uuid": key, "parentUuid": parent, "sessionId": "s1", "cwd": "/work", "isSidechain": False}
    time = f"2026-03-01T12:{minute:02}:00.000Z"
    return {**line, "timestamp": time, "message": {"role": kind, "content": content}, **more}


_USES = [{"type": "thinking", "thinking": "Hm."}, {"type": "tool_use", "id": "t", "name": "Bash", "input": {}}]
_CODE: list[dict[str, object]] = [
    {"type": "summary", "summary": "Tests", "leafUuid": "x"},
    _code("1", None, "user", "Fix the tests.", 0),
    _code("2", "1", "assistant", [{"type": "text", "text": "A first try."}], 1),
    _code("3", "1", "assistant", [{"type": "text", "text": "I look."}], 2),
    _code("4", "3", "assistant", _USES, 3),
    _code("5", "4", "user", [{"type": "tool_result", "tool_use_id": "t", "content": "ok"}], 4),
    _code("6", "5", "user", "<command-name>/clear</command-name>", 5),
    _code("7", "5", "assistant", "A subagent.", 5, isSidechain=True),
    {"type": "system", "subtype": "compact_boundary", "uuid": "8", "parentUuid": None, "logicalParentUuid": "5",
     "sessionId": "s1", "content": "Compacted", "timestamp": "2026-03-01T12:06:00.000Z"},
    _code("9", "8", "user", "This session goes on.", 6, isCompactSummary=True),
    _code("10", "9", "assistant", [{"type": "text", "text": "Done."}], 7),
]  # fmt: skip
CLAUDE_CODE = {
    "a session with a branch and a compaction": Shape(
        "claude-code",
        {"s1.jsonl": _CODE},
        [
            ("user", None, "2026-03-01T12:00:00+00:00", "Fix the tests."),
            ("assistant", None, "2026-03-01T12:02:00+00:00", "I look."),
            ("assistant", None, "2026-03-01T12:07:00+00:00", "Done."),
        ],
        {
            "entries of the type summary": 1,
            "of another branch": 1,
            "only thinking, tool_use": 1,
            "only tool_result": 1,
            "commands": 1,
            "messages of subagents": 1,
            "entries of the type system": 1,
            "summaries of the session": 1,
        },
        ["claude-code-s1"],
        ["A first try."],
    ),
    "a session with a broken line": Shape(
        "claude-code",
        {"s1.jsonl": json.dumps(_CODE[1]) + '\n{"type": "user", \n' + json.dumps(_CODE[3]) + "\n"},
        [
            ("user", None, "2026-03-01T12:00:00+00:00", "Fix the tests."),
            ("assistant", None, "2026-03-01T12:02:00+00:00", "I look."),
        ],
        {"malformed": 1},
    ),
    "what the program adds": Shape(
        "claude-code",
        {
            "s1.jsonl": [
                _code("1", None, "user", [{"type": "text", "text": "<command-name>/x</command-name>"}], 0),
                _code("2", "1", "user", [{"type": "text", "text": "[Request interrupted by user for tool use]"}], 1),
                _code("3", "2", "assistant", [{"type": "text", "text": "API Error"}], 2, isApiErrorMessage=True),
                _code("4", "3", "user", "Go on.\n<system-reminder>Be brief.</system-reminder>", 3),
            ]
        },
        [("user", None, "2026-03-01T12:03:00+00:00", "Go on.")],
        {"commands": 2, "errors of the program": 1},
    ),
}


def _codex(kind: str, second: int, **payload: object) -> dict[str, object]:
    return {"timestamp": f"2026-03-01T12:00:{second:02}.000Z", "type": kind, "payload": payload}


_SAYS = {"type": "message", "role": "user"}
CODEX = {
    "a session": Shape(
        "codex",
        {
            "rollout-1.jsonl": [
                _codex("session_meta", 0, id="c1", cwd="/work", cli_version="0.145.0"),
                _codex("response_item", 1, **_SAYS, content=[{"type": "input_text", "text": "<environment_context>"}]),
                _codex("response_item", 2, **_SAYS, content=[{"type": "input_text", "text": "Fix it."}]),
                _codex("event_msg", 2, type="user_message", message="Fix it."),
                _codex("response_item", 3, type="reasoning", summary=[]),
                _codex("response_item", 3, type="function_call", name="shell", arguments="{}"),
                _codex("response_item", 4, type="function_call_output", call_id="c", output="ok"),
                _codex("turn_context", 4, cwd="/work"),
                _codex(
                    "response_item",
                    5,
                    type="message",
                    role="assistant",
                    content=[{"type": "output_text", "text": "Done."}],
                ),
                _codex("response_item", 6, type="message", role="developer", content="Be nice."),
            ]
        },
        [
            ("user", None, "2026-03-01T12:00:02+00:00", "Fix it."),
            ("assistant", None, "2026-03-01T12:00:05+00:00", "Done."),
        ],
        {
            "entries of the type session_meta": 1,
            "context that the program added": 1,
            "entries of the type event_msg": 1,
            "thoughts": 1,
            "calls of tools": 1,
            "results of tools": 1,
            "entries of the type turn_context": 1,
            "instructions": 1,
        },
        ["codex-c1"],
    ),
    "an older session": Shape(
        "codex",
        {
            "rollout-2.jsonl": [
                {"id": "c2", "timestamp": "2025-06-01T10:00:00Z", "instructions": None},
                {"record_type": "state"},
                {**_SAYS, "content": [{"type": "input_text", "text": "Fix it."}]},
            ]
        },
        [("user", None, None, "Fix it.")],
        {"entries of the type session_meta": 1, "entries of the type state": 1},
        ["codex-c2"],
    ),
    "a session of the first versions": Shape(
        "codex",
        {
            "rollout-3.json": {
                "session": {"id": "c3", "timestamp": "2025-04-20T10:00:00Z", "instructions": ""},
                "items": [{**_SAYS, "content": [{"type": "input_text", "text": "Fix it."}]}],
            }
        },
        [("user", None, None, "Fix it.")],
        {"entries of the type session_meta": 1},
        ["codex-c3"],
    ),
}
_AGENTS_DB = """
CREATE TABLE agent_sessions (session_id TEXT PRIMARY KEY, created_at TIMESTAMP, updated_at TIMESTAMP);
CREATE TABLE agent_messages (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT NOT NULL, message_data TEXT NOT NULL,
    created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP);
INSERT INTO agent_messages VALUES
    (1, 's', '{"role": "user", "content": "Which tea?"}', '2026-01-01 10:00:00'),
    (2, 's', '{"type": "function_call", "name": "f", "arguments": "{}"}', '2026-01-01 10:00:01'),
    (3, 's', '{"role": "assistant", "type": "message", "content": [{"type": "output_text", "text": "Green."}]}',
        '2026-01-01 10:00:02'),
    (4, 's', '{"role": "assistant", "content": "Rooibos."}', '2026-01-01 10:00:03');
"""
_AGENTS_BRANCHES = """
CREATE TABLE message_structure (id INTEGER PRIMARY KEY AUTOINCREMENT, session_id TEXT, message_id INTEGER,
    branch_id TEXT DEFAULT 'main', message_type TEXT, sequence_number INTEGER);
INSERT INTO message_structure (session_id, message_id, branch_id, message_type, sequence_number) VALUES
    ('s', 1, 'main', 'user', 1), ('s', 2, 'main', 'function_call', 2), ('s', 3, 'main', 'assistant', 3),
    ('s', 1, 'b2', 'user', 1), ('s', 4, 'b2', 'assistant', 2);
"""
_AGENT_SAID: list[Said] = [
    ("user", None, "2026-01-01T10:00:00+00:00", "Which tea?"),
    ("assistant", None, "2026-01-01T10:00:02+00:00", "Green."),
    ("assistant", None, "2026-01-01T10:00:03+00:00", "Rooibos."),
]
OPENAI_AGENTS = {
    "a session": Shape("openai-agents", {"s.db": _AGENTS_DB}, _AGENT_SAID, {"calls of tools": 1}, ["openai-agents-s"]),
    "a session with branches": Shape(
        "openai-agents",
        {"s.db": _AGENTS_DB + _AGENTS_BRANCHES},
        [_AGENT_SAID[0], _AGENT_SAID[2]],
        {"calls of tools": 1, "of another branch": 1},
        ["openai-agents-s"],
        ["Green."],
    ),
}


def _run(key: str, inputs: object, outputs: object, **more: object) -> dict[str, object]:
    times = {"start_time": "2026-01-01T10:00:00.000000", "end_time": "2026-01-01T10:00:02.000000"}
    return {"id": key, "run_type": "chain", "inputs": inputs, "outputs": outputs, **times, **more}


def _lc(kind: str, content: str) -> dict[str, object]:
    path = ["langchain", "schema", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": content, "additional_kwargs": {}}}


_AI = {"generations": [[{"text": "Rooibos.", "type": "ChatGeneration", "message": _lc("AIMessage", "Rooibos.")}]]}
LANGSMITH = {
    "a run with its steps": Shape(
        "langsmith",
        {
            "runs.jsonl": [
                _run("r1", {"question": "Which tea?"}, {"answer": "Green."}),
                _run("r2", {}, {}, parent_run_id="r1"),
            ]
        },
        [
            ("user", None, "2026-01-01T10:00:00+00:00", "Which tea?"),
            ("assistant", None, "2026-01-01T10:00:02+00:00", "Green."),
        ],
        {"steps of runs": 1},
        ["langsmith-r1"],
    ),
    "a run of a thread, which repeats its history": Shape(
        "langsmith",
        {
            "runs.json": [
                _run(
                    "r3",
                    {
                        "messages": [
                            [
                                {"role": "user", "content": "Which tea?"},
                                {"role": "assistant", "content": "?"},
                                _lc("HumanMessage", "And now?"),
                            ]
                        ]
                    },
                    _AI,
                    extra={"metadata": {"thread_id": "t"}},
                )
            ]
        },
        [
            ("user", None, "2026-01-01T10:00:00+00:00", "And now?"),
            ("assistant", None, "2026-01-01T10:00:02+00:00", "Rooibos."),
        ],
        {"messages of earlier runs": 2},
        ["langsmith-t"],
    ),
}
