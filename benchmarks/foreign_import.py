"""Memory and time to import generated conversations of ChatGPT, and whether importing them again adds anything.

python -m benchmarks.foreign_import --megabytes 1000 --folder FOLDER

Each step runs in a process of its own: `read` only reads the file, `import` adds it to a memory, `again` adds it once
more, and `check` compares the dates in the memory with those in the file.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.archive.foreign import Incoming, read_file
from neurogated.ingestion.messages import read_message

__all__ = ["conversations"]

_WORDS = 30_000
_ROUNDS = 8
_WORDS_OF = {"user": 40, "assistant": 180, "tool": 900}
_REFERENCES = [{"matched_text": f"turn0search{number}", "start_idx": 0, "alt": "x" * 200} for number in range(4)]
"""What surrounds a message in a real export is about as long as the message."""
_BEGIN = 1_700_000_000
_HOUR = 3_600
_PAGE = 10_000
_STEPS = ("read", "import", "again", "check")


def main() -> None:
    """Write the file unless it is there, and run the steps."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=20, help="size of the generated file")
    parser.add_argument("--folder", type=Path, required=True, help="for the file and the memory")
    parser.add_argument("--step", choices=_STEPS, action="append", help="default: all")
    parser.add_argument("--here", action="store_true", help="run one step in this process")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    file = arguments.folder / f"conversations-{arguments.megabytes}.json"
    if arguments.here:
        _run(arguments.step[0], file, arguments.folder / f"memory-{arguments.megabytes}")
        return
    if not file.exists():
        _write(file, arguments.megabytes * 1_000_000)
    for step in arguments.step or _STEPS:
        words = [f"--megabytes={arguments.megabytes}", f"--folder={arguments.folder}", f"--step={step}", "--here"]
        subprocess.run([sys.executable, "-m", "benchmarks.foreign_import", *words], check=True)


def conversations(seed: int = 0) -> Iterator[dict[str, Any]]:
    """Yield conversations in ChatGPT's format, with hidden nodes, searches of the web and abandoned answers."""
    random, number = np.random.default_rng(seed), 0
    results = [_text(random, _WORDS_OF["tool"]) for _ in range(100)]
    while True:
        begin = float(_BEGIN + number * _HOUR)
        nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
        parent = _add(nodes, "root", "system", "", begin)
        for turn in range(int(random.integers(1, _ROUNDS * 2))):
            time_of = begin + 60.0 * turn
            parent = _add(nodes, parent, "user", _text(random, _WORDS_OF["user"]), time_of)
            if turn % 3 == 0:
                parent = _add(nodes, parent, "tool", results[int(random.integers(len(results)))], time_of + 5)
            if turn % 4 == 0:
                _add(nodes, parent, "assistant", _text(random, _WORDS_OF["assistant"]), time_of + 10)
            parent = _add(nodes, parent, "assistant", _text(random, _WORDS_OF["assistant"]), time_of + 20.5)
        name = f"{number:08x}-0000-4000-8000-{seed:012x}"
        about = {"id": name, "conversation_id": name, "title": _text(random, 4), "create_time": begin}
        yield {**about, "mapping": nodes, "current_node": parent}
        number += 1


def _add(nodes: dict[str, Any], parent: str, role: str, text: str, time_of: float) -> str:
    key = f"{len(nodes):08x}-{int(time_of) % 65536:04x}-4000-8000-{int(time_of):012x}"
    message = {
        "id": key,
        "author": {"role": role, "name": None, "metadata": {}},
        "create_time": time_of,
        "content": {"content_type": "text", "parts": [text]},
        "status": "finished_successfully",
        "end_turn": True,
        "weight": 1.0,
        "metadata": {"is_visually_hidden_from_conversation": role == "system", "content_references": _REFERENCES},
        "recipient": "all",
    }
    nodes[key] = {"id": key, "message": message, "parent": parent, "children": []}
    nodes[parent]["children"].append(key)
    return key


def _text(random: np.random.Generator, words: int) -> str:
    """Return sentences of words drawn by Zipf's law."""
    drawn = np.minimum(random.zipf(1.2, words), _WORDS).tolist()
    return " ".join(f"w{rank:x}." if place % 12 == 0 else f"w{rank:x}" for place, rank in enumerate(drawn, 1))


def _write(file: Path, size: int) -> None:
    with file.open("w", encoding="utf-8") as output:
        output.write("[")
        for number, conversation in enumerate(conversations()):
            output.write((", " if number else "") + json.dumps(conversation))
            if output.tell() > size:
                break
        output.write("]")


def _run(step: str, file: Path, folder: Path) -> None:
    empty, begin = _megabytes("VmRSS"), time.perf_counter()
    if step == "read":
        told = f"{sum(1 for _ in _read(file)):,} texts"
    else:
        with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory:
            told = _dates(memory, file) if step == "check" else _import(memory, file)
    seconds, peak = time.perf_counter() - begin, _megabytes("VmHWM") - empty
    print(f"{step}: {told}; {seconds:,.0f} s; at most {peak:,.0f} MB above the empty process", flush=True)


def _import(memory: NeuroGraphMemory, file: Path) -> str:
    before = memory.store.view().sequence
    done = memory.admin.import_from("chatgpt", file, user_id="ana", progress=False)
    changes = memory.store.view().sequence - before
    return f"{done.texts:,} texts, {done.added:,} new, {done.faults} faults, {changes:,} changes of the memory"


def _dates(memory: NeuroGraphMemory, file: Path) -> str:
    """Compare the times by their sum in microseconds; of a text of several chunks, the first one counts."""
    wanted = [round(one.details["timestamp"].timestamp() * 1e6) for one in _read(file)]
    found, cursor = [], None
    while True:
        page = memory.list(limit=_PAGE, cursor=cursor, user_id="ana", kinds=["turn"])
        found += [round(node.timestamp.timestamp() * 1e6) for node in page if node.timestamp and "#" not in node.id]
        if (cursor := page.cursor) is None:
            break
    return f"{len(found):,} of {len(wanted):,} dates, their sums {'equal' if sum(found) == sum(wanted) else 'differ'}"


def _read(file: Path) -> Iterator[Incoming]:
    return (one for one in read_file("chatgpt", file, read_message) if isinstance(one, Incoming))


def _megabytes(name: str) -> float:
    """Return a figure of this process: `VmRSS`, its memory now, or `VmHWM`, the most so far."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


if __name__ == "__main__":
    main()
