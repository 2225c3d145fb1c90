"""What people said: changes, everyday questions, questions without an answer, and requests for advice.

    python -m benchmarks.said [changes|everyday|never|advice|all] [--split dev|test|second] [--misses]

The texts of `benchmarks/data/said` are our own. Settings, constants and rules may be tuned on the split `dev`. Never
tune on the split `test`, and do not read its misses: measure it once, when a change is finished. The changes of the
split `second` were written by somebody else, after the rules for links, which were not tuned on them.

Each set of messages is a memory with the default settings in a temporary folder: one user, one session a day, messages
added one at a time. Everything is measured through the public interface. The memory is frozen during the questions.

* `changes`: the newer message is above the older one among ten; the words of both are in a context of 250 tokens; the
  newer one is in a context of 2,000. Recalls of every message and every question show the marks. A mark is *right* if
  it stands on the older message of a pair and shows the newer one, *wrong* if it stands on a message of a pair and
  shows another, and else *on others*.
* `everyday`: a message with the answer is among the first three.
* `never`: the area under the curve of `Recall.confidence` for questions with and without an answer, with the 95 %
  interval of a bootstrap. A build without this attribute is measured by the score of the best memory.
* `advice`: the share of the messages that a good answer must respect.

A line of a context is *derived* if it has neither all words of a message nor whole sentences of one. Its day and its
speaker must stand outside the words of its message and outside its mark.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated import MemoryConfig, NeuroGraphMemory, Recall

FOLDER = Path(__file__).parent / "data" / "said"
SPLITS = ("dev", "test", "second")
LANGUAGES = ("en", "de", "es", "zh")
NOW = "2026-11-28T12:00:00Z"  # after the last message
USER = "somebody"
_MARK = re.compile(r"\((?:later|since changed)\b(?:[^()]|\([^()]*\))*\)", re.IGNORECASE)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_DAY = re.compile(rf"\b\d{{1,2}} (?:{_MONTHS}) \d{{4}}\b|\b\d{{4}}-\d{{2}}-\d{{2}}\b")
_SPEAKER = re.compile(r"\b(?:user|assistant)\b", re.IGNORECASE)
_SENTENCE_END = ".!?。！？"
LINES = ("lines", "undated", "no speaker", "derived")
MARKS = ("marks right", "marks wrong", "marks on others")
_SAMPLES, _BINS = 2000, 10


@dataclass(frozen=True, slots=True)
class Message:
    """A message of the user, or a reply of the assistant."""

    id: str
    at: str  # a day, or a day and a time, as in `2026-11-05 20:15`
    text: str
    role: str = "user"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a text for a prompt."""

    message: str  # the id of the message that it quotes, or nothing if it is derived
    marks: list[str]
    is_dated: bool
    has_speaker: bool


def data(name: str) -> Any:  # noqa: ANN401 - as the file has it
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def messages_of(rows: Sequence[dict[str, Any]]) -> list[Message]:
    return [Message(row["id"], row["at"], row["text"], row["role"]) for row in rows]


def changed_messages(split: str, language: str) -> tuple[list[Message], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return all messages of a language in a split, its pairs, and its questions about single messages."""
    parts = data("changes")
    pairs, neutral, single = (
        [row for row in parts[part] if row["split"] == split and row["language"] == language]
        for part in ("pairs", "neutral", "single")
    )
    found = [Message(f"{row['id']} {side}", *row[side]) for row in pairs for side in ("earlier", "later")]
    found += [Message(row["id"], row["date"], row["text"]) for row in (*neutral, *single)]
    return found, pairs, single


@contextmanager
def memory_of(messages: Sequence[Message]) -> Iterator[NeuroGraphMemory]:
    """Open a memory with the default settings that has these messages, and freeze it."""
    with tempfile.TemporaryDirectory() as folder, NeuroGraphMemory(MemoryConfig(save_dir=folder)) as memory:
        for message in sorted(messages, key=lambda one: one.at):
            day, _, time = message.at.partition(" ")
            said = {"role": message.role, "content": message.text}
            memory.add(said, user_id=USER, session_id=day, timestamp=f"{day}T{time or '09:00'}:00Z")
        memory.learning.freeze(lasting=False)
        yield memory


def plain(text: str) -> str:
    return " ".join(text.split())


def context_of(memory: NeuroGraphMemory, question: str, tokens: int) -> str:
    return memory.get_context(question, token_budget=tokens, user_id=USER, now=NOW).text


def recalled(memory: NeuroGraphMemory, question: str) -> Recall:
    return memory.recall(question, user_id=USER, top_n=10, now=NOW)


def ranked(memory: NeuroGraphMemory, question: str, messages: Sequence[Message]) -> list[str]:
    """Return the ids of the messages that a question recalls, best first."""
    ids = {plain(message.text): message.id for message in messages}
    return [ids.get(plain(one.content), "") for one in recalled(memory, question)]


def _is_excerpt(part: str, whole: str) -> bool:
    """Return whether a part is one or more whole sentences of a text."""
    start = whole.find(part)
    if not part or start < 0:
        return False
    before, end = whole[:start].rstrip(), whole[start + len(part) :].lstrip()
    return (not before or before[-1] in _SENTENCE_END) and (not end or part[-1] in _SENTENCE_END)


def _read(entry: str, messages: Sequence[Message]) -> Line:
    bare = plain(_MARK.sub(" ", entry))
    message, rest = "", bare
    for one in sorted(messages, key=lambda one: -len(one.text)):
        text = plain(one.text)
        if text in bare:
            message, rest = one.id, bare.replace(text, " ", 1)
            break
    else:
        head, _, body = bare.partition(": ")
        parts = [part.strip() for part in body.split("…") if part.strip()]
        for one in messages:
            if parts and all(_is_excerpt(part, plain(one.text)) for part in parts):
                message, rest = one.id, head
    return Line(message, _MARK.findall(entry), bool(_DAY.search(rest)), bool(_SPEAKER.search(rest)))


def lines_of(text: str, messages: Sequence[Message]) -> list[Line]:
    """Return the lines of a text for a prompt, without its headings."""
    entries: list[str] = []
    for line in text.splitlines():
        if line.startswith("- "):
            entries.append(line)
        elif entries and line.startswith("  "):
            entries[-1] += line
    return [_read(entry, messages) for entry in entries]


def shown(mark: str, messages: Sequence[Message]) -> set[str]:
    """Return the ids of the messages that a mark can mean: by its words, or by its day if it quotes none."""
    head, _, words = plain(mark[1:-1]).partition(": ")
    if not head.startswith("later"):
        head, words = words, ""
    if parts := [part for part in (one.strip(" \"'“”") for one in words.replace("...", "…").split("…")) if part]:
        return {one.id for one in messages if all(part in plain(one.text) for part in parts)}
    days = {one.id: date.fromisoformat(one.at[:10]) for one in messages}
    return {name for name, day in days.items() if f"{day.day} {day:%B %Y}" in head or str(day) in head}


def count_lines(tally: Counter[str], lines: Sequence[Line]) -> None:
    tally["lines"] += len(lines)
    tally["undated"] += sum(not line.is_dated for line in lines)
    tally["no speaker"] += sum(not line.has_speaker for line in lines)
    tally["derived"] += sum(not line.message for line in lines)


def count_marks(tally: Counter[str], lines: Sequence[Line], messages: Sequence[Message], misses: list[str]) -> None:
    """Count each mark of each message once."""
    for message, mark in sorted({(line.message, mark) for line in lines for mark in line.marks}):
        pair, _, side = message.partition(" ")
        found, later = shown(mark, messages), f"{pair} later"
        # What a model read as changed is marked with a day, on which others may have been said.
        if side == "earlier" and (found == {later} or (later in found and not mark.startswith("(later"))):
            tally["marks right"] += 1
        else:
            tally["marks wrong" if side else "marks on others"] += 1
            misses.append(f"mark on {message or 'a derived line'}: {mark}")


def changes(split: str) -> list[str]:
    columns = ("pairs", "newer above older", "both in 250", "newer in 2,000", *LINES, *MARKS)
    print(table_row("language", *columns), table_row(*["---"] * (len(columns) + 1)), sep="\n")
    total: Counter[str] = Counter()
    misses: list[str] = []
    for language in LANGUAGES:
        messages, pairs, single = changed_messages(split, language)
        texts = {message.id: plain(message.text) for message in messages}
        tally: Counter[str] = Counter(pairs=len(pairs))
        seen: list[Line] = []
        with memory_of(messages) as memory:
            for row in (*pairs, *single):
                question = row["question"]
                small, large = (context_of(memory, question, tokens) for tokens in (250, 2000))
                lines = [line for text in (small, large) for line in lines_of(text, messages)]
                count_lines(tally, lines)
                seen += lines
                if row in single:
                    total["single"] += 1
                    total["single quoted"] += texts[row["id"]] in plain(large)
                    continue
                older, newer = f"{row['id']} earlier", f"{row['id']} later"
                order = ranked(memory, question, messages)
                results = {
                    "newer above older": newer in order and older not in order[: order.index(newer)],
                    "both in 250": texts[older] in plain(small) and texts[newer] in plain(small),
                    "newer in 2,000": texts[newer] in plain(large),
                }
                tally.update(name for name, holds in results.items() if holds)
                misses += [f"{row['id']} not {name}" for name, holds in results.items() if not holds]
            for asked in (*(row["question"] for row in pairs), *(message.text for message in messages)):
                seen += lines_of(recalled(memory, asked).as_text(), messages)
        count_marks(tally, seen, messages, misses)
        total.update(tally)
        print(table_row(language, *(tally[column] for column in columns)))
    print(table_row("all", *(total[column] for column in columns)))
    if total["single"]:
        print(f"Single messages quoted in 2,000 tokens: {total['single quoted']} of {total['single']}")
    return misses


def everyday(split: str) -> list[str]:
    part = data("everyday")[split]
    messages = messages_of(part["messages"])
    tally: Counter[str] = Counter()
    misses = []
    with memory_of(messages) as memory:
        for row in part["questions"]:
            if set(row["evidence"]) & set(ranked(memory, row["question"], messages)[:3]):
                tally["found"] += 1
            else:
                misses.append(f"not in the first three: {row['question']} {row['evidence']}")
            for tokens in (250, 2000):
                count_lines(tally, lines_of(context_of(memory, row["question"], tokens), messages))
    print(f"Evidence among the first three: {tally['found']} of {len(part['questions'])}")
    print("Contexts of 250 and 2,000 tokens:", ", ".join(f"{name} {tally[name]}" for name in LINES))
    return misses


def area(said: NDArray[np.float64], never: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve: the chance that a question with an answer has the larger value."""
    larger, equal = said[:, None] > never, said[:, None] == never
    return float((larger + equal / 2).mean())


def interval(said: NDArray[np.float64], never: NDArray[np.float64]) -> tuple[float, float]:
    chance = np.random.default_rng(0)
    areas = [area(chance.choice(said, said.size), chance.choice(never, never.size)) for _ in range(_SAMPLES)]
    low, high = np.quantile(areas, (0.025, 0.975))
    return float(low), float(high)


def never_said(split: str) -> list[str]:
    part = data("never_said")[split]
    messages = messages_of(part["messages"])
    values: dict[tuple[str, str], list[float]] = {}
    sources, answers, found = set(), [], 0
    with memory_of(messages) as memory:
        for kind in ("said", "never"):
            for row in part[kind]:
                recall = recalled(memory, row["question"])
                confidence = getattr(recall, "confidence", None)
                sources.add("the score of the best memory" if confidence is None else "Recall.confidence")
                value = (recall[0].score if len(recall) else 0.0) if confidence is None else float(confidence)
                values.setdefault((kind, row["language"]), []).append(value)
                answers.append((value, kind, row["question"]))
                evidence = {plain(one.text) for one in messages if one.id in row.get("evidence", ())}
                found += bool(evidence & {plain(one.content) for one in list(recall)[:3]})
    print("Measured:", ", ".join(sorted(sources)))
    print(f"Evidence among the first three of the questions with an answer: {found} of {len(part['said'])}")
    for name in ("all", *LANGUAGES):
        languages = LANGUAGES if name == "all" else (name,)
        said, never = (np.concatenate([values[kind, one] for one in languages]) for kind in ("said", "never"))
        low, high, sizes = *interval(said, never), f"{said.size} + {never.size}"
        print(f"Area under the curve, {name}: {area(said, never):.3f} [{low:.2f}, {high:.2f}] ({sizes})")
    print(table_row("bin", "questions", "mean value", "with an answer, %"), table_row(*["---"] * 4), sep="\n")
    for index in range(_BINS):
        inside = [(value, kind) for value, kind, _ in answers if min(int(max(value, 0.0) * _BINS), _BINS - 1) == index]
        if inside:
            share = 100 * np.mean([kind == "said" for _, kind in inside])
            mean = np.mean([value for value, _ in inside])
            name = f"{index / _BINS:.1f}–{(index + 1) / _BINS:.1f}"
            print(table_row(name, len(inside), f"{mean:.2f}", f"{share:.0f}"))
    return [f"{value:.2f} {kind}: {question}" for value, kind, question in sorted(answers)]


def advice(split: str) -> list[str]:
    messages = messages_of(data("never_said")[split]["messages"])
    texts = {message.id: plain(message.text) for message in messages}
    tally: Counter[str] = Counter()
    misses = []
    with memory_of(messages) as memory:
        for row in data("advice")[split]:
            order = ranked(memory, row["request"], messages)
            contexts = {tokens: plain(context_of(memory, row["request"], tokens)) for tokens in (500, 1000)}
            for need in row["needs"]:
                places = {f"get_context of {tokens:,} tokens": texts[need] in text for tokens, text in contexts.items()}
                places["recall, first ten"] = need in order
                tally.update({"needs": 1} | places)
                misses += [f"{row['request']} {need} not in {place}" for place, found in places.items() if not found]
    for place, count in list(tally.items())[1:]:
        print(f"Needed messages in {place}: {count} of {tally['needs']} ({100 * count / tally['needs']:.0f} %)")
    return misses


def table_row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"


PARTS = {"changes": changes, "everyday": everyday, "never": never_said, "advice": advice}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=(*PARTS, "all"))
    parser.add_argument("--split", choices=SPLITS, default="dev")
    parser.add_argument("--misses", action="store_true", help="list what was missed; for the split dev only")
    chosen = parser.parse_args()
    if chosen.misses and chosen.split != "dev":
        parser.error("only the misses of the split dev are for reading: tune on it alone")
    if chosen.split == "second" and chosen.part != "changes":
        parser.error("the split second has changes only")
    for name in PARTS if chosen.part == "all" else (chosen.part,):
        print(f"\n## {name} ({chosen.split})\n")
        misses = PARTS[name](chosen.split)
        if chosen.misses:
            print(*misses, sep="\n")


if __name__ == "__main__":
    main()
