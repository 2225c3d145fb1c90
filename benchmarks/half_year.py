"""Half a year of conversations: recall, and the tokens that a default recall can return, with and without forgetting.

    python -m benchmarks.half_year FILE.json [FILE.json …] --results RESULTS.jsonl [--set NAME=VALUE …]

FILE.json holds conversations in LoCoMo's or in BEAM's form. Each conversation is the memory of one user. Its sessions
are spread evenly over 180 days of a manual clock, and its messages are added one by one. Every second question is
asked on the way, on a random day after its last evidence; its recall counts as a use. Nobody gives feedback. The memory
is maintained every night and consolidates every week. On the last day it is frozen, and all questions are asked.

`kept` is the same life without consolidation and without dormant memories; `lived` has both. The columns:

    first      recall@10 of all questions when they are asked for the first time: half on the way, half on the last day
    last       recall@10 of all questions on the last day
    awake      tokens of the awake memories, facts included, divided by the tokens of all messages
    asleep     share of the memories recalled on the last day that were dormant

A fact counts for a gold message if it was made from it and has at least 80 % of the words of the answer. The intervals
are of a paired bootstrap over questions. A conversation that RESULTS.jsonl has with the same settings is not simulated
again. --embeddings names a file that keeps vectors between calls.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import random
from collections.abc import Hashable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime, timedelta
from itertools import islice, repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.consolidation import found_gold, sources_of
from neurogated import MemoryConfig, NeuroGraphMemory, compose
from neurogated.core.clock import to_micros
from neurogated.core.energy import EnergyLaw
from neurogated.embedding.cache import CachedEmbedder
from neurogated.evaluation.locomo import load_locomo
from neurogated.evaluation.model import SOURCES_KEY, Question
from neurogated.testing import ManualClock

DAYS = 180
WEEK = 7
TOP_N = 10
ROUNDS = 10_000


class Said(NamedTuple):
    """A message."""

    name: Hashable
    message: dict[str, str]
    session: str
    timestamp: datetime | None


class Life(NamedTuple):
    """A conversation, and the questions about it."""

    user: str
    said: tuple[Said, ...]
    questions: tuple[Question, ...]


def lives(path: Path) -> Iterator[Life]:
    """Yield the conversations of a file."""
    samples = json.loads(path.read_text(encoding="utf-8"))
    if "messages" in samples[0]:
        yield from map(_chat, samples)
        return
    for one in load_locomo(path.stem, path.parent).collections:
        said = tuple(
            Said(
                turn.id,
                {"role": "user", "name": passage.speaker or "", "content": passage.text},
                session,
                turn.timestamp,
            )
            for turn in one.documents
            for passage in turn.passages
            for session in [f"session {turn.metadata['session']}"]
        )
        yield Life(str(one.namespace), said, one.questions)


def _chat(sample: dict[str, Any]) -> Life:
    said = tuple(
        Said(
            one["id"], {"role": one["role"], "content": one["content"]}, f"session {one['session']}", _day(one["date"])
        )
        for one in sample["messages"]
        if one["content"].strip()
    )
    questions = tuple(
        Question(one["id"], one["question"], frozenset(one["gold"]), one["category"], (one["answer"] or "",))
        for one in sample["questions"]
        if one["gold"]
    )
    return Life(f"chat {sample['chat']}", said, questions)


def _day(date: str | None) -> datetime | None:
    return datetime.fromisoformat(date).replace(tzinfo=UTC) if date else None


def schedule(life: Life) -> list[tuple[timedelta, Said | Question]]:
    """Return the messages and the questions with their times: sessions evenly, questions after their evidence."""
    sessions = list(dict.fromkeys(one.session for one in life.said))
    begin = {name: timedelta(days=DAYS * place / len(sessions)) for place, name in enumerate(sessions)}
    spoken = [(begin[one.session] + timedelta(minutes=place), one) for place, one in enumerate(life.said)]
    when = {one.name: at for at, one in spoken}
    chance, last = random.Random(life.user), timedelta(days=DAYS)  # noqa: S311 - no secret
    asked = []
    for question in life.questions[::2]:
        told = max(when[name] for name in question.gold)
        asked.append((told + (last - told) * chance.random(), question))
    return sorted((*spoken, *asked), key=lambda event: event[0])


def live(life: Life, settings: Mapping[str, str], embeddings: Path | None, *, forgets: bool) -> dict[str, Any]:
    """Simulate a conversation and return its figures."""
    clock = ManualClock()
    start, days = clock.now, 0
    config = MemoryConfig.from_mapping({"storage": "memory", "learning.access_flush_seconds": 0, **settings})
    parts = compose.build(config, clock)
    if embeddings is not None:
        parts = dataclasses.replace(parts, embedder=CachedEmbedder(parts.embedder, embeddings))
    first, sources = dict[str, float](), dict[str, AbstractSet[Hashable]]()
    with NeuroGraphMemory(config, parts=parts) as memory:
        for at, event in [*schedule(life), (timedelta(days=DAYS), None)]:
            while timedelta(days=days + 1) <= at:
                days += 1
                clock.now = start + timedelta(days=days)
                if _night(memory, days, forgets=forgets):
                    sources = sources_of(memory)
            clock.now = start + at
            if isinstance(event, Said):
                memory.add(
                    event.message,
                    user_id=life.user,
                    session_id=event.session,
                    timestamp=event.timestamp,
                    metadata={SOURCES_KEY: [event.name]},
                )
            elif event is not None:
                recall = memory.recall(event.text, user_id=life.user, top_n=TOP_N)
                first[str(event.id)] = found_gold(recall, event, sources)
        memory.learning.freeze()
        figures = _last_day(memory, life, clock.now)
    return {**figures, "first": {**figures["last"], **first}}


def _night(memory: NeuroGraphMemory, day: int, *, forgets: bool) -> bool:
    """Let a night pass, and return whether the memory made facts."""
    memory.maintenance()
    if forgets:
        memory.energy.tick()
    return bool(forgets and day % WEEK == 0 and memory.learning.consolidate(progress=False))


def _last_day(memory: NeuroGraphMemory, life: Life, now: datetime) -> dict[str, Any]:
    view, sources = memory.store.view(), sources_of(memory)
    rows = view.live_nodes()
    nodes = memory.store.get_nodes([view.ids[row] for row in rows.tolist()])
    tokens = np.array(memory.retriever._embedder.count_tokens([node.content for node in nodes]))  # noqa: SLF001
    dormant = EnergyLaw(memory.config.metabolism).dormant(view, rows, to_micros(now))
    sleeping = {view.ids[row] for row in rows[dormant].tolist()}
    facts = np.array([node.id in sources for node in nodes])
    recalls = [memory.recall(question.text, user_id=life.user, top_n=TOP_N) for question in life.questions]
    found = map(found_gold, recalls, life.questions, repeat(sources))
    woken = [one.id in sleeping for recall in recalls for one in recall]
    return {
        "last": {str(question.id): share for question, share in zip(life.questions, found, strict=True)},
        "awake": float(tokens[~dormant].sum() / tokens[~facts].sum()),
        "asleep": float(np.mean(woken)),
        "facts": int(facts.sum()),
    }


def main() -> None:
    """Simulate each conversation that has no results yet, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--results", type=Path, required=True, help="file of the results, one line a conversation")
    parser.add_argument("--embeddings", type=Path, help="file that keeps vectors between calls")
    parser.add_argument("--conversations", type=int, help="only the first ones of each file")
    parser.add_argument("--set", nargs="*", action="extend", default=[], help="settings, NAME=VALUE")
    arguments = parser.parse_args()
    settings = dict(sorted(pair.split("=", 1) for pair in arguments.set))
    done = _read(arguments.results)
    for path in arguments.files:
        pairs = []
        for life in islice(lives(path), arguments.conversations):
            pair = []
            for forgets in (False, True):
                given = settings if forgets else _without_metabolism(settings)
                key = json.dumps([life.user, forgets, given])
                if key not in done:
                    done[key] = live(life, given, arguments.embeddings, forgets=forgets)
                    with arguments.results.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"key": key, "figures": done[key]}) + "\n")
                pair.append(done[key])
            pairs.append((pair[0], pair[1]))
            _print(life.user, pairs[-1:])
        _print(path.stem, pairs)


def _without_metabolism(settings: Mapping[str, str]) -> dict[str, str]:
    others = {name: value for name, value in settings.items() if not name.startswith("metabolism.")}
    return {**others, "metabolism.dormant_energy": "0"}


def _read(path: Path) -> dict[str, dict[str, Any]]:
    if not path.exists():
        return {}
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["key"]: row["figures"] for row in rows}


def _print(name: str, pairs: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Print the figures of a conversation, or the means of several with their standard deviations."""
    parts = [f"{name:16s}"]
    for when in ("first", "last"):
        kept, lived = (np.array([one for pair in pairs for one in pair[place][when].values()]) for place in (0, 1))
        change = 100 * (lived - kept)
        drawn = np.random.default_rng(0).choice(change, (ROUNDS, change.size)).mean(1)
        low, high = np.quantile(drawn, [0.025, 0.975])
        means = f"{when} {100 * kept.mean():.1f} -> {100 * lived.mean():.1f}"
        parts.append(f"{means} ({change.mean():+.1f} [{low:+.1f}, {high:+.1f}])")
        if len(pairs) > 1:
            own = [100 * np.mean([pair[1][when][one] - pair[0][when][one] for one in pair[0][when]]) for pair in pairs]
            parts[-1] += f" ±{np.std(own):.1f}"
    for figure in ("awake", "asleep"):
        values = 100 * np.array([pair[1][figure] for pair in pairs])
        parts.append(f"{figure} {values.mean():.0f} %" + (f" ±{values.std():.0f}" if len(pairs) > 1 else ""))
    parts.append(f"{sum(pair[1]['facts'] for pair in pairs)} facts")
    print("  ".join(parts), flush=True)


if __name__ == "__main__":
    main()
