"""A server of a language model on this machine that judges pairs of quotations and reads messages as a test says."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from neurogated import Conflict, NeuroGraphMemory
from tests.chat_handler import ChatHandler

__all__ = ["EARLIER", "LATER", "START", "ModelServer", "Pair", "about_one_thing", "both_said", "entry", "erased"]
__all__ += ["found", "said", "serving", "waiting"]

Pair = dict[str, Any]
START = datetime(2024, 1, 1, tzinfo=UTC)
EARLIER = "At the table of my friends I touch no meat."
LATER = "Yesterday I ate a big steak of meat with my friends."


def said(memory: NeuroGraphMemory, text: str, day: int = 0, user: str = "ana", **message: str) -> str:
    content = {"role": "user", "content": text, "timestamp": START + timedelta(days=day), **message}
    return memory.add(content, user_id=user, session_id=f"day {day}")[0]


def both_said(memory: NeuroGraphMemory) -> tuple[str, str]:
    """Let Ana say two messages that are in conflict; return their ids."""
    return said(memory, EARLIER), said(memory, LATER, 3)


def erased(folder: str, word: bytes) -> bool:
    """Return whether no file of a memory has a word. SQLite may remove a file when the last connection closes."""
    contents = list[bytes]()
    for file in Path(folder).rglob("*"):
        with suppress(FileNotFoundError, IsADirectoryError):
            contents.append(file.read_bytes())
    assert contents
    return not any(word in content for content in contents)


def found(memory: NeuroGraphMemory, user: str = "ana") -> list[Conflict]:
    return memory.conflicts.list(None, user_id=user)


def waiting(memory: NeuroGraphMemory) -> int:
    return int(memory.admin.stats()["pending"])


def entry(pair: Pair, relation: str, certainty: str = "strong", reason: str = "As the test says.") -> dict[str, Any]:
    return {"pair": pair["pair"], "relation": relation, "certainty": certainty, "reason": reason}


def about_one_thing(pair: Pair) -> dict[str, Any]:
    """Call a pair contradictory if both sides are about meat, or both about a car."""
    texts = [pair[side]["text"] for side in ("earlier", "later")]
    is_one = any(all(thing in text for text in texts) for thing in ("meat", "car"))
    return entry(pair, "contradiction" if is_one else "unrelated")


class _Handler(ChatHandler):
    server: ModelServer

    def answer(self, request: dict[str, Any]) -> None:
        texts = [message["content"] for message in request["messages"]]
        try:
            if any(text.startswith("Pairs:") for text in texts):
                self._reply(request["messages"], self._pairs)
            elif any(text.startswith("Attributes:") for text in texts):
                self._reply(request["messages"], self._claims)
            elif any(text.startswith("Text A:") for text in texts):
                self.say(json.dumps({"causal": False, "strength": "weak", "reason": "No cause."}))
            else:
                self.say(json.dumps({"entities": []}))
        except (BrokenPipeError, ConnectionResetError):
            pass

    def _reply(self, messages: list[dict[str, str]], answer: Callable[[list[Pair]], dict[str, Any]]) -> None:
        texts = [one["content"] for one in messages if one["content"].startswith(("Pairs:", "Attributes:"))]
        lines = [json.loads(line) for line in texts[-1].splitlines() if line.startswith("{")]
        (self.server.asked if "pair" in lines[0] else self.server.read).append(lines)
        self.server.prompts.append(json.dumps(messages, ensure_ascii=False))
        if self.server.during is not None:
            self.server.during()
        if sum(len(message["content"]) for message in messages) > self.server.context:
            self.send(400, {"error": {"message": "the request exceeds the available context size"}})
        elif self.server.down:
            self.send(500, {"error": {"message": "out of order"}})
        else:
            self.say(self.server.text if self.server.text is not None else self.server.form(answer(lines)))

    def _pairs(self, lines: list[Pair]) -> dict[str, Any]:
        return {"pairs": [found for pair in lines if (found := self.server.judge(pair)) is not None]}

    def _claims(self, lines: list[Pair]) -> dict[str, Any]:
        claims = [claim for message in lines for claim in self.server.claims(message)]
        return {"claims": claims, **self.server.others(lines)}


class ModelServer(ThreadingHTTPServer):
    """Answers requests by `judge`, `claims` and `others` in a form; `text`, `down` and `during` change that."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.judge: Callable[[Pair], dict[str, Any] | None] = about_one_thing
        self.claims: Callable[[Pair], list[dict[str, Any]]] = lambda _: []
        self.others: Callable[[list[Pair]], dict[str, Any]] = lambda _: {"names": [], "causes": []}
        self.form: Callable[[dict[str, Any]], str] = json.dumps
        self.text: str | None = None
        self.down = False
        self.context = 1_000_000
        """Characters of the longest prompt that is answered."""
        self.during: Callable[[], object] | None = None
        """Called while a request waits for its answer."""
        self.came, self.goes_on = threading.Event(), threading.Event()
        self.asked: list[list[Pair]] = []
        self.read: list[list[Pair]] = []
        self.prompts: list[str] = []

    def hold(self) -> None:
        """Let requests wait from now on: `came` is set with the first, and all go on with `goes_on`."""

        def wait() -> None:
            self.came.set()
            self.goes_on.wait(60)

        self.during = wait

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def serving() -> Iterator[ModelServer]:
    with ModelServer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
