"""Echoes: how many repetitions of recalled memories are recognised, and how many other statements are taken for echoes.

The user says the first text of each pair. Recalls hand these memories out, fifty pairs at a time. Then the assistant
says the second text, or the first one again. The pairs of `benchmarks/data/echoes.tsv` are messages of an assistant;
rules were tuned on its first half, every other line. The turns of a data set are said likewise. Turns that were not
handed out are other facts.

python -m benchmarks.echoes --turns locomo_conv0-4.json
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from unittest.mock import patch

from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory
from neurogated.context.echo import EchoLinks

DATA = Path(__file__).parent / "data"
BATCH = 50
Pairs = Sequence[tuple[str, str]]


def echoes_among(pairs: Pairs) -> tuple[list[str], float]:
    """Return the messages that are taken for echoes, and the processor seconds of the comparison for each message."""
    found, took, check = list[str](), 0.0, EchoLinks.added_to

    def timed(links: EchoLinks, *arguments: object) -> object:
        nonlocal took
        begin = time.thread_time()
        delta = check(links, *arguments)  # type: ignore[arg-type]
        took += time.thread_time() - begin
        return delta

    for start in range(0, len(pairs), BATCH):
        part = pairs[start : start + BATCH]
        with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
            for told, _ in part:
                memory.add({"role": "user", "content": told}, user_id="ana", session_id="one")
            for told, _ in part:
                memory.recall(told, top_n=2, user_id="ana", include_duplicates=True)
            with patch.object(EchoLinks, "added_to", timed):
                for _, said in part:
                    memory.add({"role": "assistant", "content": said}, user_id="ana", session_id="two")
            linked = {edge.source_id for edge in memory.store.all_edges() if edge.type is EdgeType.ECHO}
            found += [memory.get(name).content for name in linked]
    return found, took / max(1, len(pairs))


def report(name: str, pairs: Pairs, *, shows: bool = False) -> None:
    """Print how many messages are echoes."""
    found, took = echoes_among(pairs)
    print(f"{name}: {len(found)} of {len(pairs)} ({100 * len(found) / len(pairs):.1f} %), {1000 * took:.2f} ms each")
    if shows:
        for text in found:
            print("   ", text)


def report_repeated(name: str, texts: Sequence[str]) -> None:
    """Print how many texts are recognised word for word."""
    report(f"{name}, word for word", [(one, one) for one in texts])
    report(f"{name}, quoted", [(one, f'You said: "{one}"') for one in texts])


def pairs_of(lines: Iterable[list[str]], same: str) -> Pairs:
    """Return the pairs that say the same, or the others."""
    return [(first, second) for *_, is_same, first, second in lines if is_same == same]


def lines_of(name: str) -> list[list[str]]:
    """Return the lines of a file of pairs."""
    return [line.split("\t") for line in (DATA / f"{name}.tsv").read_text(encoding="utf-8").splitlines()[1:]]


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=Path, help="a file of LoCoMo")
    parser.add_argument("--show", action="store_true", help="print the other facts that are taken for echoes")
    arguments = parser.parse_args()
    said = lines_of("echoes")
    report_repeated("statements", [first for first, _ in pairs_of(said, "1")])
    report("paraphrases by an assistant, tuned half", pairs_of(said[::2], "1"))
    report("paraphrases by an assistant, unseen half", pairs_of(said[1::2], "1"))
    report("other facts by an assistant, tuned half", pairs_of(said[::2], "0"), shows=arguments.show)
    report("other facts by an assistant, unseen half", pairs_of(said[1::2], "0"))
    if arguments.turns:
        talks = [one["conversation"] for one in json.loads(arguments.turns.read_text(encoding="utf-8"))]
        turns = [
            turn["text"] for talk in talks for name in talk if re.fullmatch(r"session_\d+", name) for turn in talk[name]
        ]
        turns = [text for text in dict.fromkeys(turns) if len(text.split()) > 3][:400]
        report_repeated("turns", turns[:200])
        report("other turns", list(zip(turns[:200], turns[200:], strict=True)), shows=arguments.show)


if __name__ == "__main__":
    main()
