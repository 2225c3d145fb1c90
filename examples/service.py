"""A memory service for many tenants and users, over HTTP with JSON.

usage: python examples/service.py MEMORY_FOLDER [PORT]

    POST   /TENANT/USER/messages   {"content": …, "session": …}   remember a text, a message or a list of them
    GET    /TENANT/USER/recall?q=…                                recall for this user
    DELETE /TENANT/USER                                           delete this user

A tenant is a namespace, a separate graph. The service has no authentication; run it behind your own.
"""

import json
import sys
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit

from neurogated import MemoryConfig, NeurogatedError, NeuroGraphMemory


class Service(ThreadingHTTPServer):
    """One memory, one thread per request."""

    daemon_threads = True

    def __init__(self, memory: NeuroGraphMemory, port: int) -> None:
        """Listen on a port of this machine; 0 chooses a free one."""
        super().__init__(("127.0.0.1", port), Handler)
        self.memory = memory


class Handler(BaseHTTPRequestHandler):
    """Answers one request."""

    server: Service

    def do_POST(self) -> None:
        """Add a text or messages."""
        self._answer("messages", self._remember)

    def do_GET(self) -> None:
        """Recall."""
        self._answer("recall", self._recall)

    def do_DELETE(self) -> None:
        """Delete a user."""
        self._answer("", self._forget)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class names it
        """Log nothing, since paths contain user names and questions."""

    def _remember(self, memory: NeuroGraphMemory, user: str) -> object:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        return {"ids": memory.add(body["content"], user_id=user, session_id=body.get("session"))}

    def _recall(self, memory: NeuroGraphMemory, user: str) -> object:
        question = parse_qs(urlsplit(self.path).query).get("q", [""])[0]
        recall = memory.recall(question, user_id=user)
        return {"memories": [{"id": one.id, "text": one.content, "score": one.score} for one in recall]}

    def _forget(self, memory: NeuroGraphMemory, user: str) -> object:
        memory.delete(user_id=user)
        memory.admin.compact()
        return {"deleted": True}

    def _answer(self, action: str, act: Callable[[NeuroGraphMemory, str], object]) -> None:
        tenant, user, *rest = [unquote(part) for part in urlsplit(self.path).path.strip("/").split("/")] + ["", ""]
        if not tenant or not user or "".join(rest) != action:
            self._send(404, {"error": "use /TENANT/USER/messages, /TENANT/USER/recall or DELETE /TENANT/USER"})
            return
        try:
            self._send(200, act(self.server.memory.in_namespace(tenant), user))
        except (NeurogatedError, ValueError, KeyError, TypeError) as error:
            self._send(400, {"error": str(error)})

    def _send(self, status: int, value: object) -> None:
        body = json.dumps(value, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def main(folder: str, port: int) -> None:
    """Serve until Ctrl-C."""
    with NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory, Service(memory, port) as service:
        print(f"serving on http://127.0.0.1:{service.server_address[1]}", flush=True)
        try:
            service.serve_forever()
        except KeyboardInterrupt:
            print("stopped", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 8765)
