"""A chat beside a model that takes long for an answer: do writes and recalls wait, and is all read in the end?

    python -m benchmarks.slow_model [--messages 200] [--seconds 15]

The messages are those of `benchmarks/data/said`, each with one fact. They are written to two memories in turn, one
with a model and one without, and each is followed by a recall. Then the one with a model is flushed.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from benchmarks.knowing_model import Told, serving
from benchmarks.said import SPLITS, Message, data, messages_of, table_row
from neurogated import MemoryConfig, NeuroGraphMemory

USER = "somebody"


class Figures(NamedTuple):
    """What a chat beside a slow model took."""

    p95: list[list[float]]
    """Seconds of a write and of a recall: with the model, and without it."""
    facts: int
    calls: float
    """A message, as the next."""
    characters: float
    """Of prompts, without the part that all of a kind share."""


def chat(number: int) -> list[Message]:
    parts = [data(name)[split]["messages"] for name in ("everyday", "never_said") for split in SPLITS[:2]]
    return [one for part in parts for one in messages_of(part)][:number]


def measured(messages: Sequence[Message], seconds: float, embedder: str = MemoryConfig().embedding_name) -> Figures:
    """Return the figures of a chat beside a model that takes so many seconds for each answer."""
    told = [Told(one.text, [("user", f"note {number}", one.text.split()[0])]) for number, one in enumerate(messages)]
    asked, times = Counter[str](), list[list[float]]()
    with (
        serving(told=told, asked=asked, seconds=seconds) as server,
        tempfile.TemporaryDirectory() as folder,
        NeuroGraphMemory(
            MemoryConfig.from_mapping({"save_dir": f"{folder}/a", "embedding_name": embedder, **server})
        ) as one,
        NeuroGraphMemory(MemoryConfig(save_dir=f"{folder}/b", embedding_name=embedder)) as other,
    ):
        for message in messages:
            for memory in (one, other):
                begin = perf_counter()
                memory.add({"role": "user", "content": message.text}, user_id=USER, session_id=message.at[:10])
                written = perf_counter()
                memory.recall(message.text, user_id=USER)
                times.append([written - begin, perf_counter() - written])
        one.flush()
        facts = len(one.facts.list(user_id=USER))
    p95 = [np.quantile(times[start::2], 0.95, axis=0).tolist() for start in (0, 1)]
    return Figures(p95, facts, asked["requests"] / len(messages), asked["characters"] / len(messages))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=15.0)
    chosen = parser.parse_args()
    found = measured(chat(chosen.messages), chosen.seconds)
    print(table_row("p95 in ms", "with the model", "without"), table_row(*["---"] * 3), sep="\n")
    for place, name in enumerate(("write", "recall")):
        print(table_row(name, *(f"{1000 * side[place]:.1f}" for side in found.p95)))
    print(f"Facts after the queue is empty: {found.facts} of {chosen.messages}")
    print(f"Calls a message: {found.calls:.2f}, characters of a prompt a message: {found.characters:.0f}")


if __name__ == "__main__":
    main()
