"""A year of many users in one memory, in three processes: what grows, what it costs, and whose memories are recalled.

    python -m benchmarks.year --messages 200000 --users 500

Each user says the number of a locker now and then, among other things, in sessions of four messages. The processes
share the users. Their clocks go through the year, and they wait for each other each week. They add, recall, give
feedback, update, delete and undo. Each week a process decays, each four weeks all consolidate, and each quarter one
compacts: all ask the same questions before and after. At the end the memory is opened again and checked. Costs are
counts of calls of Python and C functions in the calling thread, which do not depend on the load.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calls import calls_of
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import RuntimeSettings
from neurogated.session.compose import build

START = datetime(2026, 1, 1, tzinfo=UTC)
_WEEKS, _SESSION, _MONTH, _QUARTER = 52, 4, 4, 13
_COUNTED = 1_000  # messages whose cost is counted at the beginning and at the end
_ASKED = 12  # questions of each process before and after a compaction
_NAMES = [
    "Ines",
    "Jonas",
    "Mira",
    "Tariq",
    "Wanda",
    "Felix",
    "Noor",
    "Pavel",
    "Ruth",
    "Hugo",
    "Selma",
    "Ivo",
    "Greta",
    "Malik",
    "Ona",
    "Bruno",
]
_PLACES = ["Ghent", "Lyon", "Porto", "Bergen", "Graz", "Siena", "Leeds", "Split", "Oulu", "Cork", "Turin", "Delft"]
_THINGS = (
    "a kayak",
    "the old radio",
    "new curtains",
    "a box of plums",
    "the garden shed",
    "a violin",
    "two tickets",
    "the blue bicycle",
)
_SAID = (
    "{name} came back from {place} and brought {thing}.",
    "I spent {number} euros on {thing} in {place}.",
    "On Saturday {name} and I repaired {thing}, it took {number} hours.",
    "{name} wants to move to {place} next spring.",
    "The meeting with {name} about {thing} is in room {number}.",
    "I could not sleep, so I read {number} pages about {place}.",
    "{name} thinks that {thing} belongs in {place}.",
)  # fmt: skip
_REPLIES = ("I see, thank you for telling me about {name}.", "Shall I look up trains to {place}?", "That is good news.")
QUESTION = "What is the number of my locker?"


@dataclass
class Share:
    """The users of one process, and what it found."""

    number: int
    users: list[str]
    random: np.random.Generator
    now: datetime = START
    lockers: dict[str, int] = field(default_factory=dict)
    tally: Counter[str] = field(default_factory=Counter)
    costs: list[tuple[int, int]] = field(default_factory=list)  # the week and the calls of an add
    recalls: list[tuple[int, int]] = field(default_factory=list)

    def clock(self) -> datetime:
        """Return the simulated time."""
        return self.now

    def text(self, forms: tuple[str, ...]) -> str:
        """Return a sentence of chance."""
        pick = lambda words: words[int(self.random.integers(len(words)))]  # noqa: E731 - used four times below
        number = int(self.random.integers(2, 90))
        return str(pick(forms)).format(name=pick(_NAMES), place=pick(_PLACES), thing=pick(_THINGS), number=number)


def megabytes() -> float:
    """Return the resident memory of this process."""
    line = next(row for row in Path("/proc/self/status").read_text().splitlines() if row.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main() -> None:
    """Run the processes and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=200_000)
    parser.add_argument("--users", type=int, default=500)
    parser.add_argument("--processes", type=int, default=3)
    chosen = parser.parse_args()
    context, begin = get_context("spawn"), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        barrier, results = context.Barrier(chosen.processes), context.SimpleQueue()
        shares = [
            context.Process(target=live, args=(n, chosen, folder, barrier, results)) for n in range(chosen.processes)
        ]
        for one in shares:
            one.start()
        found: list[dict[str, Any]] = []
        while len(found) < len(shares):
            told = results.get()
            if isinstance(told, str):
                print(told, flush=True)
            else:
                found.append(told)
        for one in shares:
            one.join()
        report(found, chosen.messages)
        answers = {user: answer for one in found for user, answer in one["answers"].items()}
        config = settings(folder)
        end = START + timedelta(weeks=_WEEKS)
        with NeuroGraphMemory(config, parts=build(config, clock=lambda: end)) as memory:
            same = sum(asked(memory, user, end) == answer for user, answer in answers.items())
            print(
                f"opened again: {same} of {len(answers)} answers equal, check finds {memory.admin.check() or 'nothing'}"
            )
    print(f"{time.perf_counter() - begin:.0f} s")


def settings(folder: str) -> MemoryConfig:
    """Return the settings of all processes."""
    # A machine under load may leave a process that writes without a processor for longer than the default of 10 s.
    return MemoryConfig(save_dir=folder, embedding_name="hash", runtime=RuntimeSettings(write_lock_seconds=300.0))


def live(number: int, chosen: argparse.Namespace, folder: str, barrier: Any, results: Any) -> None:  # noqa: ANN401
    """Live the year of the users of one process."""
    users = [f"user {one}" for one in range(number, chosen.users, chosen.processes)]
    share = Share(number, users, np.random.default_rng(number))
    config = settings(folder)
    sessions = round(chosen.messages / _SESSION / chosen.users * len(users))
    done, answers = 0, dict[str, Any]()
    try:
        with NeuroGraphMemory(config, parts=build(config, clock=share.clock)) as memory:
            for week in range(_WEEKS):
                until = sessions * (week + 1) // _WEEKS
                for step in range(done, until):
                    share.now = START + timedelta(weeks=week + (step - done) / max(1, until - done))
                    counted = min(step, sessions - 1 - step) * _SESSION * chosen.processes < _COUNTED
                    session(memory, share, week, counted or step - done < 5)
                done, share.now = until, START + timedelta(weeks=week + 1)
                keep(memory, share, week, chosen.processes)
                barrier.wait()
                if (week + 1) % _QUARTER == 0:
                    results.put(state(memory, share, week, folder) + ", before compaction")
                    compact(memory, share, barrier)
                    results.put(state(memory, share, week, folder) + ", after it")
                elif (week + 1) % _MONTH == 0:
                    results.put(state(memory, share, week, folder))
                barrier.wait()
            answers = {user: asked(memory, user, share.now) for user in users[:_ASKED]}
            barrier.wait()
    except BaseException:
        barrier.abort()
        raise
    finally:
        results.put({"tally": share.tally, "costs": share.costs, "recalls": share.recalls, "answers": answers})


def state(memory: NeuroGraphMemory, share: Share, week: int, folder: str) -> str:
    """Return a line on the sizes of the memory and of this process."""
    sizes = Counter[str]()
    for file in Path(folder).rglob("*"):
        sizes[file.name.split("-")[0]] += file.stat().st_size if file.is_file() else 0
    files = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sorted(sizes.items()) if size >= 100_000)
    return (
        f"week {week + 1}, process {share.number}: {megabytes():.0f} MB, {share.tally['messages']} of its messages; "
        f"{len(memory.store)} memories, {memory.store.view().live_edges().size} edges; {files}"
    )


def session(memory: NeuroGraphMemory, share: Share, week: int, counted: bool) -> None:  # noqa: FBT001
    """Have a session of one user: four messages, and what the user and the agent do with the memory."""
    random, tally = share.random, share.tally
    user = share.users[int(random.integers(len(share.users)))]
    said = [share.text(_SAID), share.text(_REPLIES), share.text(_SAID), share.text(_REPLIES)]
    if user not in share.lockers or random.random() < 0.02:
        share.lockers[user] = int(random.integers(100, 1_000_000))
        said[0] = f"From today my locker has the number {share.lockers[user]}."
    roles = ("user", "assistant")
    messages = [{"role": roles[place % 2], "content": text} for place, text in enumerate(said)]
    details: dict[str, Any] = {"user_id": user, "session_id": f"{share.now:%Y-%m-%d}"}
    if random.random() < 0.02:
        details["ttl"] = timedelta(days=20)
        del share.lockers[user]  # it may expire
    added: list[str] = []
    run = lambda: added.extend(memory.add(messages, **details))  # noqa: E731 - it is counted or not
    share.costs.append((week, calls_of(run))) if counted else run()
    tally["messages"] += len(messages)
    if random.random() < 0.5:
        question = QUESTION if user in share.lockers else said[2]
        found: list[Any] = []
        ask = lambda: found.append(memory.recall(question, user_id=user, top_n=5))  # noqa: E731
        share.recalls.append((week, calls_of(ask))) if counted else ask()
        tally["recalls"] += 1
        tally["wrong user"] += sum(one.node.scope.user_id != user for one in found[0])
        if question == QUESTION:
            right = any(str(share.lockers[user]) in one.content for one in found[0])
            tally.update({f"asked in quarter {week // _QUARTER}": 1, f"found in quarter {week // _QUARTER}": right})
        if random.random() < 0.1:
            memory.feedback(list(found[0])[:2], "success" if random.random() < 0.8 else "fail")
            tally["feedbacks"] += 1
    act = random.random()
    if act < 0.01:
        memory.update(added[2], share.text(_SAID))
        tally["updates"] += 1
    elif act < 0.02:
        tally["deletions"] += memory.delete(added[3])
    elif act < 0.03:
        undone = memory.add({"role": "user", "content": f"{share.text(_SAID)} No, wait."}, user_id=user)
        memory.undo(user_id=user)
        tally["undone"] += 1
        tally["still there after undo"] += len(memory.store.get_nodes(list(undone), missing_ok=True))


def keep(memory: NeuroGraphMemory, share: Share, week: int, processes: int) -> None:
    """Decay, and each month consolidate; the processes take turns."""
    if week % processes == share.number:
        share.tally["removed edges"] += memory.maintenance(share.now)
        share.tally["fell dormant"] += memory.energy.tick(share.now)
    if week % _MONTH == share.number:
        share.tally["consolidated"] += len(memory.learning.consolidate(share.now, max_clusters=100, progress=False))
    memory.learning.flush()


def compact(memory: NeuroGraphMemory, share: Share, barrier: Any) -> None:  # noqa: ANN401
    """Compact in one process; compare the answers of all before and after."""
    before = {user: asked(memory, user, share.now) for user in share.users[:_ASKED]}
    barrier.wait()
    if share.number == 0:
        share.tally["erased"] += memory.admin.compact(history=True)
    barrier.wait()
    for user, answer in before.items():
        share.tally["compared"] += 1
        share.tally["changed by compaction"] += asked(memory, user, share.now) != answer


def asked(memory: NeuroGraphMemory, user: str, now: datetime) -> list[tuple[str, float]]:
    """Return ids and scores of an answer; it counts as no access."""
    questions = (QUESTION, "Who wants to move to Porto?", "What did I repair?")
    answers = [memory.retriever.recall(one, user_id=user, top_n=10, now=now) for one in questions]
    return [(one.id, round(one.score, 6)) for answer in answers for one in answer]


def report(found: list[dict[str, Any]], messages: int) -> None:
    """Print the sums and the costs."""
    tally = Counter[str]()
    for one in found:
        tally.update(one["tally"])
    print(*(f"{name}: {count}" for name, count in sorted(tally.items())), sep="\n")
    share = max(1, _COUNTED // _SESSION // len(found))
    for name in ("costs", "recalls"):
        size = share if name == "costs" else share // 2
        parts = slice(size), slice(-size, None)
        first, last = (statistics.fmean(calls for one in found for _, calls in one[name][part]) for part in parts)
        print(f"calls, {name}: first {first:,.0f}, last {last:,.0f}, ratio {last / first:.2f}")
        for month in range(0, _WEEKS, _MONTH):
            inside = [calls for one in found for week, calls in one[name] if month <= week < month + _MONTH]
            if inside:
                print(f"  weeks {month + 1}–{month + _MONTH}: {statistics.median(inside):,.0f} ({len(inside)})")
    print(f"messages: {messages:,} wanted")


if __name__ == "__main__":
    main()
