"""Measure deduplication: precision and recall in a memory, and its share of the time of indexing.

    python -m benchmarks.duplicates [--data FOLDER]

The texts of `benchmarks/data/near_duplicates.tsv` are memories of one user, one memory for each half of the pairs. A
linked pair is right if the file says so, directly or through other pairs. The share of the time is measured on the
messages of `locomo_conv0-4.json` in the folder, by processor time.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from itertools import chain
from pathlib import Path
from statistics import median

from neurogated import MemoryConfig, NeuroGraphMemory

PAIRS = Path(__file__).parent / "data" / "near_duplicates.tsv"
ON = {"metabolism.temporal_neighbors": 3}
OFF = {"metabolism.find_duplicates": False, "metabolism.judge_importance": "off"}
MESSAGES = 300


def halves() -> list[list[tuple[bool, str, str]]]:
    """Return the pairs of the tuned and of the unseen half."""
    rows = [line.split("\t") for line in PAIRS.read_text(encoding="utf-8").splitlines()[1:]]
    pairs = [(same == "1", first, second) for _, same, first, second in rows]
    return [pairs[::2], pairs[1::2]]


def groups_of(pairs: list[tuple[bool, str, str]]) -> dict[str, int]:
    """Return the number of the group of each text."""
    group = {text: n for n, text in enumerate(dict.fromkeys(chain.from_iterable(pair[1:] for pair in pairs)))}
    for same, first, second in pairs:
        if same:
            old, new = group[first], group[second]
            group = {text: new if n == old else n for text, n in group.items()}
    return group


def linked(pairs: list[tuple[bool, str, str]]) -> str:
    """Return precision and recall of the links between the texts of pairs."""
    group = groups_of([*chain.from_iterable(halves())])
    with NeuroGraphMemory(MemoryConfig(storage="memory")) as memory:
        ids = {text: memory.add(text, user_id="ana")[0] for _, *texts in pairs for text in texts}
        text_of = {node_id: text for text, node_id in ids.items()}
        found = {(text, text_of[other]) for text, name in ids.items() for other in memory.duplicates.of(name)}
    wanted = {(one, other) for same, one, other in pairs if same}
    got = {pair for pair in found if pair[0] < pair[1]}
    right = sum(group[one] == group[other] for one, other in got)
    return f"precision {right}/{len(got)}, recall {len(wanted & found)}/{len(wanted)}"


def messages(path: Path) -> list[tuple[str, str, str]]:
    """Return session, speaker and text of the first messages."""
    conversation = json.loads(path.read_text(encoding="utf-8"))[0]["conversation"]
    sessions = [(name, said) for name, said in conversation.items() if isinstance(said, list)]
    turns = [(name, turn["speaker"], turn["text"]) for name, said in sessions for turn in said if turn.get("text")]
    return turns[:MESSAGES]


def seconds(turns: list[tuple[str, str, str]], settings: dict[str, object]) -> float:
    """Return the processor time of indexing messages, one a call."""
    config = MemoryConfig.from_mapping({"storage": "memory", **settings})
    with NeuroGraphMemory(config) as memory:
        memory.add("warm up")
        begin = time.process_time()
        for session, speaker, text in turns:
            memory.add({"role": "user", "name": speaker, "content": text}, user_id="ana", session_id=session)
        return time.process_time() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure deduplication.")
    parser.add_argument("--data", type=Path, help="folder of the data sets; without it, no time is measured")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    for name, pairs in zip(("tuned", "unseen"), halves(), strict=True):
        print(f"{name} half: {linked(pairs)}", flush=True)
    if arguments.data:
        turns, times = messages(arguments.data / "locomo_conv0-4.json"), defaultdict[str, list[float]](list)
        ways = {"all on": ON, "no duplicates": {**ON, "metabolism.find_duplicates": False}, "all off": OFF}
        for _ in range(arguments.rounds):
            for way, settings in ways.items():
                times[way].append(seconds(turns, settings))
        middle = {way: median(found) for way, found in times.items()}
        print(", ".join(f"{way} {1000 * found / len(turns):.1f} ms a message" for way, found in middle.items()))
        for way in ("no duplicates", "all off"):
            print(f"all on against {way}: {100 * (middle['all on'] / middle[way] - 1):+.1f} %")


if __name__ == "__main__":
    main()
