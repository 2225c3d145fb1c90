"""Words of the evidence in a context of limited tokens, beside hybrid search that fills the same budget.

A word of a message counts if it stands in the text with the two words after it or before it in the message; ids, facts
and summaries count for nothing. A question has the mean over the messages of its evidence. Hybrid search adds half the
cosine and half the BM25, each scaled to 0–1 over the memories of the user, and fills the text in this order.

python -m benchmarks.context locomo_conv0-4.json --budgets 250 500 1000
python -m benchmarks.context beam_odd.json --folder kept_memory --every 4 --scores new.json
python -m benchmarks.context beam_odd.json --folder kept_memory --every 4 --against old.json

With --against, the figures are compared question by question with those that --scores wrote, such as another build's.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.core.filters import Filter
from neurogated.core.quoting import quoted_memories
from neurogated.core.scope import ScopeFilter
from neurogated.core.tokens import prompt_tokens
from neurogated.evaluation.gold import paired_bootstrap, searched
from neurogated.storage.registry import memory_exists
from neurogated.text.keywords import split_words

_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D\d+:\d+")
PLACE = "place"
_RUN = 3
"""Words in a row that are hardly ever the same by chance."""


class Asked(NamedTuple):
    """A question, with the messages that hold its evidence."""

    user: str
    text: str
    gold: frozenset[Any]
    kind: str


def messages(sample: Mapping[str, Any]) -> Iterator[tuple[dict[str, str], str, datetime | None, Any]]:
    """Yield message, session, time and id of each turn of a conversation of LoCoMo or BEAM."""
    if "messages" in sample:
        for one in sample["messages"]:
            moment = datetime.fromisoformat(one["date"]).replace(tzinfo=UTC) if one["date"] else None
            if one["content"].strip():
                yield {"role": one["role"], "content": one["content"]}, f"session {one['session']}", moment, one["id"]
        return
    said = sample["conversation"]
    for number in sorted(int(match[1]) for match in map(_SESSION.fullmatch, said) if match):
        when = said.get(f"session_{number}_date_time")
        moment = datetime.strptime(when, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC) if when else None
        for one in said[f"session_{number}"]:
            caption = one.get("blip_caption")
            text = f"{one.get('text', '').strip()} {f'[shares {caption}]' if caption else ''}".strip()
            if text:
                message = {"role": "user", "name": one["speaker"], "content": text}
                yield message, f"session {number}", moment, one["dia_id"]


def user_of(sample: Mapping[str, Any]) -> str:
    return f"chat {sample['chat']}" if "messages" in sample else str(sample["sample_id"])


def questions(sample: Mapping[str, Any]) -> Iterator[Asked]:
    """Yield the questions that have evidence."""
    user, there = user_of(sample), {place for *_, place in messages(sample)}
    for one in sample.get("questions", ()):
        if one["gold"]:
            yield Asked(user, one["question"], frozenset(one["gold"]), one["category"])
    for one in sample.get("qa", ()):
        gold = frozenset(_EVIDENCE.findall(" ".join(one.get("evidence", ())))) & there
        if gold and one["category"] != 5:
            yield Asked(user, one["question"], gold, f"category {one['category']}")


def fill(memory: NeuroGraphMemory, data: Sequence[Mapping[str, Any]]) -> None:
    """Write the conversations, one message a call."""
    for sample in data:
        for message, session, moment, place in messages(sample):
            metadata = {PLACE: place}
            memory.add(message, user_id=user_of(sample), session_id=session, timestamp=moment, metadata=metadata)


def hybrid(memory: NeuroGraphMemory, asked: Asked) -> list[MemoryNode]:
    """Return the memories of the user by half the cosine and half the BM25, each scaled to 0–1, best first."""
    filters = Filter(scope=ScopeFilter(asked.user))
    nodes = memory.store.get_nodes(searched(memory, asked.text, "hybrid", filters, 500))
    return [node for node in nodes if PLACE in node.metadata]


def shown(text: str, message: str) -> float:
    """Return the share of the words of a message that stand in a text in runs of three words."""
    words, around = split_words(message), split_words(text)
    size = min(_RUN, len(words))
    if not size:
        return 0.0
    runs = {tuple(around[at : at + size]) for at in range(len(around) - size + 1)}
    there = np.zeros(len(words), dtype=np.bool_)
    for at in range(len(words) - size + 1):
        if tuple(words[at : at + size]) in runs:
            there[at : at + size] = True
    return float(there.mean())


def main() -> None:
    """Build the memory, ask, and print a line for each budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--budgets", type=int, nargs="+", default=[250, 500, 1000])
    parser.add_argument("--folder", type=Path, help="keep the memory here, and use it again")
    parser.add_argument("--every", type=int, default=1, help="ask every n-th question")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="settings")
    parser.add_argument("--scores", type=Path, help="write the score of each question here")
    parser.add_argument("--against", type=Path, help="compare with the scores in this file")
    arguments = parser.parse_args()
    data = json.loads(arguments.data.read_text(encoding="utf-8"))
    said = {(user_of(sample), place): message["content"] for sample in data for message, *_, place in messages(sample)}
    asked = [one for sample in data for one in questions(sample)][:: arguments.every]
    with tempfile.TemporaryDirectory() as temporary:
        settings = dict(entry.split("=", 1) for entry in arguments.set)
        config = MemoryConfig.from_mapping({"save_dir": str(arguments.folder or temporary), **settings})
        is_filled = memory_exists(config)
        with NeuroGraphMemory(config) as memory:
            if not is_filled:
                fill(memory, data)
            memory.learning.freeze(lasting=False)
            scores = {str(budget): report(memory, asked, said, budget) for budget in arguments.budgets}
    if arguments.scores:
        arguments.scores.write_text(json.dumps(scores), encoding="utf-8")
    if arguments.against:
        others = json.loads(arguments.against.read_text(encoding="utf-8"))
        for budget in scores.keys() & others.keys():
            print(f"{budget} tokens, against {arguments.against.name}: {_difference(scores[budget], others[budget])}")


def report(
    memory: NeuroGraphMemory, asked: Sequence[Asked], said: Mapping[tuple[str, Any], str], budget: int
) -> list[float]:
    """Ask each question with a budget; print the figures, and return the score of each question."""
    count = prompt_tokens

    def scores(texts: Sequence[str]) -> list[float]:
        return [
            float(np.mean([shown(text, said[one.user, place]) for place in one.gold]))
            for one, text in zip(asked, texts, strict=True)
        ]

    begin = time.perf_counter()
    ours = [memory.get_context(one.text, budget, user_id=one.user) for one in asked]
    took = (time.perf_counter() - begin) / len(asked)
    theirs = [quoted_memories(((node, ()) for node in hybrid(memory, one)), budget, count) for one in asked]
    found, plain = scores([one.text for one in ours]), scores(theirs)
    filled, lines = np.mean([one.tokens / budget for one in ours]), np.mean([len(one) for one in ours])
    print(f"{budget} tokens, get_context: {_mean(found)}, {1000 * took:.0f} ms, {filled:.0%} filled, {lines:.1f} lines")
    print(f"{budget} tokens, hybrid search: {_mean(plain)}; difference {_difference(found, plain)}", flush=True)
    return found


def _mean(scores: Sequence[float]) -> str:
    return f"{100 * np.mean(scores):.1f} % of the words"


def _difference(scores: Sequence[float], others: Sequence[float]) -> str:
    better = paired_bootstrap(scores, others)
    return f"{100 * better.mean:+.1f} [{100 * better.low:+.1f}, {100 * better.high:+.1f}]"


if __name__ == "__main__":
    main()
