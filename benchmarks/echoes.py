"""Echoes: how many quoted memories are recognised, and how many other statements are taken for echoes.

The pairs of `tests/conflict` are a memory and a second statement, in four languages. The second one is a paraphrase or
another fact, often different by one word. Each is said as it is and in quotation marks. The turns of a data set are
said likewise. Turns that were not handed out are the others.

python -m benchmarks.echoes --turns locomo_conv0-4.json
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from neurogated import MemoryNode
from neurogated.context.echo import EchoFinder
from neurogated.core.scope import Scope

PAIRS = Path(__file__).parent.parent / "tests" / "conflict"
SAID_AT = datetime(2026, 5, 4, 9, tzinfo=UTC)


def report(name: str, memories: Sequence[str], said: Sequence[str], *, later: timedelta = timedelta()) -> None:
    """Hand out the memories by hundreds, as a process does, and print how many of `said` are echoes."""
    begin, found = time.perf_counter(), 0
    for start in range(0, len(said), 100):
        texts = memories[start : start + 100]
        nodes = [MemoryNode(f"m{n}", text, role="user", timestamp=SAID_AT) for n, text in enumerate(texts)]
        finder = EchoFinder(nodes, Scope(), SAID_AT + later)
        found += sum(finder.quoted(one) is not None for one in said[start : start + 100])
    took = 1000 * (time.perf_counter() - begin) / len(said)
    print(f"{name}: {found} of {len(said)} are echoes ({100 * found / len(said):.1f} %), {took:.2f} ms each")


def report_all(name: str, memories: Sequence[str], others: Sequence[str]) -> None:
    """Print the figures of memories that are repeated, and of others."""
    report(f"{name}, as they are", memories, memories)
    quoted = [f'"{one}"' for one in memories]
    report(f"{name}, quoted on the same day", memories, quoted)
    report(f"{name}, quoted on another day", memories, quoted, later=timedelta(days=18))
    report(f"{name}, others quoted", memories, [f'"{one}"' for one in others])


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=Path, help="a file of LoCoMo")
    arguments = parser.parse_args()
    lines = [
        line.split("\t")
        for name in ("duplicates.tsv", "near_duplicates.tsv")
        for line in (PAIRS / name).read_text(encoding="utf-8").splitlines()[1:]
    ]
    for what, same in (("statements with paraphrases", "1"), ("statements with other facts", "0")):
        first, second = zip(*((one, other) for _, is_same, one, other in lines if is_same == same), strict=True)
        report_all(what, first, second)
    if arguments.turns:
        talks = [one["conversation"] for one in json.loads(arguments.turns.read_text(encoding="utf-8"))]
        said = [
            turn["text"] for talk in talks for name in talk if re.fullmatch(r"session_\d+", name) for turn in talk[name]
        ]
        turns = [text for text in dict.fromkeys(said) if len(text.split()) > 3][:400]
        report_all("turns", turns[:200], turns[200:])


if __name__ == "__main__":
    main()
