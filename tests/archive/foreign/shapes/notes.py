"""Notes, letters, and memories in files."""

from __future__ import annotations

from tests.archive.foreign.shapes.shape import Said, Shape

_T1 = "2026-01-01T00:00:00+00:00"
# --- Notes -----------------------------------------------------------------------------------------------------------

_NOTE = "---\ntitle: Tea in the evening\ntags: [drink]\n---\nSee [[Ana|her]] and [the plan](plan/Monday.md).\n"
_LETTER = """From ana@x.org Thu Jan  1 10:00:00 2026
From: =?utf-8?q?Ana_Silv=C3=A3?= <ana@x.org>
Date: Thu, 01 Jan 2026 11:00:00 +0100
Subject: Tea
Message-ID: <1@x>
Content-Type: text/plain; charset=utf-8

Rooibos?

From bob@x.org Thu Jan  1 11:00:00 2026
From: bob@x.org
Date: Thu, 01 Jan 2026 12:00:00 +0100
References: <1@x>
Message-ID: <2@x>
Content-Type: text/html

<p>Yes</p>
"""
_PAGE = {"user_input": "Which tea?", "agent_response": "Rooibos.", "timestamp": "2026-01-01 10:00:00"}
_PAGE_SAID: list[Said] = [
    ("user", None, "2026-01-01T10:00:00", "Which tea?"),
    ("assistant", None, "2026-01-01T10:00:00", "Rooibos."),
]
_OURS = {"key": "1", "session_id": "s1", "user": "Which tea?", "assistant": "Rooibos.", "timestamp": _T1}
NOTES = {
    "notes with front matter and links": Shape(
        "vault",
        {
            "vault/Tea.md": _NOTE,
            "vault/people/Ana.md": "# Ana\nShe bakes.\n",
            "vault/x.canvas": "{}",
            "vault/empty.md": "",
        },
        [(None, None, None, _NOTE), (None, None, None, "# Ana\nShe bakes.\n")],
        {"a file of another kind": 1, "empty notes": 1},
    ),
    "one note": Shape("vault", {"Tea.md": "[[Ana]] drinks it."}, [(None, None, None, "[[Ana]] drinks it.")]),
}
MBOX = {
    "a mailbox": Shape(
        "mbox",
        {"x.mbox": _LETTER},
        [(None, "Ana Silvã", "2026-01-01T11:00:00+01:00", "Rooibos?")],
        {"letters without plain text": 1},
    ),
    "a mailbox without letters of html": Shape(
        "mbox",
        {"x.mbox": _LETTER.replace("text/html", "text/plain")},
        [
            (None, "Ana Silvã", "2026-01-01T11:00:00+01:00", "Rooibos?"),
            (None, "bob@x.org", "2026-01-01T12:00:00+01:00", "<p>Yes</p>"),
        ],
    ),
}
_THING: dict[str, object] = {
    "type": "entity",
    "name": "Ana",
    "entityType": "person",
    "observations": ["Drinks tea.", "Lives in Lyon."],
}
_RELATION = {"type": "relation", "from": "Ana", "to": "Lyon", "relationType": "lives_in"}
MCP_MEMORY = {
    "lines, with one name twice": Shape(
        "mcp-memory",
        {"memory.jsonl": [_THING, {**_THING, "observations": ["Bakes."]}, _RELATION, {**_THING, "observations": []}]},
        [(None, None, None, text) for text in ("Drinks tea.", "Lives in Lyon.", "Bakes.", "Ana lives_in Lyon")],
        {"entities without observations": 1},
    ),
    "one object": Shape(
        "mcp-memory",
        {"memory.json": {"entities": [_THING], "relations": [_RELATION]}},
        [(None, None, None, text) for text in ("Drinks tea.", "Lives in Lyon.", "Ana lives_in Lyon")],
    ),
}
MEMORYOS = {
    "files of MemoryOS": Shape(
        "memoryos",
        {
            "ana/short_term.json": [_PAGE],
            "ana/mid_term.json": {
                "sessions": {"s": {"id": "s", "summary": "Tea", "details": [{**_PAGE, "analyzed": True}]}},
                "access_frequency": {},
            },
            "ana/long_term_user.json": {
                "user_profiles": {"ana": {"data": "She likes tea.", "last_updated": "2026-01-01 11:00:00"}},
                "knowledge_base": [{"knowledge": "Ana drinks rooibos.", "timestamp": "2026-01-01 11:00:00"}],
                "assistant_knowledge": [],
            },
        },
        [
            (None, None, "2026-01-01T11:00:00", "Ana drinks rooibos."),
            (None, None, None, "She likes tea."),
            *_PAGE_SAID,
            *_PAGE_SAID,
        ],
        {"summaries": 1},
    ),
    "files of our own": Shape(
        "memoryos",
        {
            "short_term/ana.json": {"user_id": "ana", "pages": [_OURS]},
            "mid_term/ana.json": {"user_id": "ana", "segments": {"x": {"summary": "Tea", "pages": [_OURS]}}},
        },
        [("user", None, _T1, "Which tea?"), ("assistant", None, _T1, "Rooibos.")] * 2,
        {"summaries": 1},
        ["s1"],
    ),
}
