"""Kill processes while they create a memory file: `python kill_creation.py FOLDER SEED ROUNDS CASE`."""

import functools
import json
import os
import random
import signal
import sys
import time
from collections import Counter
from pathlib import Path

from neurogated import MemoryNode
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.kill_rounds import run_child

__all__ = ["make"]


def make(path: Path, case: str, pipe: int) -> None:
    """Create the file, or replace it by an empty one. Write a letter after each step."""
    with SqliteStore.open(path, from_scratch=case == "replace") as store:
        os.write(pipe, b"o")
        store.add_node(MemoryNode(id="new", content="new", embedding=[1.0, 2.0, 3.0]))
        os.write(pipe, b"n")
        signal.pause()


def _prepare(path: Path, case: str, _: int) -> None:
    path.parent.mkdir(parents=True)
    if case == "replace":
        with SqliteStore.open(path) as store:
            store.add_node(MemoryNode(id="old", content="old", embedding=[1.0, 2.0, 3.0]))


def _look(path: Path, case: str, said: bytes, pipe: int) -> None:
    """Check that the files of a killed child are allowed, and write down their content."""
    with SqliteStore.open(path) as store:
        assert store.check() == []
        there = [node.id for node in store.all_nodes()]
        allowed = [[], ["new"]]
        if case == "replace":
            allowed.append(["old"])
        if said:
            allowed = [[], ["new"]][len(said) - 1 :]
        assert there in allowed, (case, said, there)
        store.add_node(MemoryNode(id="after", content="after"))
    left = {file.name for file in path.parent.iterdir() if file.is_file()}
    locks = {"memory.open", "memory.lock", "memory.lock-queue", "memory.index-lock", "memory.index-lock-queue"}
    assert left <= {"memory.db", "memory.acknowledged"} | locks, left
    os.write(pipe, ", ".join(there).encode())


def main() -> None:
    """Run the rounds of the command line."""
    folder, seed, rounds, case = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    chance, seen = random.Random(seed), Counter[str]()
    for number in range(rounds):
        path = folder / str(number) / "memory.db"
        prepared, _ = run_child(functools.partial(_prepare, path, case))
        assert os.waitpid(prepared, 0)[1] == 0
        child, read = run_child(functools.partial(make, path, case))
        time.sleep(chance.random() * 0.06)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with os.fdopen(read, "rb") as file:
            said = file.read()
        looking, left = run_child(functools.partial(_look, path, case, said))
        with os.fdopen(left) as text:
            seen[f"{said.decode()}: {text.read()}"] += 1
        assert os.waitpid(looking, 0)[1] == 0, f"round {number}"
    print(json.dumps(seen))  # noqa: T201


if __name__ == "__main__":
    main()
