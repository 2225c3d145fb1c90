"""Duplicates: how many restatements are recognised, and how many near misses are taken for them.

A user says both texts of each pair, and `memory.duplicates.of` says whether they are the same. The pairs are ordinary
statements in English, German and Spanish; rules were tuned on `duplicates_dev.tsv` only.

python -m benchmarks.duplicates --show
"""

from __future__ import annotations

import argparse
from pathlib import Path

from neurogated import MemoryConfig, NeuroGraphMemory

DATA = Path(__file__).parent / "data"


def main() -> None:
    """Print precision and recall of both halves."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true", help="print the pairs that are judged wrong")
    arguments = parser.parse_args()
    for part in ("dev", "test"):
        lines = (DATA / f"duplicates_{part}.tsv").read_text(encoding="utf-8").splitlines()[1:]
        pairs = [(same == "1", first, second) for _, same, first, second in (line.split("\t") for line in lines)]
        found = []
        with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
            for number, (_, *texts) in enumerate(pairs):
                owner = {"user_id": f"user-{number}", "session_id": "one"}
                names = [name for text in texts for name in memory.add({"role": "user", "content": text}, **owner)]
                found.append(names[0] in memory.duplicates.of(names[-1]))
        right = sum(is_found and pair[0] for is_found, pair in zip(found, pairs, strict=True))
        same = sum(pair[0] for pair in pairs)
        print(f"{part}: precision {right / max(1, sum(found)):.1%}, recall {right / same:.1%} of {same}")
        for is_found, (is_same, first, second) in zip(found, pairs, strict=True):
            if arguments.show and is_found != is_same:
                print(f"    {'found' if is_found else 'missed'}: {first} | {second}")


if __name__ == "__main__":
    main()
