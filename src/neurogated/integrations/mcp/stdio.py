"""Standard input and output: the first message is answered at once, and the SDK serves the rest through pipes."""

from __future__ import annotations

import gc
import json
import os
import threading
from collections.abc import Sequence
from typing import Any

from neurogated.integrations.mcp.prepared import answer_to, saved_manifest

_CHUNK = 1 << 16
_END = b"\n"
"""No message is empty."""


class Relay:
    """Carries messages between the client and the SDK. Other output of the process goes to standard error."""

    def __init__(self, words: Sequence[str] = ()) -> None:
        """Take both standard streams, and answer the first message if that needs no memory.

        `words` are those of the command line.
        """
        # The packages create many objects that stay; looking through them takes a tenth of the start.
        gc.disable()
        self.saved = saved_manifest(words)
        self._client_in, self._client_out = os.dup(0), os.dup(1)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(2, 1)
        self._received = self._first_line()
        self._answered: Any = None
        first, _, _ = self._received.partition(b"\n")
        if (answer := answer_to(first, self.saved.text)) is not None:
            self._answered = answer["id"]
            _write(self._client_out, json.dumps(answer, ensure_ascii=False).encode() + b"\n")

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

    def _first_line(self) -> bytes:
        received = b""
        while b"\n" not in received and (chunk := os.read(self._client_in, _CHUNK)):
            received += chunk
        return received

    def _carry_requests(self, to_server: int) -> None:
        chunk = self._received
        while chunk:
            _write(to_server, chunk)
            chunk = os.read(self._client_in, _CHUNK)
        os.close(to_server)

    def _carry_answers(self, from_server: int) -> None:
        with os.fdopen(from_server, "rb") as answers:
            for line in iter(answers.readline, _END):
                if self._answered is not None and _answers(line, self._answered):
                    self._answered = None
                else:
                    _write(self._client_out, line)


def _answers(line: bytes, identity: object) -> bool:
    """Return whether a message of the server is the answer to a request."""
    message = json.loads(line)
    return "method" not in message and message.get("id") == identity


def _write(target: int, data: bytes) -> None:
    while data:
        data = data[os.write(target, data) :]
