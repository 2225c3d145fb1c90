"""The first message of a client, answered before the SDK and the memory are loaded."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

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
The resource memory://{id} is one memory, memory://manifest an overview of all."""
MOST = 2_048
"""Bytes of a description or of instructions. Claude Code cuts them after as many characters."""

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
"""The protocol revisions that begin with `initialize`, oldest first."""
STATELESS_VERSIONS = ("2026-07-28",)
"""The revisions whose requests each name their version; a client begins with `server/discover`."""
_VERSION = "io.modelcontextprotocol/protocolVersion"
_CLIENT = ("io.modelcontextprotocol/clientInfo", "io.modelcontextprotocol/clientCapabilities")


class Saved(NamedTuple):
    """The manifest that a server showed last."""

    file: Path | None = None
    """Where it is kept; None if it is not."""
    nodes: int = 0
    text: str = ""


def saved_manifest(words: Sequence[str]) -> Saved:
    """Return the manifest that was shown by the last server which the same words started in the same environment."""
    flags = {"config": "", "save_dir": os.environ.get("NEUROGATED_SAVE_DIR", "outputs")}
    for word, following in zip(words, [*words[1:], ""], strict=False):
        name, equals, value = word.removeprefix("--").partition("=")
        if word.startswith("--") and (name := name.replace("-", "_")) in flags:
            flags[name] = value if equals else following
    if flags["config"]:
        return Saved()
    environment = sorted((name, value) for name, value in os.environ.items() if name.startswith("NEUROGATED_"))
    key = hashlib.sha256(repr((list(words), environment)).encode()).hexdigest()
    file = Path(flags["save_dir"], "manifests", f"{key}.json")
    try:
        saved = json.loads(file.read_bytes())
        return Saved(file, int(saved["nodes"]), str(saved["text"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return Saved(file)


def with_manifest(text: str, manifest: str) -> str:
    """Return a text with the lines of a manifest that fit behind it; the first ones are the most useful."""
    for line in manifest.splitlines():
        longer = f"{text}\n{line}"
        if len(longer.encode()) > MOST:
            break
        text = longer
    return text


def answer_to(line: bytes, manifest: str = "") -> dict[str, Any] | None:
    """Return the answer to an `initialize` or a `server/discover`; None for a message that only the SDK can judge."""
    try:
        request = json.loads(line)
        method, params = request["method"], request["params"]
        identity = request["id"]
        result = _RESULTS[method](params)
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if result is None or request.get("jsonrpc") != "2.0" or not is_id(identity):
        return None
    result["instructions"] = with_manifest(INSTRUCTIONS, manifest)
    return {"jsonrpc": "2.0", "id": identity, "result": result}


def is_id(given: object) -> bool:
    """Return whether a request may have this id."""
    return isinstance(given, str | int) and not isinstance(given, bool)


def _initialized(params: dict[str, Any]) -> dict[str, Any] | None:
    wanted, client = params["protocolVersion"], params["clientInfo"]
    if not all(isinstance(text, str) for text in (wanted, client["name"], client["version"])):
        return None
    if not isinstance(params["capabilities"], dict):
        return None
    version = wanted if wanted in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
    return {"protocolVersion": version, "capabilities": capabilities(subscribe=False), "serverInfo": _INFO}


def _discovered(params: dict[str, Any]) -> dict[str, Any] | None:
    meta = params["_meta"]
    if meta[_VERSION] not in STATELESS_VERSIONS or not all(isinstance(meta[name], dict) for name in _CLIENT):
        return None
    return {
        "resultType": "complete",
        "supportedVersions": list(STATELESS_VERSIONS),
        "capabilities": capabilities(subscribe=True),
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
