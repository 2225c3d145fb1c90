"""Standard input and output: the first message is answered at once, and the SDK serves the rest through pipes."""

from __future__ import annotations

import gc
import importlib
import io
import json
import os
import re
import threading
from collections.abc import Sequence
from itertools import chain
from typing import Any

from neurogated.integrations.mcp.prepared import answer_to, is_id, saved_manifest

_CHUNK = 1 << 16
_END = b"\n"
"""No message is empty."""
_BOM = b"\xef\xbb\xbf"
_NO_JSON, NO_MESSAGE = -32700, -32600
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
                if self._answered is not None and _answers(line, self._answered):
                    self._answered = None
                else:
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
        return _refusal(given, NO_MESSAGE, "what was sent is JSON, but no message of JSON-RPC 2.0")
    # The SDK takes a request with such an id for a notification, which gets no answer.
    if "id" in found and isinstance(message, types.JSONRPCNotification):
        return _refusal(None, NO_MESSAGE, "the id of a request is a text or a whole number")
    return None


def _refusal(identity: object, code: int, reason: str) -> dict[str, Any]:
    known = identity if is_id(identity) else None
    return {"jsonrpc": "2.0", "id": known, "error": {"code": code, "message": reason[:_LONGEST]}}


def _answers(line: bytes, identity: object) -> bool:
    """Return whether a message of the server is the answer to a request."""
    message = json.loads(line)
    return "method" not in message and message.get("id") == identity


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]
