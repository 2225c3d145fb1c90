"""The time to read a working canvas: `python -m benchmarks.canvas --url redis://localhost`."""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time

from neurogated import MemoryConfig, NeuroGraphMemory

SIZE = 32
READS = 1000


def main() -> None:
    """Fill a canvas, read it, and print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", default=None, help="a Redis server; default: the process")
    arguments = parser.parse_args()
    seconds = []
    with tempfile.TemporaryDirectory() as folder:
        metabolism = {"canvas_size": SIZE, "canvas_url": arguments.url}
        with NeuroGraphMemory(MemoryConfig(save_dir=folder, embedding_name="hash", metabolism=metabolism)) as memory:
            memory.add([f"Text {number} about the harbour." for number in range(SIZE)])
            memory.energy.canvas()
            for _ in range(READS):
                begin = time.perf_counter()
                memory.energy.canvas()
                seconds.append(time.perf_counter() - begin)
    print(f"{SIZE} memories: median {1000 * statistics.median(seconds):.2f} ms, least {1000 * min(seconds):.2f} ms")


if __name__ == "__main__":
    main()
