"""A server of a language model on this machine that judges pairs of quotations as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

__all__ = ["ModelServer", "Pair", "entry", "serving"]

Pair = dict[str, Any]
PATIENCE = 30.0


def entry(pair: Pair, relation: str, certainty: str = "strong", reason: str = "As the test says.") -> dict[str, Any]:
    return {"pair": pair["pair"], "relation": relation, "certainty": certainty, "reason": reason}


class _Handler(BaseHTTPRequestHandler):
    server: ModelServer

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = request["messages"][-1]["content"]
        try:
            if asked.startswith("Pairs:") or "JSON schema" in asked:
                self._judge(request["messages"])
            else:
                self._say(json.dumps({"entities": []}))
        except (BrokenPipeError, ConnectionResetError):
            pass

    def _judge(self, messages: list[dict[str, str]]) -> None:
        asked = next(one["content"] for one in messages[::-1] if one["content"].startswith("Pairs:"))
        pairs = [json.loads(line) for line in asked.splitlines()[1:]]
        self.server.asked.append(pairs)
        self.server.prompts.append(json.dumps(messages, ensure_ascii=False))
        if self.server.during is not None:
            self.server.during()
        if self.server.down:
            self._send(500, {"error": {"message": "out of order"}})
        elif self.server.text is not None:
            self._say(self.server.text)
        else:
            entries = [found for pair in pairs if (found := self.server.judge(pair)) is not None]
            self._say(json.dumps({"pairs": entries}))

    def _say(self, text: str) -> None:
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        self._send(200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]})

    def _send(self, status: int, body: dict[str, Any]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class ModelServer(ThreadingHTTPServer):
    """Answers each request about pairs by `judge`; `text`, `down` and `during` change that."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.judge: Callable[[Pair], dict[str, Any] | None] = lambda pair: entry(pair, "contradiction")
        self.text: str | None = None
        self.down = False
        self.during: Callable[[], object] | None = None
        """Called while a request waits for its answer."""
        self.asked: list[list[Pair]] = []
        self.prompts: list[str] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serving() -> Iterator[ModelServer]:
    with ModelServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()
