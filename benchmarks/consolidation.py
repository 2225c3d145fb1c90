"""Recall and tokens before and after a consolidation, on conversations in LoCoMo's format.

Every second question is asked first, with feedback on the gold evidence that its recall found. Then all questions are
asked before and after `consolidate`. A fact counts for a gold turn if it was made from it and has at least 80 % of the
words of the answer.

python -m benchmarks.consolidation conversations.json
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Hashable, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neurogated import EdgeType, MemoryConfig, NeuroGraphMemory, Recall
from neurogated.evaluation.locomo import load_locomo
from neurogated.evaluation.model import SOURCES_KEY, Collection, Question
from neurogated.text.keywords import split_keywords

__all__ = ["Measured", "found_gold", "main", "sources_of"]

Sources = dict[str, AbstractSet[Hashable]]
_HELD = 0.8
"""The share of the answer's words that a fact must have."""


class Measured(NamedTuple):
    """The figures of all questions."""

    recall: float
    """Mean share of the gold turns that were found."""
    facts: float
    """Mean number of facts in a recall."""
    tokens: float
    """Mean words of a recall."""


def main() -> None:
    """Build the memory, use it, consolidate, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--conversations", type=int, default=2)
    parser.add_argument("--top_n", type=int, default=10)
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="settings")
    arguments = parser.parse_args()
    data = load_locomo(arguments.data.stem, arguments.data.parent)
    settings = dict(entry.split("=", 1) for entry in arguments.set)
    chosen = data.collections[: arguments.conversations]
    with tempfile.TemporaryDirectory() as folder:
        config = MemoryConfig.from_mapping({"save_dir": folder, **settings})
        with NeuroGraphMemory(config) as memory:
            turns = sum(_fill(memory, one) for one in chosen)
            used = _use(memory, chosen, arguments.top_n)
            _print(memory, f"before, {turns} turns, {used} questions with feedback", chosen, arguments.top_n)
            begin = time.perf_counter()
            facts = memory.store.get_nodes(memory.learning.consolidate(progress=False))
            seconds = time.perf_counter() - begin
            sources = [edge for edge in memory.store.all_edges() if edge.type == EdgeType.DERIVED_FROM]
            words = [len(fact.content.split()) for fact in facts]
            print(
                f"{len(facts)} facts of {len(sources)} turns in {seconds:.2f} s, {np.mean(words or [0]):.0f} words each"
            )
            _print(memory, "after", chosen, arguments.top_n)


def _fill(memory: NeuroGraphMemory, collection: Collection) -> int:
    count = 0
    for document in collection.documents:
        for passage in document.passages:
            memory.add(
                {"role": "user", "name": passage.speaker, "content": passage.text},
                user_id=collection.namespace,
                session_id=f"session {document.metadata['session']}",
                timestamp=document.timestamp,
                metadata=passage.metadata,
            )
            count += 1
    return count


def _use(memory: NeuroGraphMemory, collections: Sequence[Collection], top_n: int) -> int:
    count = 0
    for collection in collections:
        for question in collection.questions[::2]:
            recall = memory.recall(question.text, user_id=collection.namespace, top_n=top_n)
            useful = [one for one in recall if question.gold.intersection(one.metadata.get(SOURCES_KEY, ()))]
            if useful:
                memory.feedback(useful)
            count += 1
    return count


def _print(memory: NeuroGraphMemory, when: str, collections: Sequence[Collection], top_n: int) -> None:
    memory.learning.freeze()
    sources = sources_of(memory)
    figures = [
        _asked(memory.recall(question.text, user_id=collection.namespace, top_n=top_n), question, sources)
        for collection in collections
        for question in collection.questions
    ]
    memory.learning.unfreeze()
    mean = Measured(*np.mean(figures, axis=0))
    print(
        f"{when}: recall@{top_n} {100 * mean.recall:.2f} %, {mean.facts:.2f} facts and {mean.tokens:.0f} words a recall"
    )


def _asked(recall: Recall, question: Question, sources: Sources) -> Measured:
    facts = sum(one.id in sources for one in recall)
    words = sum(len(one.content.split()) for one in recall)
    return Measured(found_gold(recall, question, sources), facts, words)


def sources_of(memory: NeuroGraphMemory) -> Sources:
    """Return the data set's names of the messages from which each fact was made."""
    sources: Sources = {}
    for edge in memory.store.all_edges():
        if edge.type == EdgeType.DERIVED_FROM:
            made_from = frozenset(memory.get(edge.target_id).metadata[SOURCES_KEY])
            sources[edge.source_id] = sources.get(edge.source_id, frozenset()) | made_from
    return sources


def found_gold(recall: Recall, question: Question, sources: Sources) -> float:
    """Return the share of the gold messages that a recall found, itself or by a fact that has the answer."""
    answer = set(split_keywords(" ".join(question.answers)))
    found: set[Hashable] = set()
    for one in recall:
        if one.id not in sources:
            found.update(one.metadata.get(SOURCES_KEY, ()))
        elif answer and len(answer.intersection(split_keywords(one.content))) >= _HELD * len(answer):
            found |= sources[one.id]
    return len(question.gold & found) / len(question.gold)


if __name__ == "__main__":
    main()
