"""Whether tantivy and usearch could replace our indexes: `python -m benchmarks.engines --nodes 10000 100000`.

All engines run in one process and take turns after every ten questions, so other work on the machine slows all of
them. Times are wall clock: the median of a round, then the median of three rounds. Brackets hold ratios to our index:
the median, minimum and maximum over rounds, and the ratio of the fastest calls. Opening
and memory are measured in fresh processes.

tantivy is measured as one segment in a file system in memory, and on disk with a commit after every 500 texts. Every
engine gets the same keywords. usearch searches at its default width, and at the width that reaches the recall@100 of
our index less 0.005.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np

from benchmarks.synthetic import load
from benchmarks.text_engines import compare_texts
from benchmarks.vector_engines import compare_vectors

SHARED = Path(__file__).parents[2] / "shared"
IN_MEMORY = Path("/dev/shm")  # noqa: S108 - where Linux keeps files in memory


def main() -> None:
    """Measure and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--nodes", type=int, nargs="+", default=[10_000], help="number of texts and vectors (default: 10000)")
    add("--engines", nargs="+", choices=["texts", "vectors"], default=["texts", "vectors"])
    add("--dtypes", nargs="+", default=["f32", "f16"], help="number formats of usearch (default: f32 f16)")
    add("--changed", type=float, nargs="*", default=[0.1, 0.3], help="shares to change (default: 0.1 0.3)")
    add("--synth", type=Path, default=SHARED / "bench" / "synth.py", help="script that makes the data, or a .npz file")
    add("--vectors", type=Path, help="file of vectors of real texts (.npy), instead of random ones")
    add("--cache", type=Path, default=Path.home() / ".cache" / "neurogated-bench", help="folder of the data")
    given = parser.parse_args()
    packages = ", ".join(f"{name} {version(name)}" for name in ("tantivy", "usearch", "faiss-cpu", "numpy"))
    fast = IN_MEMORY if IN_MEMORY.is_dir() else None
    for nodes in given.nodes:
        data = load(given.cache, nodes, given.synth)
        if given.vectors:
            data = data._replace(vectors=np.load(given.vectors, mmap_mode="r")[:nodes])
        print(f"\n{time.strftime('%Y-%m-%d')}; {packages}; {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}\n")
        with tempfile.TemporaryDirectory() as disk, tempfile.TemporaryDirectory(dir=fast) as memory:
            if "texts" in given.engines:
                compare_texts(data, Path(disk), Path(memory), given.changed)
                print()
            if "vectors" in given.engines:
                compare_vectors(data, Path(disk), given.dtypes, given.changed)


if __name__ == "__main__":
    main()
