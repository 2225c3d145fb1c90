"""Servers of language models, writers and readers that are killed lose no memory and no answer."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory

NUMBER = 20
"""Messages that are written: three calls of the model."""
HOBBIES = [f"sport{number}" for number in range(NUMBER)]
_WRITER = f"""
import sys
from neurogated import MemoryConfig, NeuroGraphMemory
memory = NeuroGraphMemory(MemoryConfig.from_mapping({{values}}))
for one in {HOBBIES}:
    memory.add({{{{"role": "user", "content": f"Well, my hobby is {{{{one}}}}."}}}}, user_id="ana", session_id=one)
print("written", flush=True)
memory.flush()
sys.stdin.read()
"""
_READER = """
from neurogated import MemoryConfig, NeuroGraphMemory
with NeuroGraphMemory(MemoryConfig.from_mapping({values})) as memory:
    memory.flush()
"""


@contextmanager
def running(*words: str) -> Iterator[subprocess.Popen[str]]:
    """Run a process that is killed at the end."""
    process = subprocess.Popen(
        [sys.executable, *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate(timeout=60)


def line_of(stream: IO[str] | None) -> str:
    assert stream is not None
    return stream.readline().strip()


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize("answers", [0, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_server_and_a_writer_that_are_killed_lose_nothing_and_no_answer_is_asked_for_twice(
    answers: int, tmp_path: Path
) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    file = tmp_path / "asked"
    values: dict[str, Any] = {
        "save_dir": str(tmp_path / "memory"),
        "embedding_name": "hash",
        "metabolism.knowledge": "claims, slots",
    }
    values |= {"llm_base_url": f"http://127.0.0.1:{port}/v1", "cache_bytes": 0}

    def requests() -> list[list[Any]]:
        return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] if file.exists() else []

    def serving(most: int) -> tuple[str, ...]:
        return "-m", "tests.knowledge.hobby_server", str(port), str(file), str(most)

    with running(*serving(answers)) as server, running("-c", _WRITER.format(values=values)) as writer:
        assert line_of(server.stdout) == "serving"
        assert line_of(writer.stdout) == "written"
        until(lambda: len(requests()) > answers)
        server.kill()
        server.wait(60)
        writer.kill()
        writer.wait(60)
    with running(*serving(NUMBER)) as server:
        assert line_of(server.stdout) == "serving"
        reader = [sys.executable, "-c", _READER.format(values=values)]
        readers = [subprocess.Popen(reader) for _ in range(2)]
        assert [one.wait(120) for one in readers] == [0, 0]
        with NeuroGraphMemory(MemoryConfig.from_mapping(values)) as memory:
            assert memory.flush() == 0
            assert {fact.value for fact in memory.facts.list(user_id="ana")} == set(HOBBIES)
            assert memory.admin.check() == []
    times = Counter(text for is_answered, *texts in requests() if is_answered for text in texts)
    assert times == Counter(f"Well, my hobby is {one}." for one in HOBBIES)
