"""Open, use and close memories in one process: `python cycles.py FOLDER CYCLES…`.

After each of these numbers of cycles it prints, as a line of JSON, what the process holds: objects of Python by type,
blocks of its allocator, open files, threads, and the resident memory in MiB, once glibc has given back what is free.
"""

import ctypes
import gc
import json
import os
import shutil
import sys
import threading
from collections import Counter
from pathlib import Path
from typing import Any

from neurogated import MemoryConfig, NeuroGraphMemory

_TOWNS = ("Rome", "Lyon", "Bern", "Oslo", "York")
_PER_MEMORY = 40


def _cycle(folder: Path, number: int) -> None:
    """Open a memory, which every fortieth cycle makes anew, add two turns, recall, and close it."""
    place = folder / str(number // _PER_MEMORY)
    with NeuroGraphMemory(MemoryConfig(save_dir=str(place), embedding_name="hash")) as memory:
        town = _TOWNS[number % len(_TOWNS)]
        said = [
            {"role": "user", "content": f"Day {number}: I live in {town}, since the mill closed."},
            {"role": "assistant", "content": f"Noted: {town} it is."},
        ]
        memory.add(said, user_id="ana", session_id=f"day {number % 3}")
        recall = memory.recall(f"Who lives in {town} since day {number}?", user_id="ana", top_n=20)
        assert any(f"Day {number}:" in one.content for one in recall)
        memory.feedback(recall.ids[:2])
    if number % _PER_MEMORY == _PER_MEMORY - 1:
        shutil.rmtree(place)


def _held(number: int) -> dict[str, Any]:
    for _ in range(3):
        gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    types = Counter(type(one).__name__ for one in gc.get_objects())
    return {
        "cycles": number,
        "blocks": sys.getallocatedblocks(),
        "objects": types.total(),
        "files": sum(1 for _ in Path("/proc/self/fd").iterdir()),
        "threads": threading.active_count(),
        "MiB": round(pages * os.sysconf("SC_PAGE_SIZE") / 2**20, 1),
        "types": dict(types.most_common(40)),
    }


def main(folder: Path, looks: list[int]) -> None:
    for number in range(1, max(looks) + 1):
        _cycle(folder, number - 1)
        if number in looks:
            print(json.dumps(_held(number)), flush=True)  # noqa: T201


if __name__ == "__main__":
    main(Path(sys.argv[1]), [int(number) for number in sys.argv[2:]])
