"""A server with OpenAI's protocol that knows the answers to our texts, as a perfect language model would."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

__all__ = ["Known", "Told", "serving"]

_LEAST = 12
"""Least letters of a quotation that belongs to a known text."""
_CLAUSE_END = re.compile(r"(?<=[.!?;:,])\s+|(?<=[。！？；：，])")


class Known(NamedTuple):
    """Two texts and how they relate, in the words of the prompt."""

    earlier: str
    later: str
    relation: str


class Told(NamedTuple):
    """A text and the facts that it says: subject, attribute and value, and the state unless it holds."""

    text: str
    facts: Sequence[tuple[str, str, str] | tuple[str, str, str, str]]


@contextmanager
def serving(
    known: Sequence[Known] = (), told: Sequence[Told] = (), asked: Counter[str] | None = None, seconds: float = 0.0
) -> Iterator[dict[str, Any]]:
    """Run the server, and yield the settings of a memory that asks it.

    Args:
        known: the pairs that it knows.
        told: the texts that it knows.
        asked: counts the pairs and their calls, all requests, and the characters of their last messages.
        seconds: how long it takes for an answer.
    """
    pairs = [(_plain(one.earlier), _plain(one.later), one.relation) for one in known]
    facts = {_plain(one.text): one.facts for one in told}

    def judged(entry: dict[str, Any]) -> dict[str, Any]:
        texts = [_plain(entry[side]["text"]) for side in ("earlier", "later")]
        relations = (relation for *sides, relation in pairs if all(map(_is_of, texts, sides)))
        found = {"pair": entry["pair"], "relation": next(relations, "unrelated")}
        return {**found, "certainty": "strong", "reason": "It is known."}

    def read(entry: dict[str, Any]) -> list[dict[str, Any]]:
        said = {"message": entry["message"], "state": "holds", "since": "", "until": ""}
        names = ("subject", "attribute", "value", "state")
        found = [{**said, **dict(zip(names, fact, strict=False))} for fact in facts.get(_plain(entry["text"]), ())]
        return [{**one, "quote": _quote(entry["text"], one["value"])} for one in found]

    def answer(request: str) -> dict[str, Any]:
        time.sleep(seconds)
        head, *lines = request.splitlines()
        if asked is not None:
            asked.update({"requests": 1, "characters": len(request)})
        if head == "Pairs:":
            if asked is not None:
                asked.update({"pairs": len(lines), "calls": 1})
            return {"pairs": [judged(json.loads(line)) for line in lines]}
        if head.startswith("Attributes:"):
            return {"claims": [claim for line in lines[1:] for claim in read(json.loads(line))]}
        if head.startswith("Text A:"):
            return {"causal": False, "strength": "weak", "reason": "No cause."}
        return {"entities": []}

    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(answer)) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield {
                "llm_base_url": f"http://127.0.0.1:{server.server_address[1]}/v1",
                "llm_name": "knowing",
            }
        finally:
            server.shutdown()
            thread.join()


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", text.casefold())


def _quote(text: str, value: str) -> str:
    """Return the clause of a text that says a value; the text if no clause has it whole."""
    return next((clause for clause in _CLAUSE_END.split(text) if value in clause), text)


def _is_of(quoted: str, text: str) -> bool:
    """Return whether a quotation has a known text, or is a part of it."""
    return text in quoted or (len(quoted) >= _LEAST and quoted in text)


def _handler(answer: Callable[[str], dict[str, Any]]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            said = json.dumps(answer(request["messages"][-1]["content"]))
            message = {"role": "assistant", "content": said}
            choice = {"index": 0, "finish_reason": "stop", "message": message}
            whole = {"id": "1", "object": "chat.completion", "created": 1, "model": "knowing", "choices": [choice]}
            payload = json.dumps(whole).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    return Handler
