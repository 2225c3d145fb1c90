"""A server in a process of its own, asked over HTTP."""

import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

import httpx
import pytest

__all__ = ["COMMAND", "Servers", "client"]

COMMAND = (sys.executable, "-m", "neurogated", "serve", "--embedding_name", "hash")


class Servers:
    """Starts servers of one folder, and stops them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.running: list[subprocess.Popen[str]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        while self.running:
            self.stop()

    def start(self, *flags: str, files: int | None = None) -> str:
        """Start a server that may open so many files, and return its address."""
        limit = () if files is None else ("sh", "-c", f'ulimit -n {files}; exec "$@"', "sh")
        words = [*limit, *COMMAND, "--save_dir", str(self.folder), "--port", "0", *flags]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.running.append(process)
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        if not re.fullmatch(r"http://\S+", line):
            pytest.fail(f"{line} {process.communicate()[1]}")
        return line

    def key(self, *flags: str) -> str:
        words = [*COMMAND, "--save_dir", str(self.folder), "--new_key", *flags]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()

    def state(self, user: str, attribute: str, *values: str) -> None:
        """State facts about a user, which contradict each other, from another process."""
        for value in values:
            about = ["--add", user, attribute, value, "--user_id", user]
            words = [*COMMAND[:3], "facts", *COMMAND[4:], "--save_dir", str(self.folder), *about]
            subprocess.run(words, capture_output=True, check=True)

    def stop(self, how: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Stop the last server; return its exit code and what it wrote to standard error."""
        process = self.running.pop()
        process.send_signal(how)
        errors = process.communicate(timeout=30)[1]
        return process.returncode, errors


def client(url: str, key: str | None = None, **query: Any) -> httpx.Client:  # noqa: ANN401 - parameters of a URL
    headers = {} if key is None else {"Authorization": f"Bearer {key}"}
    return httpx.Client(base_url=url, headers=headers, params=query or None, timeout=30)
