"""A server of language models on this machine that succeeds or fails as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from neurogated import MemoryConfig
from neurogated.config.groups import LLMSettings
from neurogated.llm.anthropic_llm import AnthropicLLM
from neurogated.llm.openai_llm import OpenAILLM

# Long enough for the slowest machine. The test waits this long only if it fails.
PATIENCE = 30.0
# The time in which a superfluous call would show.
GLIMPSE = 0.05


class Handler(BaseHTTPRequestHandler):
    server: HTTPServer

    def do_POST(self) -> None:
        owner = self.server.owner
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with owner.lock:
            owner.requests.append(asked)
            owner.headers.append(dict(self.headers))
            owner.paths.append(self.path)
            act = owner.script.pop(0) if len(owner.script) > 1 else owner.script[0]
        act(self)

    def send(self, status: int, payload: bytes, content_type: str = "application/json", length: int = 0) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(length or len(payload)))
        # The clients obey it, so that retries take no time.
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(payload)

    def called(self, argument: dict[str, Any], tool: str = "answer") -> bytes:
        """Return an answer that calls a tool."""
        if "/messages" in self.path:
            body = json.loads(self.message("Here it is.", "tool_use", (7, 3)))
            body["content"].append({"type": "tool_use", "id": "t", "name": tool, "input": argument})
        else:
            body = json.loads(self.message(None, "tool_calls", None))
            call = {"name": tool, "arguments": json.dumps(argument)}
            body["choices"][0]["message"]["tool_calls"] = [{"id": "t", "type": "function", "function": call}]
        return json.dumps(body).encode()

    def message(self, text: object, finish: str | None, usage: tuple[int, int] | None) -> bytes:
        if "/messages" in self.path:
            body: dict[str, Any] = {
                "id": "m", "type": "message", "role": "assistant", "model": "m",
                "content": [{"type": "thinking", "thinking": "hm", "signature": "s"}, {"type": "text", "text": text}],
                "stop_reason": finish or "end_turn", "stop_sequence": None,
            }  # fmt: skip
            if usage:
                body["usage"] = {"input_tokens": usage[0], "output_tokens": usage[1]}
        else:
            message = {"role": "assistant", "content": text}
            body = {
                "id": "c", "object": "chat.completion", "created": 0, "model": "m",
                "choices": [{"index": 0, "message": message, "finish_reason": finish or "stop"}],
            }  # fmt: skip
            if usage:
                body["usage"] = {
                    "prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage),
                }  # fmt: skip
        return json.dumps(body).encode()

    def log_message(self, *_: object) -> None:
        pass


def form_of(request: dict[str, Any]) -> str:
    """Return how a request tells the form of the answer."""
    named = next((one for one in ("tools", "output_config") if one in request), "nothing")
    return str(request.get("response_format", {"type": named})["type"])


class HTTPServer(ThreadingHTTPServer):
    owner: Server

    def handle_error(self, *_: object) -> None:
        """Ignore clients that disconnected, because tests make them do so."""


class Server:
    """Follows its script line by line, the last line for ever, and records its requests."""

    def __init__(self) -> None:
        self.script: list[Callable[[Handler], None]] = []
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.lock = threading.Condition()
        self.released = threading.Event()
        self.most_at_once = 0
        self.http = HTTPServer(("127.0.0.1", 0), Handler)
        self.http.owner = self
        self.url = f"http://127.0.0.1:{self.http.server_port}/v1"
        self._llms: list[OpenAILLM | AnthropicLLM] = []

    def says(self, text: object, finish: str | None = None, usage: tuple[int, int] | None = (7, 3)) -> None:
        self.script.append(lambda handler: handler.send(200, handler.message(text, finish, usage)))

    def takes(self, form: str, argument: dict[str, Any], status: int = 400) -> None:
        """Answer requests that tell the form of the answer in one way, and refuse all others."""

        def act(handler: Handler) -> None:
            if form_of(self.requests[-1]) != form:
                handler.send(status, json.dumps({"error": {"message": "not permitted here", "type": "t"}}).encode())
            elif form == "tools":
                handler.send(200, handler.called(argument))
            else:
                handler.send(200, handler.message(json.dumps(argument), None, (7, 3)))

        self.script.append(act)

    def drips(self) -> None:
        """Send a good answer so slowly that it comes to its end only if nobody else ends the call."""

        def act(handler: Handler) -> None:
            payload = handler.message("late", None, (7, 3))
            handler.send_response(200)
            handler.send_header("Content-Type", "application/json")
            handler.send_header("Content-Length", str(len(payload)))
            handler.end_headers()
            for byte in payload:
                if self.released.wait(GLIMPSE):
                    return
                handler.wfile.write(bytes([byte]))

        self.script.append(act)

    def refuses(self, status: int, complaint: str = "the server's complaint") -> None:
        payload = json.dumps({"error": {"message": complaint, "type": "t"}}).encode()
        self.script.append(lambda handler: handler.send(status, payload))

    def sends(self, payload: bytes, content_type: str = "application/json") -> None:
        self.script.append(lambda handler: handler.send(200, payload, content_type))

    def sends_half(self) -> None:
        def act(handler: Handler) -> None:
            payload = handler.message("whole", None, None)
            handler.send(200, payload[: len(payload) // 2], length=len(payload))

        self.script.append(act)

    def hangs_up(self) -> None:
        self.script.append(lambda _: None)

    def stalls(self) -> None:
        def act(_: Handler) -> None:
            self.released.wait(PATIENCE)

        self.script.append(act)

    def gathers(self, number: int) -> None:
        """Answer only when `number` calls are here at once, and record the largest number of concurrent calls."""
        barrier = threading.Barrier(number, timeout=PATIENCE)
        here = 0

        def act(handler: Handler) -> None:
            nonlocal here
            with self.lock:
                here += 1
                self.most_at_once = max(self.most_at_once, here)
                self.lock.notify_all()
            barrier.wait()
            with self.lock:
                self.lock.wait_for(lambda: here > number, timeout=GLIMPSE)
                here -= 1
            handler.send(200, handler.message("done", None, (1, 1)))

        self.script.append(act)

    def llm(self, **changes: Any) -> OpenAILLM:  # noqa: ANN401
        key = changes.pop("api_key", None)
        kind = type("Retrying", (OpenAILLM,), {"retries": changes.pop("retries", 0)})
        llm: OpenAILLM = kind(self._config({"model": "test-model", "base_url": self.url, **changes}), api_key=key)
        self._llms.append(llm)
        return llm

    def claude(self, **changes: Any) -> AnthropicLLM:  # noqa: ANN401
        key = changes.pop("api_key", "secret-key")
        address = self.url.removesuffix("/v1")
        kind = type("Retrying", (AnthropicLLM,), {"retries": changes.pop("retries", 0)})
        llm: AnthropicLLM = kind(self._config({"model": "claude-test", "base_url": address, **changes}), api_key=key)
        self._llms.append(llm)
        return llm

    def _config(self, settings: dict[str, Any]) -> MemoryConfig:
        return MemoryConfig(
            llm_name=settings.pop("model"),
            llm_base_url=settings.pop("base_url"),
            llm=LLMSettings(timeout=settings.pop("timeout", PATIENCE)),
            **{"max_new_tokens": 64, **settings},
        )

    def close(self) -> None:
        self.released.set()
        for llm in self._llms:
            llm.close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    # Polled often, so that shutting down does not take the default half second.
    thread = threading.Thread(target=server.http.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.close()
    server.http.shutdown()
    thread.join()
    server.http.server_close()


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the clients retry at once if no server gives a delay."""
    for package in ("openai", "anthropic"):
        monkeypatch.setattr(f"{package}._base_client.INITIAL_RETRY_DELAY", 0.0)
