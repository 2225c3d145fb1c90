"""What the name of a speaker does to later-links: cosines of named messages, and first memories of small chats.

    python -m benchmarks.named_messages locomo_conv0-4.json

The first table has the messages of one speaker of each of two chats: the mean cosine of their pairs, how many reach the
bound of later-links, and the distance from the cosines of the words alone. The second has memories of 20 messages, four
of each of five sessions in a row of three chats, those with evidence first. All their questions are asked of which the
evidence is there: how often the first memory, and one of three, is evidence, with later-links and without.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.context import messages, questions
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.rendering import said_by
from neurogated.retrieval import replaced
from neurogated.session.compose import build_text_embedder

_MESSAGES, _SESSIONS, _OF_EACH = 150, 5, 4
_BOUND = 0.65


def cosines(sample: Mapping[str, Any]) -> None:
    """Print the cosines of the messages of the first speaker: of their words, as they are embedded, and corrected."""
    said = [message for message, *_ in messages(sample)]
    name = said[0]["name"]
    texts = [one["content"] for one in said if one["name"] == name][:_MESSAGES]
    embed = build_text_embedder(MemoryConfig(storage="memory")).embed_documents
    pairs = np.triu_indices(len(texts), 1)
    words, named = embed(texts), embed([said_by(name, text) for text in texts])
    alone = (words @ words.T)[pairs]
    rows = {"words alone": alone, "as embedded": (named @ named.T)[pairs]}
    for label in (said_by(name), f"{name} said", f"{name}:"):
        (direction,) = embed([label])
        rest = named - np.outer(named @ direction, direction)
        rest /= np.linalg.norm(rest, axis=1, keepdims=True)
        rows[f"without {label}"] = (rest @ rest.T)[pairs]
    for what, found in rows.items():
        reached = int((found >= _BOUND).sum())
        print(f"| {what} | {found.mean():.2f} | {reached} | {np.sqrt(((found - alone) ** 2).mean()):.2f} |")


def small_memories(sample: Mapping[str, Any]) -> Iterator[tuple[NeuroGraphMemory, list[tuple[str, set[str]]]]]:
    """Yield memories of a few messages, with the questions of which they have all evidence."""
    asked = list(questions(sample))
    evidence = set().union(*(one.gold for one in asked))
    sessions = defaultdict[str, list[Any]](list)
    for one in messages(sample):
        sessions[one[1]].append(one)
    names = list(sessions)
    for begin in range(0, len(names) - _SESSIONS + 1, _SESSIONS):
        memory, there = NeuroGraphMemory(MemoryConfig(storage="memory")), dict[str, str]()
        for name in names[begin : begin + _SESSIONS]:
            chosen = sorted(sessions[name], key=lambda one: one[3] not in evidence)[:_OF_EACH]
            for message, session, when, place in (one for one in sessions[name] if one in chosen):
                (there[place],) = memory.add(message, user_id="somebody", session_id=session, timestamp=when)
        memory.learning.freeze(lasting=False)
        yield memory, [(one.text, {there[place] for place in one.gold}) for one in asked if one.gold <= there.keys()]
        memory.close()


def found_first(memory: NeuroGraphMemory, asked: Sequence[tuple[str, set[str]]]) -> list[tuple[bool, bool]]:
    """Return for each question whether the first memory, and one of the first three, is evidence."""
    recalls = [(memory.recall(question, user_id="somebody").ids, gold) for question, gold in asked]
    return [(bool(gold & {*ids[:1]}), bool(gold & {*ids[:3]})) for ids, gold in recalls]


def main() -> None:
    """Print both tables."""
    data = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    print("| cosines of pairs | mean | from the bound | distance |\n|---|---:|---:|---:|")
    for sample in data[:2]:
        cosines(sample)
    results: dict[str, list[tuple[bool, bool]]] = {"with later-links": [], "without": []}
    for sample in data[:3]:
        for memory, asked in small_memories(sample):
            results["with later-links"] += found_first(memory, asked)
            with patch.object(replaced, "_links", lambda *_: {}):
                results["without"] += found_first(memory, asked)
    print("\n| | questions | first | of three |\n|---|---:|---:|---:|")
    for what, found in results.items():
        print(
            f"| {what} | {len(found)} | {100 * np.mean(found, axis=0)[0]:.1f} | {100 * np.mean(found, axis=0)[1]:.1f} |"
        )


if __name__ == "__main__":
    main()
