"""A chat beside a model that takes long for an answer: do writes and recalls wait, and is all read in the end?

    python -m benchmarks.slow_model [--messages 200] [--seconds 15] [--calls]

The messages are those of `benchmarks/data/said`, each with one fact. They are written to two memories in turn, one
with a model and one without, and each is followed by a recall. Then the one with a model is flushed. With `--calls`,
the calls of functions in the calling thread are counted in place of the time; they do not depend on other programs.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from time import perf_counter
from typing import NamedTuple

import numpy as np

from benchmarks.calls import calls_of
from benchmarks.knowing_model import Told, serving
from benchmarks.said import SPLITS, Message, data, messages_of, table_row
from neurogated import MemoryConfig, NeuroGraphMemory

USER = "somebody"


class Figures(NamedTuple):
    """What a chat beside a slow model took."""

    p95: list[list[float]]
    """Seconds, or calls of functions, of a write and of a recall: with the model, and without it."""
    facts: int
    calls: float
    """A message, as the next."""
    characters: float
    """Of prompts, without the part that all of a kind share."""

    @property
    def ratios(self) -> list[float]:
        """The cost of a write and of a recall with the model, divided by their cost without it."""
        return [one / other for one, other in zip(*self.p95, strict=True)]


def chat(number: int) -> list[Message]:
    parts = [data(name)[split]["messages"] for name in ("everyday", "never_said") for split in SPLITS[:2]]
    return [one for part in parts for one in messages_of(part)][:number]


def seconds_of(call: Callable[[], object]) -> float:
    begin = perf_counter()
    call()
    return perf_counter() - begin


def measured(
    messages: Sequence[Message],
    seconds: float,
    embedder: str = MemoryConfig().embedding_name,
    cost: Callable[[Callable[[], object]], float] = seconds_of,
) -> Figures:
    """Return the figures of a chat beside a model that takes so many seconds for each answer."""
    told = [Told(one.text, [("user", f"note {number}", one.text.split()[0])]) for number, one in enumerate(messages)]
    asked, costs = Counter[str](), np.empty((2, len(messages), 2))
    with (
        serving(told=told, asked=asked, seconds=seconds) as server,
        tempfile.TemporaryDirectory() as folder,
        NeuroGraphMemory(
            MemoryConfig.from_mapping({"save_dir": f"{folder}/a", "embedding_name": embedder, **server})
        ) as one,
        NeuroGraphMemory(MemoryConfig(save_dir=f"{folder}/b", embedding_name=embedder)) as other,
        NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name=embedder)) as third,
    ):
        for number, message in enumerate(messages):
            said, session = {"role": "user", "content": message.text}, message.at[:10]
            # What a process remembers of a text, such as the patterns of a language, is no cost of the model: a third
            # memory reads each text before, and the two take turns.
            third.add(said, user_id=USER, session_id=session)
            third.recall(message.text, user_id=USER)
            for side in (number % 2, 1 - number % 2):
                memory = (one, other)[side]
                costs[side, number] = (
                    cost(partial(memory.add, said, user_id=USER, session_id=session)),
                    cost(partial(memory.recall, message.text, user_id=USER)),
                )
        one.flush()
        facts = len(one.facts.list(user_id=USER))
    p95 = np.quantile(costs, 0.95, axis=1).tolist()
    return Figures(p95, facts, asked["requests"] / len(messages), asked["characters"] / len(messages))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--calls", action="store_true", help="count calls of functions in place of the time")
    chosen = parser.parse_args()
    unit, factor = ("calls", 1) if chosen.calls else ("ms", 1000)
    cost = calls_of if chosen.calls else seconds_of
    found = measured(chat(chosen.messages), chosen.seconds, cost=cost)
    print(table_row(f"p95 in {unit}", "with the model", "without"), table_row(*["---"] * 3), sep="\n")
    for place, name in enumerate(("write", "recall")):
        print(table_row(name, *(f"{factor * side[place]:.1f}" for side in found.p95)))
    print(f"Facts after the queue is empty: {found.facts} of {chosen.messages}")
    print(f"Calls a message: {found.calls:.2f}, characters of a prompt a message: {found.characters:.0f}")


if __name__ == "__main__":
    main()
