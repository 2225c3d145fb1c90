"""Standard input and output: the first message is answered before the SDK and the memory are loaded.

The SDK serves the rest through pipes.
"""

import gc
import hashlib
import importlib
import io
import json
import os
import re
import threading
from collections.abc import Sequence
from itertools import chain
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

_CHUNK = 1 << 16
_END = b"\n"
"""No message is empty."""
_BOM = b"\xef\xbb\xbf"
_NO_JSON, _NO_MESSAGE = -32700, -32600
_ID = rb'"id"\s*:\s*(?:"([^"\\]*)"|(-?\d{1,19})(?![\d.eE]))'
_FIRST_ID, _LAST_ID = re.compile(_ID), re.compile(rb"\}[^{}\[\]]*" + _ID + rb"[^{}\[\]]*\}?\s*\Z")
_HEX = r"[0-9a-fA-F]{2}"
_ESCAPE = re.compile(
    rf"\\u[dD][89abAB]{_HEX}\\u[dD][c-fC-F]{_HEX}|(?P<half>\\u[dD][89a-fA-F]{_HEX})|\\.".encode(), re.DOTALL
)
"""Both halves of a character as JSON escapes them, one half, or any other escape."""
_LONGEST = 200
"""Characters of a reason, which may quote the line."""


class Relay:
    """Carries messages between the client and the SDK. Other output of the process goes to standard error."""

    def __init__(self, words: Sequence[str] = ()) -> None:
        """Take both standard streams, and answer the first message if that needs no memory.

        `words` are those of the command line.
        """
        # The packages create many objects that stay; looking through them takes a tenth of the start.
        gc.disable()
        self.saved = saved_manifest(words)
        self._client_in, self._client_out, self._writing = os.dup(0), os.dup(1), threading.Lock()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        self._received = b""
        while b"\n" not in self._received and (chunk := os.read(self._client_in, _CHUNK)):
            self._received += chunk
        self._answered: Any = None
        first, _, _ = self._received.partition(b"\n")
        if (answer := answer_to(readable(first), self.saved.text)) is not None:
            self._answered = answer["id"]
            self._answer(answer)

    def start(self) -> None:
        """Give the SDK its own pipes as standard input and output."""
        gc.freeze()
        gc.enable()
        for_server, to_server = os.pipe()
        from_server, for_client = os.pipe()
        os.dup2(for_server, 0)
        os.dup2(for_client, 1)
        os.close(for_server)
        os.close(for_client)
        threading.Thread(target=self._carry_requests, args=(to_server,), daemon=True).start()
        self._answers = threading.Thread(target=self._carry_answers, args=(from_server,), daemon=True)
        self._answers.start()

    def finish(self) -> None:
        """Carry the last answers to the client."""
        _write(1, _END)
        os.dup2(2, 1)
        self._answers.join()

    def _carry_requests(self, to_server: int) -> None:
        # The SDK reads lines by the same rules, but drops those that are no messages, and clients would wait for ever.
        try:
            with os.fdopen(self._client_in, "rb") as client:
                begun = self._received if self._received.endswith(b"\n") else self._received + client.readline()
                for line in filter(bytes.strip, chain(io.BytesIO(begun), client)):
                    message = readable(line).decode(errors="replace").encode()
                    if (refusal := refusal_of(message)) is None:
                        _write(to_server, message.removesuffix(b"\n") + b"\n")
                    else:
                        self._answer(refusal)
        finally:
            # The server ends with its input, also if nobody reads the answers any more.
            os.close(to_server)

    def _answer(self, answer: dict[str, Any]) -> None:
        with self._writing:
            _write(self._client_out, json.dumps(answer, ensure_ascii=False).encode() + b"\n")

    def _carry_answers(self, from_server: int) -> None:
        with os.fdopen(from_server, "rb") as answers:
            for line in iter(answers.readline, _END):
                if self._answered is not None:
                    message = json.loads(line)
                    if "method" not in message and message.get("id") == self._answered:
                        # The SDK's answer to the message that is answered already.
                        self._answered = None
                        continue
                with self._writing:
                    _write(self._client_out, line)


def readable(sent: bytes) -> bytes:
    """Return JSON without a byte order mark, and without halves of characters such as an emoji cut in two."""
    sent = sent.removeprefix(_BOM)
    if b"\\ud" not in sent.lower():
        return sent
    return _ESCAPE.sub(lambda escape: b"\\ufffd" if escape["half"] else escape[0], sent)


def refusal_of(sent: bytes) -> dict[str, Any] | None:
    """Return the answer to what is no message of JSON-RPC, with its id if that can be read; None for a message."""
    types, from_json = importlib.import_module("mcp.types"), importlib.import_module("pydantic_core").from_json
    try:
        found = from_json(sent)
    except ValueError as error:
        # Arguments may have an id, too.
        place = _FIRST_ID.search(sent.partition(b'"params"')[0]) or _LAST_ID.search(sent)
        identity = place and (int(place[2]) if place[1] is None else place[1].decode(errors="replace"))
        return _refusal(identity, _NO_JSON, f"what was sent is no JSON: {error}")
    given = found.get("id") if isinstance(found, dict) else None
    try:
        message = types.jsonrpc_message_adapter.validate_python(found, by_name=False)
    except ValueError:
        return _refusal(given, _NO_MESSAGE, "what was sent is JSON, but no message of JSON-RPC 2.0")
    # The SDK takes a request with such an id for a notification, which gets no answer.
    if "id" in found and isinstance(message, types.JSONRPCNotification):
        return _refusal(None, _NO_MESSAGE, "the id of a request is a text or a whole number")
    return None


def _refusal(identity: object, code: int, reason: str) -> dict[str, Any]:
    known = identity if is_id(identity) else None
    return {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": reason[:_LONGEST]}}


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]
