"""Answers of a server with OpenAI's protocol."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import Any

__all__ = ["ChatHandler"]


class ChatHandler(BaseHTTPRequestHandler):
    """Sends answers of a chat model."""

    def answer(self, request: dict[str, Any]) -> None:
        """Answer a request by `say` or `send`."""
        raise NotImplementedError

    def do_POST(self) -> None:
        self.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))

    def say(self, text: str, **more: object) -> None:
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
        answer = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
        self.send(200, {**answer, **more})

    def send(self, status: int, body: dict[str, Any]) -> None:
        payload = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        self.send_header("x-should-retry", "false")
        self.end_headers()
        self.wfile.write(payload)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
