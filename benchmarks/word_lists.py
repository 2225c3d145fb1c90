"""Whether a dictionary could replace the term dictionary on disk: `python benchmarks/word_lists.py --words 400000`.

Both open the same words and look up 600 names, most of them unknown. They run in turn. Times are medians.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from neurogated.storage.index.text.term_dictionary import TermDictionary, Vocabulary

ROUNDS = 5
ASKED = 600
NUMBERS = 2**20


def names(count: int, rng: np.random.Generator) -> list[str]:
    """Return distinct names of two words."""
    return list(dict.fromkeys(f"subject w{a} w{b}" for a, b in rng.integers(NUMBERS, size=(count, 2)).tolist()))


def opened_list(folder: Path, name: str, asked: list[str]) -> None:
    """Open the term dictionary and look up names."""
    Vocabulary(TermDictionary.load(folder, name)).numbers(asked)


def opened_dictionary(path: Path, asked: list[str]) -> None:
    """Fill a dictionary from a file and look up names."""
    words = path.read_text(encoding="utf-8").split("\n")
    numbers = dict(zip(words, range(len(words)), strict=True))
    list(map(numbers.get, asked))


def main() -> None:
    """Print both medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=400_000, help="number of words (default: 400000)")
    rng = np.random.default_rng(0)
    words = names(parser.parse_args().words, rng)
    times: dict[str, list[float]] = {"list of words in files": [], "dictionary": []}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        kept = TermDictionary.of(words)
        kept.save(folder)
        (folder / "words.txt").write_text("\n".join(words), encoding="utf-8")
        for _ in range(ROUNDS):
            asked = names(ASKED, rng)
            begin = time.perf_counter()
            opened_list(folder, kept.name, asked)
            middle = time.perf_counter()
            opened_dictionary(folder / "words.txt", asked)
            end = time.perf_counter()
            times["list of words in files"].append(1000 * (middle - begin))
            times["dictionary"].append(1000 * (end - middle))
    for what, taken in times.items():
        print(f"{what:24} {statistics.median(taken):8.1f} ms, of {len(words)} words")


if __name__ == "__main__":
    main()
