"""Measure the conflicts that a memory finds while conversations are written, and the time of the check.

    python -m benchmarks.conflicts --data FOLDER [--only NAME] [--users_only] [--verbose]

The folder holds `beam_odd.json` and `locomo_conv0-4.json`. The messages are those of `benchmarks/data/messages.tsv`.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from neurogated import ANY_USER, EdgeType, GraphDelta, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.core.conflicts import Conflict
from neurogated.core.scope import Scope
from neurogated.knowledge.checker import ConflictChecker
from neurogated.knowledge.judge import PairJudge
from neurogated.knowledge.uncertain import PairFinder

MESSAGES = Path(__file__).parent / "data" / "messages.tsv"
_WARM = 100
"""Turns before the clock starts, which load the word relations and fill caches."""
CHOICES = ("beam", "locomo", "messages", "model-beam", "model-locomo", "speed")
CONTRADICTIONS = ("contradiction_resolution", "knowledge_update")


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {100 * part / whole:.2f} %"


def opened() -> NeuroGraphMemory:
    return NeuroGraphMemory(MemoryConfig(storage="memory"))


def beam(path: Path, *, users_only: bool, verbose: bool) -> None:
    """Count the questions of which a statement raised a conflict, and the other messages of users that raised one."""
    questions = exact = either = messages = flagged = 0
    for chat in json.loads(path.read_text(encoding="utf-8")):
        asked = [one for one in chat["questions"] if one["category"] in CONTRADICTIONS]
        statements = [[set(ids) for ids in one["statements"].values()] for one in asked]
        told = set[int]().union(*(ids for both in statements for ids in both))
        with opened() as memory:
            for session, message in beam_messages(chat, users_only=users_only):
                memory.add(message, user_id="user", session_id=session)
            pairs = [tuple(map(message_of, one.sides)) for one in memory.conflicts.list(None, user_id="user")]
        questions += len(statements)
        for first, second in statements:
            exact += any((a in first and b in second) or (a in second and b in first) for a, b in pairs)
            either += any({a, b} & (first | second) for a, b in pairs)
        others = {one["id"] for one in chat["messages"] if one["role"] == "user"} - told
        messages, flagged = messages + len(others), flagged + len(others & {b for _, b in pairs})
        if verbose:
            print(pairs)
    print(f"beam: both statements in one conflict {share(exact, questions)}, one of them {share(either, questions)},")
    print(f"  other messages of users flagged {share(flagged, messages)}")


def model_beam(path: Path, *, users_only: bool, verbose: bool) -> None:
    """Count the pairs about which a language model would be asked, and the most that a perfect one could find.

    No model is asked.
    """
    count, reached, within, questions = Counter[str](), 0, 0, 0
    for chat in json.loads(path.read_text(encoding="utf-8")):
        asked = [one for one in chat["questions"] if one["category"] in CONTRADICTIONS]
        with opened() as memory:
            pairs, near = set[frozenset[int]](), set[frozenset[int]]()
            for session, message in beam_messages(chat, users_only=users_only):
                ids = memory.add(message, user_id="user", session_id=session)
                asked_pairs, candidates = uncertain(memory, ids, count)
                pairs |= {frozenset(map(message_of, one)) for one in asked_pairs}
                near |= {frozenset(map(message_of, one)) for one in candidates}
            known = {frozenset(map(message_of, one.sides)) for one in memory.conflicts.list(None, user_id="user")}
        for one in asked:
            first, second = one["statements"].values()
            wanted = {frozenset((a, b)) for a in first for b in second if a != b}
            reached += bool(wanted & (pairs | known))
            within += bool(wanted & (near | known))
            if verbose and not wanted & (pairs | known):
                print(f"out of reach: {one['question']}")
        questions += len(asked)
    print(f"beam: {told(count)}")
    print(
        f"  pairs of statements that were found or reach the model {share(reached, questions)}: a ceiling, no result;"
    )
    print(f"  if the model were asked about all candidates {share(within, questions)}")


def model_locomo(path: Path) -> None:
    """Count the pairs of LoCoMo, which holds few contradictions, about which a language model would be asked."""
    count = Counter[str]()
    for conversation in json.loads(path.read_text(encoding="utf-8")):
        with opened() as memory:
            for turn in turns_of(conversation["conversation"]):
                uncertain(memory, memory.add(turn["content"], session_id=turn["session"], user_id="pair"), count)
    print(f"LoCoMo: {told(count)}")


def uncertain(
    memory: NeuroGraphMemory, ids: list[str], count: Counter[str]
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the pairs of new memories about which a model would be asked, and all candidates; count them."""
    settings = memory.config.metabolism
    finder = PairFinder(memory.store, settings)
    asked, near = list[tuple[str, str]](), list[tuple[str, str]]()
    begin = time.process_time()
    for node in memory.store.get_nodes(ids):
        candidates = finder.candidates(memory.store.view(), node, ids.__contains__)
        found = finder.pairs(node, candidates)
        count.update({"candidates": len(candidates), "open": len(found), "memories": 1})
        asked += [(one.old.id, one.new.id) for one in found[: settings.conflict_uncertain]]
        near += [(old.id, node.id) for old, _ in candidates]
    calls, all_calls = (-(-len(pairs) // settings.conflict_judged_together) for pairs in (asked, near))
    count.update({"asked": len(asked), "calls": calls, "all calls": all_calls, "messages": 1})
    count["microseconds"] += round(1e6 * (time.process_time() - begin))
    return asked, near


def told(count: Counter[str]) -> str:
    candidates, memories = count["candidates"], count["memories"]
    return (
        f"{candidates} candidate pairs; rules decide {share(candidates - count['open'], candidates)}, the limit leaves "
        f"out {count['open'] - count['asked']}, the model is asked about {share(count['asked'], candidates)};\n"
        f"  {per_thousand('calls', count)} calls for 1,000 messages, {per_thousand('all calls', count)} without the "
        f"rules; {1e-3 * count['microseconds'] / memories:.1f} ms a memory"
    )


def per_thousand(name: str, count: Counter[str]) -> int:
    return round(1000 * count[name] / count["messages"])


def beam_messages(chat: dict[str, Any], *, users_only: bool) -> Iterator[tuple[str, dict[str, Any]]]:
    for second, message in enumerate(chat["messages"]):
        if message["role"] == "user" or not users_only:
            day = datetime.fromisoformat(message["date"]).replace(tzinfo=UTC)
            moment = {"id": f"m{message['id']}", "timestamp": day + timedelta(seconds=second)}
            yield str(message["session"]), {"role": message["role"], "content": message["content"], **moment}


def message_of(node_id: str) -> int:
    return int(node_id.partition("#")[0][1:])


def messages(path: Path) -> None:
    """Count the pairs of messages in which the later one raises a conflict; rules were tuned on every second pair."""
    rows = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()[1:]]
    counts: Counter[tuple[int, str, bool]] = Counter()
    with opened() as memory:
        for number, (_, expected, *texts) in enumerate(rows):
            user = f"user {number}"
            for month, text in enumerate(texts, 1):
                content = {"role": "user", "content": text, "timestamp": datetime(2024, month, 1, tzinfo=UTC)}
                memory.add(content, user_id=user, session_id=f"{number}, {month}")
            counts[number % 2, expected, bool(memory.conflicts.list(None, user_id=user))] += 1
    for half, name in enumerate(("tuned", "unseen")):
        found, others = (
            share(counts[half, expected, True], counts[half, expected, True] + counts[half, expected, False])
            for expected in "10"
        )
        print(f"own messages, {name} half: conflicts found {found}, other pairs flagged {others}")


def locomo(path: Path, *, verbose: bool) -> None:
    """Count the turns that raise a conflict."""
    turns = 0
    found: list[Conflict] = []
    for conversation in json.loads(path.read_text(encoding="utf-8")):
        with opened() as memory:
            for turn in turns_of(conversation["conversation"]):
                memory.add(turn["content"], session_id=turn["session"], user_id="pair")
                turns += 1
            found += memory.conflicts.list(None, user_id="pair")
    print(f"LoCoMo: turns that raise a conflict {share(len(found), turns)}")
    if verbose:
        print("\n".join(one.question for one in found))


def turns_of(conversation: dict[str, Any]) -> Iterator[dict[str, Any]]:
    number = 1
    while (name := f"session_{number}") in conversation:
        day = datetime.strptime(conversation[f"{name}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for second, turn in enumerate(conversation[name]):
            moment = day + timedelta(seconds=second)
            content = {"role": "user", "name": turn["speaker"], "content": turn["text"], "timestamp": moment}
            yield {"session": name, "content": content}
        number += 1


def speed(path: Path, memories: int) -> None:
    """Measure the processor time of the check of LoCoMo's turns, in a memory of many turns of the same persons."""
    conversations = json.loads(path.read_text(encoding="utf-8"))
    turns = [turn["content"] for one in conversations for turn in turns_of(one["conversation"])]
    with opened() as memory:
        embedder = memory.session.parts.embedder
        vectors = embedder.embed_documents([turn["content"] for turn in turns[:1600]])
        memory.store.bind_embedder(embedder.name, embedder.dimension)
        for begin in range(0, memories, 1000):
            numbers = range(begin, min(begin + 1000, memories))
            memory.store.apply(
                GraphDelta(nodes=tuple(node_of(f"old {n}", turns[n % 1000], vectors[n % 1000]) for n in numbers))
            )
        checker = ConflictChecker(memory.store, PairJudge(), memory.config.metabolism)
        seconds = []
        for n, turn in enumerate(turns[1000:1600]):
            node = node_of(f"new {n}", turn, vectors[1000 + n])
            near = memory.store.nearest(vectors[1000 + n], memory.config.MAX_SIM_NEIGHBORS)
            edges = tuple(MemoryEdge(node.id, one, EdgeType.SIM, max(0.0, min(1.0, cosine))) for one, cosine in near)
            start = time.process_time()
            checker.checked(GraphDelta(nodes=(node,), edges=edges), (node,))
            seconds.append(time.process_time() - start)
        seconds = sorted(seconds[_WARM:])
        mean, median, last = sum(seconds) / len(seconds), seconds[len(seconds) // 2], seconds[int(0.95 * len(seconds))]
        print(f"{memory.count(user_id=ANY_USER)} memories: mean {1e3 * mean:.2f} ms, median {1e3 * median:.2f} ms,")
        print(f"  95 % below {1e3 * last:.2f} ms")


def node_of(name: str, turn: dict[str, Any], vector: Any) -> MemoryNode:  # noqa: ANN401 - a row of vectors
    scope = Scope("pair", session_id="session")
    about = {"kind": "turn", "scope": scope, "role": "user", "speaker": turn["name"], "timestamp": turn["timestamp"]}
    return MemoryNode(name, turn["content"], embedding=vector, **about)


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the conflicts that a memory finds.")
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the data sets")
    parser.add_argument("--only", choices=CHOICES, help="measure only this")
    parser.add_argument("--users_only", action="store_true", help="write only the messages of the user of beam")
    parser.add_argument("--memories", type=int, default=100_000, help="memories when the check is timed")
    parser.add_argument("--verbose", action="store_true", help="print the conflicts")
    arguments = parser.parse_args()
    data = arguments.data
    if arguments.only in {None, "beam"}:
        beam(data / "beam_odd.json", users_only=arguments.users_only, verbose=arguments.verbose)
    if arguments.only in {None, "locomo"}:
        locomo(data / "locomo_conv0-4.json", verbose=arguments.verbose)
    if arguments.only in {None, "messages"}:
        messages(MESSAGES)
    if arguments.only in {None, "model-beam"}:
        model_beam(data / "beam_odd.json", users_only=arguments.users_only, verbose=arguments.verbose)
    if arguments.only in {None, "model-locomo"}:
        model_locomo(data / "locomo_conv0-4.json")
    if arguments.only in {None, "speed"}:
        speed(data / "locomo_conv0-4.json", arguments.memories)


if __name__ == "__main__":
    main()
