"""Acts on a chat beside the same acts of an earlier commit: `python -m benchmarks.against_commit COMMIT LOCOMO.json`.

Both builds take turns, each turn in a process and a folder of its own, with the embedder `hash`. A cell is the median
of the processor times of an act; of a recall and a search, each question counts with the least of three.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.langgraph import NeuroStore

_ROUNDS, _ITEMS = 3, 1500
_GIT = shutil.which("git") or "git"


def main() -> None:
    """Measure both builds in turn, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("chats", type=Path, metavar="LOCOMO.json")
    chosen = parser.parse_args()
    here = Path(__file__).resolve().parent.parent
    found: dict[str, list[dict[str, float]]] = {"before": [], "after": []}
    with tempfile.TemporaryDirectory() as folder:
        before = Path(folder) / "before"
        subprocess.run([_GIT, "-C", here, "worktree", "add", "-q", "--detach", before, chosen.commit], check=True)
        try:
            for _ in range(_ROUNDS):
                for name, tree in (("before", before), ("after", here)):
                    command = [sys.executable, __file__, "--alone", chosen.chats]
                    environment = os.environ | {"PYTHONPATH": str(tree / "src"), "OMP_NUM_THREADS": "1"}
                    told = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
                    found[name].append(json.loads(told.stdout.splitlines()[-1]))
        finally:
            subprocess.run([_GIT, "-C", here, "worktree", "remove", "--force", before], check=True)
    print(f"| | {chosen.commit} | now | ratio |\n| --- | ---: | ---: | ---: |")
    for act in found["after"][0]:
        old, new = (statistics.median(turn[act] for turn in found[name]) for name in ("before", "after"))
        print(f"| {act} | {old:.2f} | {new:.2f} | {new / old:.2f} |")


def measured(path: Path) -> dict[str, float]:
    """Measure the build that Python finds."""
    chats = json.loads(path.read_text(encoding="utf-8"))
    turns, questions = list(_turns(chats[0])), [row["question"] for row in chats[0]["qa"]][:100]
    told = {}
    with tempfile.TemporaryDirectory() as folder:
        with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory:
            told["a message, ms"] = _later([_took(memory.add, [one], session_id=day) for day, one in turns])
            told["a recall, ms"] = _least(memory.recall, questions)
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file())
        told["files, kB a message"] = size / len(turns) / 1000
    with (
        tempfile.TemporaryDirectory() as folder,
        NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory,
    ):
        lists = [[one for _, one in turns[at : at + 8]] for at in range(0, len(turns) - 8, 8)]
        told["each of a list of eight messages, ms"] = _later([_took(memory.add, one) / 8 for one in lists])
    with (
        tempfile.TemporaryDirectory() as folder,
        NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash")) as memory,
    ):
        store, names = NeuroStore(memory), ("users", "u")
        texts = [one["content"] for chat in chats for _, one in _turns(chat)][:_ITEMS]
        puts = [_took(store.put, names, str(at), {"text": text}) for at, text in enumerate(texts)]
        told["`NeuroStore.put`, ms"] = _later(puts)
        told["`NeuroStore.search`, ms"] = _least(lambda asked: store.search(names, query=asked), questions)
    return told


def _turns(chat: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    for day, said in chat["conversation"].items():
        if isinstance(said, list):
            for turn in said:
                if turn["text"].strip():
                    yield day, {"role": "user", "name": turn["speaker"], "content": turn["text"]}


def _took(act: Callable[..., object], *values: object, **named: object) -> float:
    begin = time.process_time()
    act(*values, **named)
    return 1000 * (time.process_time() - begin)


def _later(times: list[float]) -> float:
    """Return the median of the later half, when the memory has grown."""
    return statistics.median(times[len(times) // 2 :])


def _least(act: Callable[[str], object], questions: list[str]) -> float:
    return statistics.median(min(_took(act, question) for _ in range(3)) for question in questions)


if __name__ == "__main__":
    if sys.argv[1] == "--alone":
        print(json.dumps(measured(Path(sys.argv[2]))))
    else:
        main()
