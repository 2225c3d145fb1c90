"""Two weeks of a chat with six changes, in each of four languages, read by a model that knows the answers.

    python -m benchmarks.two_weeks [--held] [--language de] [--without]

The chats of `benchmarks/data` are our own. Rules may be tuned on `two_weeks.json`, but not on `two_weeks_held.json`
(`--held`), which was written before the rules. A server tells a memory with the default settings, over HTTP, what each
message says, and how two messages on one thing relate. The figures are the most that a perfect model lets a memory
reach. With `--without`, no model reads the chats.

* *standing first*: for a question such as "Where do I work?", the later message stands above the earlier one.
* *earlier first*: for the question with "before", the earlier message stands above the later one.
* *other first*: for a question about another thing that the earlier message says, it stands above the later one.
* *marks*: those of all recalls and contexts, by models (`since changed`) and by likeness (`later`). One is right on the
  earlier message of a change if it shows the later one, or its day.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.knowing_model import Known, Told, serving
from benchmarks.said import LANGUAGES, MARKS, Message, count_marks, lines_of, plain, table_row
from neurogated import MemoryConfig, NeuroGraphMemory

FOLDER = Path(__file__).parent / "data"
USER, NOW = "somebody", "2026-03-16T12:00:00Z"
KINDS = ("standing first", "earlier first", "other first")
COLUMNS = ("changes", *KINDS, "others", *MARKS)

Chat = Mapping[str, Any]
"""`messages`: days of March 2026 with texts; `changes`: an attribute, the number of the earlier message and its value,
those of the later one, the question, the question with "before", and perhaps a question about another thing that the
earlier message says."""


def chats(*, held: bool = False) -> dict[str, Chat]:
    file = FOLDER / ("two_weeks_held.json" if held else "two_weeks.json")
    return dict(json.loads(file.read_text(encoding="utf-8")))


def messages_of(chat: Chat) -> list[Message]:
    """Return the messages of a chat; those of a change have ids such as `home earlier`."""
    sides: dict[int, str] = {}
    for name, earlier, _, later, *_ in chat["changes"]:
        key = name.replace(" ", "_")
        sides |= {earlier: f"{key} earlier", later: f"{key} later"}
    return [
        Message(sides.get(number, f"message_{number}"), f"2026-03-{day:02}", text)
        for number, (day, text) in enumerate(chat["messages"])
    ]


def answers_of(chat: Chat) -> tuple[list[Known], list[Told]]:
    """Return what a perfect model knows of a chat."""
    texts, facts, known = [text for _, text in chat["messages"]], dict[int, tuple[str, str, str, str]](), []
    for name, earlier, old, later, new, *_ in chat["changes"]:
        facts |= {earlier: ("user", name, old, "holds"), later: ("user", name, new, "begins")}
        known.append(Known(texts[earlier], texts[later], "changed"))
    return known, [Told(text, [facts[number]] if number in facts else []) for number, text in enumerate(texts)]


def first_of(memory: NeuroGraphMemory, question: str, texts: tuple[str, str]) -> str:
    """Return which of two texts a question recalls first; "" if neither."""
    found = [plain(one.content) for one in memory.recall(question, user_id=USER, top_n=10, now=NOW)]
    return next((text for text in found if text in texts), "")


def measured(chat: Chat, settings: Mapping[str, Any], misses: list[str]) -> Counter[str]:
    """Return the figures of a chat in a memory with these settings."""
    messages = messages_of(chat)
    others = sum(len(change) > 5 + len(KINDS) - 1 for change in chat["changes"])
    tally, lines = Counter(changes=len(chat["changes"]), others=others), []
    with (
        tempfile.TemporaryDirectory() as folder,
        NeuroGraphMemory(MemoryConfig.from_mapping({"save_dir": folder, **settings})) as memory,
    ):
        for message in messages:
            said = {"role": message.role, "content": message.text}
            memory.add(said, user_id=USER, session_id=message.at, timestamp=f"{message.at}T09:00:00Z")
        if left := memory.flush():
            raise RuntimeError(f"{left} memories wait for the model")
        memory.learning.freeze(lasting=False)
        for _, earlier, _, later, _, *asked in chat["changes"]:
            texts = plain(messages[earlier].text), plain(messages[later].text)
            for kind, question, right in zip(KINDS, asked, (texts[1], texts[0], texts[0]), strict=False):
                is_right = first_of(memory, question, texts) == right
                tally[kind] += is_right
                misses += [] if is_right else [f"not {kind}: {question}"]
        questions = [question for change in chat["changes"] for question in change[5:]]
        for question in (*questions, *(message.text for message in messages)):
            recall = memory.recall(question, user_id=USER, top_n=10, now=NOW)
            context = memory.get_context(question, token_budget=500, user_id=USER, now=NOW)
            lines += [line for text in (recall.as_text(), context.text) for line in lines_of(text, messages)]
    count_marks(tally, lines, messages, misses)
    return tally


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--language", choices=LANGUAGES)
    parser.add_argument("--held", action="store_true", help="measure the chats that no rule was tuned on")
    parser.add_argument("--without", action="store_true", help="measure without a model")
    chosen = parser.parse_args()
    print(table_row("language", *COLUMNS), table_row(*["---"] * (len(COLUMNS) + 1)), sep="\n")
    total, misses = Counter[str](), list[str]()
    for language, chat in chats(held=chosen.held).items():
        if chosen.language in {None, language}:
            if chosen.without:
                tally = measured(chat, {}, misses)
            else:
                with serving(*answers_of(chat)) as server:
                    tally = measured(chat, server, misses)
            total.update(tally)
            print(table_row(language, *(tally[column] for column in COLUMNS)))
    print(table_row("all", *(total[column] for column in COLUMNS)), *misses, sep="\n")


if __name__ == "__main__":
    main()
