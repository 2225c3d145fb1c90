"""A process that answers as a language model, keeps a list of what it was asked, and may stop to answer.

    python -m tests.knowledge.hobby_server PORT FILE ANSWERS

It writes a line to the file for each request. After so many answers it answers no more, but goes on to listen.
"""

from __future__ import annotations

import json
import re
import sys
import threading
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.chat_handler import ChatHandler


def main() -> None:
    """Serve until the process is killed."""
    port, file, most = int(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    number, lock = 0, threading.Lock()

    class Handler(ChatHandler):
        def answer(self, request: dict[str, Any]) -> None:
            nonlocal number
            lines = request["messages"][-1]["content"].splitlines()
            messages = [json.loads(line) for line in lines if line.startswith("{")]
            with lock:
                number += 1
                is_answered = number <= most
                with file.open("a", encoding="utf-8") as asked:
                    asked.write(json.dumps([is_answered, *(one["text"] for one in messages)]) + "\n")
            if not is_answered:
                threading.Event().wait()
            self.say(json.dumps({"claims": [_claim(one) for one in messages], "names": [], "causes": []}))

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        sys.stdout.write("serving\n")
        sys.stdout.flush()
        server.serve_forever()


def _claim(message: dict[str, Any]) -> dict[str, Any]:
    said = {"message": message["message"], "subject": "user", "attribute": "hobby", "state": "holds"}
    found = re.search(r"my hobby is (\w+)", message["text"])
    return {**said, "value": found and found[1], "quote": found and found[0]}


if __name__ == "__main__":
    main()
