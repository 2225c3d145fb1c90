"""Measure what a memory reads from ordinary speech, what it settles, what it asks, and how long that takes.

    python -m benchmarks.knowledge all --data FOLDER [--half test] [--set second] [--verbose]

Our own texts in `benchmarks/data` have two halves with other topics and words. Nothing may be tuned on the half `test`,
so its failures are not printed. No rule was written after either half of the second set of pairs and sentences.
The folder has `vault_train.jsonl`, `beam_odd.json`, `locomo_conv0-4.json`, `sick_train.tsv` and `cdconv_dev.tsv`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks import messages as messages_of_others
from benchmarks.context import PLACE, fill, messages, user_of
from benchmarks.spoken import facts_of, matches, rows, wrapped
from benchmarks.vault_sentences import sentence
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.compose import build
from neurogated.core.conflicts import Conflict
from neurogated.core.facts import Fact

START = datetime(2025, 3, 3, 9, tzinfo=UTC)
_KINDS = {
    "CONTRADICTION": "contradiction",
    "TEMPORAL_SUPERSESSION": "supersession",
    "REFINEMENT": "refinement",
    "DUPLICATE": "duplicate",
    "INDEPENDENT": "independent",
}
ASKED_CATEGORIES = ("contradiction_resolution", "knowledge_update")
_SENTENCES = 1000
PREFIXES = {"first": "", "second": "second_"}
"""The beginning of the names of the tables of each set of pairs and sentences."""


def share(part: int, whole: int) -> str:
    return f"{part}/{whole} = {100 * part / whole:.1f} %" if whole else "none"


def opened(embedding: str = "hash") -> NeuroGraphMemory:
    """Return an empty memory. Claims need no embedding; recalls do."""
    return NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name=embedding))


class Pairs:
    """Writes pairs of messages, each for a user of its own."""

    def __init__(self, memory: NeuroGraphMemory) -> None:
        self._memory = memory
        self._users = 0

    def written(self, earlier: str, later: str, days: int) -> list[Conflict]:
        """Return the conflicts after two messages of one user, days apart."""
        user = f"user {self._users}"
        self._users += 1
        for place, content in enumerate(self._told(earlier, later, days)):
            session = f"{user}, {place * bool(days)}"
            self._memory.add({"role": "user", **content}, user_id=user, session_id=session)
        return self._memory.conflicts.list(None, user_id=user)

    def compared(self, earlier: str, later: str, days: int) -> str:
        """Return how `compare` calls two messages: its kind and outcome, or none."""
        relation = self._memory.conflicts.compare(*self._told(earlier, later, days))
        return f"{relation.kind.value}, {relation.outcome}" if relation.is_conflict else "none"

    @staticmethod
    def _told(earlier: str, later: str, days: int) -> Iterator[dict[str, Any]]:
        after = timedelta(days=days, minutes=10)
        for text, moment in ((earlier, START), (later, START + after)):
            yield {"content": text, "timestamp": moment}


def verdict(conflicts: list[Conflict]) -> str:
    """Return `asked` with an open conflict, `settled` with resolved ones only, else `none`."""
    if any(one.status == "open" for one in conflicts):
        return "asked"
    return "settled" if conflicts else "none"


def recorded(conflicts: list[Conflict]) -> str:
    """Return the kind and outcome of the first conflict of two messages, or none."""
    return f"{conflicts[-1].kind.value}, {conflicts[-1].outcome}" if conflicts else "none"


def measure_pairs(half: str, prefix: str, *, verbose: bool) -> None:
    """Pairs of statements, bare and in wrappings; `compare` against the write path."""
    count = Counter[str]()
    with opened() as memory:
        pairs = Pairs(memory)
        for language, expected, days, earlier, later in rows(f"{prefix}pairs_{half}"):
            bare = pairs.written(earlier, later, int(days))
            found = verdict(bare)
            count.update(
                (f"{expected}", f"{expected} {found}", f"{language} {expected}", f"{language} {expected} {found}")
            )
            count.update(("both ways", f"same way {pairs.compared(earlier, later, int(days)) == recorded(bare)}"))
            wrappings = list(wrapped(language, half, earlier, later))
            verdicts = [(verdict(pairs.written(*texts, int(days))), texts) for texts in wrappings]
            for other, texts in verdicts:
                count.update((f"wrapped {expected} {other}", f"wrapped {expected}"))
                count.update(("wrapped", f"{language} wrapped", f"wrapped where {found}"))
                count.update(("same", f"{language} same", f"same where {found}") if other == found else ())
                if verbose and half == "dev" and other != found:
                    print(f"  {found} -> {other} in: {' // '.join(texts)}")
            wanted = {"contradiction": {"asked", "settled"}, "change": {"settled"}, "none": {"none"}}[expected]
            if verbose and half == "dev" and found not in wanted:
                print(f"  {expected} is {found}: {earlier} // {later}")
    print(f"{prefix}pairs, {half}: {_pairs(count, '')}")
    of_found = [sum(count[f"{name} where {one}"] for one in ("asked", "settled")) for name in ("same", "wrapped")]
    same = f"{share(count['same'], count['wrapped'])}, where a conflict is found {share(*of_found)}"
    print(f"  in wrappings: verdict the same {same}; {_pairs(count, 'wrapped ')}")
    for language in ("en", "zh", "de", "es"):
        same = share(count[f"{language} same"], count[f"{language} wrapped"])
        print(f"  {language}: {_pairs(count, f'{language} ')}, the same in wrappings {same}")
    print(f"  compare = write path {share(count['same way True'], count['both ways'])}")


def _pairs(count: Counter[str], prefix: str) -> str:
    def all_of(expected: str, *verdicts: str) -> int:
        return sum(count[f"{prefix}{expected} {one}"] for one in verdicts)

    whole = {one: count[f"{prefix}{one}"] for one in ("contradiction", "change", "none")}
    found = sum(all_of(one, "asked", "settled") for one in ("contradiction", "change"))
    return (
        f"found {share(found, whole['contradiction'] + whole['change'])}, "
        f"flagged {share(all_of('none', 'asked', 'settled'), whole['none'])}, "
        f"changes settled {share(all_of('change', 'settled'), whole['change'])}"
    )


def measure_facts(half: str, prefix: str, *, verbose: bool) -> None:
    """Facts that are read from single sentences about oneself."""
    count = Counter[str]()
    with opened() as memory:
        for number, (language, text, told) in enumerate(rows(f"{prefix}sentences_{half}")):
            user, expected = f"user {number}", facts_of(told)
            memory.add({"role": "user", "content": text, "timestamp": START}, user_id=user, session_id=user)
            found = memory.facts.list(user_id=user)
            right = [fact for fact in found if any(matches(fact, one) for one in expected)]
            missed = [one for one in expected if one.is_required and not any(matches(fact, one) for fact in found)]
            count[f"{language} found"] += len(found)
            count[f"{language} right"] += len(right)
            count[f"{language} there"] += sum(one.is_required for one in expected)
            count[f"{language} missed"] += len(missed)
            if verbose and half == "dev" and (missed or len(right) < len(found)):
                print(f"  {text} read as {[_parts(fact) for fact in found]}, expected {told or 'nothing'}")
    print(f"{prefix}facts, {half}: {_facts(count, 'en', 'zh')}; en: {_facts(count, 'en')}; zh: {_facts(count, 'zh')}")


def _parts(fact: Fact) -> str:
    return f"{fact.subject}|{fact.attribute}|{fact.value}"


def _facts(count: Counter[str], *languages: str) -> str:
    found, right, there, missed = (
        sum(count[f"{language} {name}"] for language in languages) for name in ("found", "right", "there", "missed")
    )
    return f"precision {share(right, found)}, recall {share(there - missed, there)}"


def measure_chats(half: str, _prefix: str, *, verbose: bool) -> None:
    """Questions about slots that changed in a chat of two weeks, of which there is one set."""
    count = Counter[str]()
    table = rows(f"chats_{half}")
    with opened(MemoryConfig().embedding_name) as memory:
        for place, (chat, day, text, value) in enumerate(table):
            if day.isdigit():
                moment = START + timedelta(days=int(day), minutes=place)
                message = {"role": "user", "content": text, "timestamp": moment}
                memory.add(message, user_id=chat, session_id=f"{chat}, {day}")
                continue
            ids = memory.recall(text, user_id=chat).ids
            first = memory.get(ids[0]).content if ids else ""
            count.update((f"{day} all", f"{chat} {day} all"))
            if value in first:
                count.update((day, f"{chat} {day}"))
            elif verbose and half == "dev":
                print(f"  {text} {first} (not {value})")
    for chat in ("", *dict.fromkeys(f"{row[0]} " for row in table)):
        now, before = (share(count[f"{chat}{day}"], count[f"{chat}{day} all"]) for day in ("now", "before"))
        print(f"chats, {half} {chat}: standing value first {now}, earlier value first {before}")


def measure_ghent() -> None:
    """Ways to say that one lives in Ghent no longer."""
    with opened() as memory:
        pairs = Pairs(memory)
        count = Counter(verdict(pairs.written(earlier, later, 30)) for _, earlier, later in rows("ghent_test"))
    print(f"Ghent: found {share(count.total() - count['none'], count.total())}, settled {count['settled']}")


def measure_vault(data: Path) -> None:
    """Five relations of vault-bench, as triples and as sentences whose sides are worded differently."""
    pairs = [json.loads(line) for line in (data / "vault_train.jsonl").read_text(encoding="utf-8").splitlines()]
    for form in ("triples", "sentences"):
        count = Counter[str]()
        with opened() as memory:
            for pair in pairs:
                sides = [
                    _vault_side(fact, pair["id"], n, form) for n, fact in enumerate((pair["existing"][0], pair["new"]))
                ]
                relation, expected = memory.conflicts.compare(*sides), _KINDS[pair["expected_relation"]]
                count.update(("all", f"{expected} all", *[f"{expected} flagged"] * relation.is_conflict))
                count.update([f"{expected} right", "right"] * (relation.kind.value == expected))
        kinds = ", ".join(f"{one} {share(count[f'{one} right'], count[f'{one} all'])}" for one in _KINDS.values())
        others = list(_KINDS.values())[2:]
        alarms = ", ".join(f"{one} {share(count[f'{one} flagged'], count[f'{one} all'])}" for one in others)
        print(f"vault, {form}: right {share(count['right'], count['all'])} ({kinds}); false alarms: {alarms}")


def _vault_side(fact: Mapping[str, str], key: str, side: int, form: str) -> Mapping[str, str]:
    return fact if form == "triples" else {"content": sentence(fact, key, side), "timestamp": fact["asserted_at"]}


def measure_beam(data: Path) -> None:
    """Contradictions and updates in chats with an assistant, written message by message."""
    count = Counter[str]()
    for chat in json.loads((data / "beam_odd.json").read_text(encoding="utf-8")):
        asked = [one for one in chat["questions"] if one["category"] in ASKED_CATEGORIES]
        statements = [[set(ids) for ids in one["statements"].values()] for one in asked]
        told = set[int]().union(*(ids for sides in statements for ids in sides))
        with opened() as memory:
            fill(memory, [chat])
            pairs = list(messages_in_conflict(memory, user_of(chat)))
        for first, second in statements:
            count["questions"] += 1
            count["either"] += any((one | other) & (first | second) for one, other in pairs)
            count["both"] += any(
                (one & first and other & second) or (one & second and other & first) for one, other in pairs
            )
        others = {one["id"] for one in chat["messages"] if one["role"] == "user"} - told
        count["others"] += len(others)
        count["flagged"] += len(others & set[int]().union(*(later for _, later in pairs)))
    either = share(count["either"], count["questions"])
    print(f"BEAM: either statement found {either}, both in one conflict {count['both']},")
    print(f"  other messages of users flagged {share(count['flagged'], count['others'])}")


def messages_in_conflict(memory: NeuroGraphMemory, user: str) -> Iterator[tuple[set[int], set[int]]]:
    """Yield the places of the messages of both sides of each conflict."""
    sources = {fact.id: fact.sources for fact in memory.facts.list(user_id=user)}
    for conflict in memory.conflicts.list(None, user_id=user):
        earlier, later = (
            {int(memory.get(one).metadata[PLACE]) for one in sources.get(side) or (side,)} for side in conflict.sides
        )
        yield earlier, later


def measure_locomo(data: Path) -> None:
    """Conflicts in conversations of two persons."""
    count = Counter[str]()
    for conversation in json.loads((data / "locomo_conv0-4.json").read_text(encoding="utf-8")):
        with opened() as memory:
            fill(memory, [conversation])
            found = memory.conflicts.list(None, user_id=user_of(conversation))
        count.update(one.status for one in found)
        count["turns"] += sum(1 for _ in messages(conversation))
    print(f"LoCoMo: turns that raise a question {share(count['open'], count['turns'])}, settled {count['resolved']}")


def measure_texts(data: Path) -> None:
    """Pairs of texts of SICK and CDConv, which no rule was written for."""
    table = [line.split("\t") for line in (data / "sick_train.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    _texts("SICK", ((first, second, label == "contradiction") for _, first, second, label, _ in table))
    table = [line.split("\t") for line in (data / "cdconv_dev.tsv").read_text(encoding="utf-8").splitlines()[1:]]
    _texts("CDConv", ((first, second, label != "0") for _, first, _, second, label in table))


def _texts(name: str, pairs: Iterator[tuple[str, str, bool]]) -> None:
    with opened() as memory:
        count = Counter(
            (expected, memory.conflicts.compare(first, second).is_conflict) for first, second, expected in pairs
        )
    found, flagged = (share(count[one, True], count[one, True] + count[one, False]) for one in (True, False))
    print(f"{name}: found {found}, flagged {flagged}")


def measure_document() -> None:
    """A long document about oneself, added at once."""
    places, things = (
        ("Lyon", "Oslo", "York", "Bonn", "Graz", "Porto"),
        ("tea", "jazz", "chess", "olives", "rain", "trains"),
    )
    wordings = (
        "I live in {place}, house {n}.",
        "I like {thing} number {n}.",
        "I don't eat {thing} with {n} spices.",
        "In {n} I worked at the {thing} shop in {place}.",
        "My friend number {n} lives in {place}.",
        "I have never been to the {thing} museum {n}.",
    )
    said = [
        wordings[n % len(wordings)].format(place=places[n % len(places)], thing=things[n // 7 % len(things)], n=n)
        for n in range(_SENTENCES)
    ]
    embedder = messages_of_others.Timed()
    with tempfile.TemporaryDirectory() as folder:
        config = MemoryConfig(save_dir=folder, embedding_name="hash")
        with NeuroGraphMemory(config, parts=replace(build(config), embedder=embedder)) as memory:
            begin, used = time.perf_counter(), time.thread_time()
            ids = memory.add_document(" ".join(said), user_id="user")
            took, worked = time.perf_counter() - begin - embedder.took, time.thread_time() - used - embedder.worked
    took, worked = 1000 * took / len(ids), 1000 * worked / len(ids)
    print(
        f"a document of {_SENTENCES} sentences: {took:.1f} ms a chunk, {worked:.1f} of the processor; {len(ids)} chunks"
    )


def measure_message(data: Path) -> None:
    """One message added to 100,000 memories."""
    messages_of_others.main(["--conversations", str(data / "locomo_conv0-4.json")])


SPOKEN: dict[str, Callable[..., None]] = {"pairs": measure_pairs, "facts": measure_facts, "chats": measure_chats}
PUBLIC: dict[str, Callable[[Path], None]] = {
    "vault": measure_vault,
    "beam": measure_beam,
    "locomo": measure_locomo,
    "texts": measure_texts,
    "message": measure_message,
}
PLAIN: dict[str, Callable[[], None]] = {"ghent": measure_ghent, "document": measure_document}


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure what a memory knows from ordinary speech.")
    parser.add_argument("measures", nargs="+", choices=("all", *SPOKEN, *PUBLIC, *PLAIN))
    parser.add_argument("--data", type=Path, default=Path("data"), help="folder of the public sets")
    parser.add_argument("--half", choices=("dev", "test"), default="dev", help="which half of our own texts")
    parser.add_argument("--set", choices=PREFIXES, default="first", help="which set of our pairs and sentences")
    parser.add_argument("--verbose", action="store_true", help="print the failures of the half `dev`")
    arguments = parser.parse_args()
    for name in (*SPOKEN, *PLAIN, *PUBLIC) if "all" in arguments.measures else arguments.measures:
        if name in SPOKEN:
            SPOKEN[name](arguments.half, PREFIXES[arguments.set], verbose=arguments.verbose)
        elif name in PUBLIC:
            PUBLIC[name](arguments.data)
        else:
            PLAIN[name]()


if __name__ == "__main__":
    main()
