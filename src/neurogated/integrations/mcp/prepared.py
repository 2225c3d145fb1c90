"""The first message of a client, answered before the SDK and the memory are loaded."""

from __future__ import annotations

import json
from typing import Any

from neurogated.version import __version__

NAME, TITLE = "neurogated", "Memory"
INSTRUCTIONS = """\
A lasting memory of the user: facts, preferences, decisions and events of earlier conversations.
Before you answer a question about the user, their work or earlier talks, call `recall`; before a larger task, call \
`context`.
When the user tells something worth keeping, call `remember` once per statement, as a whole sentence with names and \
dates. Store no secrets.
When a memory is wrong or outdated, call `correct` with its id: give the new text, forget it, or settle a conflict.
When recalled memories helped or misled you, call `feedback` with their ids: the memory learns from it.
The resource memory://{id} is one memory."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The protocol revisions that begin with `initialize`, oldest first."""
STATELESS_VERSIONS = ("2026-07-28",)
"""The revisions whose requests each name their version; a client begins with `server/discover`."""
_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLIENT = ("io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities")


def answer_to(line: bytes) -> dict[str, Any] | None:
    """Return the answer to an `initialize` or a `server/discover`; None for a message that only the SDK can judge."""
    try:
        request = json.loads(line)
        method, params = request["method"], request["params"]
        identity = request["id"]
        result = _RESULTS[method](params)
    except (ValueError, KeyError, TypeError):
        return None
    if result is None or request.get("jsonrpc") != "2.0" or not isinstance(identity, str | int):
        return None
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def _initialized(params: dict[str, Any]) -> dict[str, Any] | None:
    wanted, client = params["protocolVersion"], params["clientInfo"]
    if not all(isinstance(text, str) for text in (wanted, client["name"], client["version"])):
        return None
    if not isinstance(params["capabilities"], dict):
        return None
    version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
    return {
        "protocolVersion": version,
        "capabilities": capabilities(subscribe=False),
        "serverInfo": _INFO,
        "instructions": INSTRUCTIONS,
    }


def _discovered(params: dict[str, Any]) -> dict[str, Any] | None:
    meta = params["_meta"]
    if meta[_VERSION] not in STATELESS_VERSIONS or not all(isinstance(meta[name], dict) for name in _CLIENT):
        return None
    return {
        "resultType": "complete",
        "supportedVersions": list(STATELESS_VERSIONS),
        "capabilities": capabilities(subscribe=True),
        "instructions": INSTRUCTIONS,
        "ttlMs": 0,
        "cacheScope": "private",
        "_meta": {"io.modelcontextprotocol/serverInfo": _INFO},
    }


def capabilities(*, subscribe: bool) -> dict[str, Any]:
    """Return what the server can do; only the stateless revisions subscribe to resources."""
    return {
        "prompts": {"listChanged": True},
        "resources": {"subscribe": subscribe, "listChanged": True},
        "tools": {"listChanged": True},
    }


_INFO = {"name": NAME, "title": TITLE, "version": __version__}
_RESULTS = {"initialize": _initialized, "server/discover": _discovered}
