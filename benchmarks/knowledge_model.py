"""Measure what a memory reaches with a language model that knows the answers, or try its prompts with a real one.

    python -m benchmarks.knowledge_model --data FOLDER [--half test]
    python -m benchmarks.knowledge_model --url http://127.0.0.1:8080/v1 --set second --half dev --every 5

The figures of a model that knows the answers are the most that candidates, prompts and records let a perfect model
reach. With `--url`, a real model on a server with OpenAI's protocol reads every fifth text and judges every fifth pair.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.context import PLACE, fill, user_of
from benchmarks.knowing_model import Known, Told, serving
from benchmarks.knowledge import share
from benchmarks.spoken import facts_of, matches, rows
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.ingestion.analysers import OfflineEntityFinder
from neurogated.session import runtime
from neurogated.session.compose import build

Table = list[list[str]]
"""Rows of our own texts."""
Server = dict[str, Any]
"""The settings of a memory that asks a model."""
START = datetime(2025, 3, 3, 9, tzinfo=UTC)
ASKED_CATEGORIES = ("contradiction_resolution", "knowledge_update")
PREFIXES = {"first": "", "second": "second_"}
"""The beginning of the names of the tables of each set of pairs and sentences."""
_RELATIONS = {"contradiction": "contradiction", "change": "changed"}
_KINDS = {"contradiction_resolution": "contradiction", "knowledge_update": "changed"}


@contextmanager
def opened(server: Server) -> Iterator[NeuroGraphMemory]:
    """Open an empty memory that asks the server about claims and pairs only, without a cache of answers."""
    values = {"storage": "memory", **server, "cache_bytes": 0}
    config = MemoryConfig.from_mapping(values)
    with NeuroGraphMemory(config, parts=replace(build(config), entity_finder=OfflineEntityFinder())) as memory:
        yield memory


def write_pair(memory: NeuroGraphMemory, user: str, texts: tuple[str, str], days: int) -> None:
    """Write two messages of one user, days apart."""
    after = timedelta(days=days, minutes=10)
    for place, (text, moment) in enumerate(zip(texts, (START, START + after), strict=True)):
        message = {"role": "user", "content": text, "timestamp": moment}
        memory.add(message, user_id=user, session_id=f"{user}, {place * bool(days)}")


def messages_in_conflict(memory: NeuroGraphMemory, user: str) -> Iterator[tuple[set[int], set[int]]]:
    """Yield the places of the messages of both sides of each conflict."""
    sources = {fact.id: fact.sources for fact in memory.facts.list(user_id=user)}
    for conflict in memory.conflicts.list(None, user_id=user):
        earlier, later = (
            {int(memory.get(one).metadata[PLACE]) for one in sources.get(side) or (side,)} for side in conflict.sides
        )
        yield earlier, later


def pairs(table: Table, name: str, real: Server | None) -> None:
    known = [Known(one, other, _RELATIONS[kind]) for _, kind, _, one, other in table if kind in _RELATIONS]
    count = Counter[str]()
    with nullcontext(real) if real else serving(known) as server, opened(server) as memory:
        for number, (_, _, days, earlier, later) in enumerate(table):
            write_pair(memory, f"user {number}", (earlier, later), int(days))
        memory.learning.resume(progress=False)
        for number, (_, expected, *_) in enumerate(table):
            is_found = bool(memory.conflicts.list(None, user_id=f"user {number}"))
            count["found" if expected in _RELATIONS else "flagged"] += is_found
            count[expected] += 1
    conflicts = count["contradiction"] + count["change"]
    print(f"pairs, {name}: found {share(count['found'], conflicts)}, flagged {share(count['flagged'], count['none'])}")


def facts(sentences: Table, name: str, real: Server | None) -> None:
    table = [(text, facts_of(told)) for _, text, told in sentences]
    told = [Told(text, [one.first for one in expected]) for text, expected in table]
    count = Counter[str]()
    with nullcontext(real) if real else serving(told=told) as server, opened(server) as memory:
        for number, (text, _) in enumerate(table):
            memory.add(
                {"role": "user", "content": text, "timestamp": START}, user_id=f"user {number}", session_id="one"
            )
        memory.learning.resume(progress=False)
        for number, (_, expected) in enumerate(table):
            found = memory.facts.list(user_id=f"user {number}")
            count["found"] += len(found)
            count["right"] += sum(any(matches(fact, one) for one in expected) for fact in found)
            required = [one for one in expected if one.is_required]
            count["there"] += len(required)
            count["read"] += sum(any(matches(fact, one) for fact in found) for one in required)
    precision, recall = share(count["right"], count["found"]), share(count["read"], count["there"])
    print(f"facts, {name}: precision {precision}, recall {recall}")


def beam(data: Path) -> None:
    count = Counter[str]()
    for chat in json.loads((data / "beam_odd.json").read_text(encoding="utf-8")):
        texts = {one["id"]: one["content"] for one in chat["messages"]}
        known, statements = [], []
        for asked in (one for one in chat["questions"] if one["category"] in ASKED_CATEGORIES):
            first, second = (set(ids) for ids in asked["statements"].values())
            statements.append((first, second))
            sides = [(a, b) for a in first for b in second if a != b]
            known += [Known(texts[min(ab)], texts[max(ab)], _KINDS[asked["category"]]) for ab in sides]
        with serving(known, asked=count) as server, opened(server) as memory:
            fill(memory, [{**chat, "messages": [one for one in chat["messages"] if one["role"] == "user"]}])
            memory.learning.resume(progress=False)
            found = list(messages_in_conflict(memory, user_of(chat)))
        count["questions"] += len(statements)
        count["either"] += sum(any((a | b) & (first | second) for a, b in found) for first, second in statements)
        count["both"] += sum(
            any((a & first and b & second) or (a & second and b & first) for a, b in found)
            for first, second in statements
        )
    either, both = (share(count[one], count["questions"]) for one in ("either", "both"))
    print(f"BEAM, messages of users: either statement found {either}, both in one conflict {both}")
    print(f"  asked about {count['pairs']} pairs in {count['calls']} calls")


def locomo(data: Path) -> None:
    """Count the pairs of LoCoMo, which holds few contradictions, about which the model is asked."""
    count = Counter[str]()
    for conversation in json.loads((data / "locomo_conv0-4.json").read_text(encoding="utf-8")):
        with serving(asked=count) as server, opened(server) as memory:
            fill(memory, [conversation])
            memory.learning.resume(progress=False)
    print(f"LoCoMo 0-4: asked about {count['pairs']} pairs in {count['calls']} calls")


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what a memory reaches with a model that knows the answers.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the public sets")
    parser.add_argument("--half", choices=("dev", "test"), default="test", help="which half of our own texts")
    parser.add_argument("--set", choices=PREFIXES, default="first", help="which set of our pairs and sentences")
    parser.add_argument("--every", type=int, default=1, help="take every so many rows of our own texts")
    parser.add_argument("--url", help="ask a real model at this address, about our own texts only")
    arguments = parser.parse_args()
    half, prefix, url = arguments.half, PREFIXES[arguments.set], arguments.url
    # The writes wait for no slow model; `resume` asks it.
    real: Server = {"llm_base_url": url, "llm.timeout": 1800.0}
    runtime.GATHER_SECONDS = 1e9
    for measure, table, changes in (
        (facts, "sentences", {}),
        (pairs, "pairs", {"metabolism.knowledge": "slots, pairs"}),
    ):
        chosen = rows(f"{prefix}{table}_{half}")[:: arguments.every]
        measure(chosen, f"{arguments.set} set, {half}", real | changes if url else None)
    if not url:
        beam(arguments.data)
        locomo(arguments.data)


if __name__ == "__main__":
    main()
