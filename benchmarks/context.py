"""Evidence in a context of limited tokens, beside hybrid search that fills the same budget.

A long message is several memories. It counts as found if one of them is in the text, or with --whole if all of them
are. Excerpts count for nothing. Hybrid search adds half the cosine and half the
BM25, each scaled to 0–1 over the memories of the user, and fills the same text in this order.

python -m benchmarks.context locomo_conv0-4.json --budgets 500 1000 2000 4000 7000
python -m benchmarks.context beam_odd.json --folder kept_memory --every 4
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
from numpy.typing import NDArray

from benchmarks.bootstrap import paired_bootstrap
from neurogated import Context, Kernel, MemoryConfig, MemoryEdge, NeuroGraphMemory, Recall, RecalledMemory
from neurogated.context.builder import ContextBuilder, token_counter
from neurogated.core.filters import Filter
from neurogated.core.quoting import TokenCounter, quoted
from neurogated.core.scope import ScopeFilter
from neurogated.storage.registry import memory_exists
from neurogated.text.keywords import split_keywords
from neurogated.text.sentences import split_sentences

_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D\d+:\d+")
PLACE = "place"
_SAME = 0.7
"""Sentences with at least this cosine say the same."""


class Asked(NamedTuple):
    """A question, with the messages that hold its evidence."""

    user: str
    text: str
    gold: frozenset[Any]
    kind: str
    sides: tuple[frozenset[Any], ...] = ()
    """The messages of each statement of a contradiction."""


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
            sides = tuple(map(frozenset, one.get("statements", {}).values()))
            is_conflict = one["category"] == "contradiction_resolution"
            yield Asked(user, one["question"], frozenset(one["gold"]), one["category"], sides if is_conflict else ())
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


def hybrid(memory: NeuroGraphMemory, asked: Asked) -> Recall:
    """Rank all memories of the user by half the cosine and half the BM25, each scaled to 0–1."""
    store = memory.store
    view = store.view(filters=Filter(scope=ScopeFilter(asked.user)))
    rows = view.live_nodes()
    rows = rows[view.admitted(rows)]
    vector = memory.session.parts.embedder.embed_queries([asked.text])[0]
    score = 0.5 * _scaled(store.similarities(vector, view, rows)) + 0.5 * _scaled(
        store.keyword_scores(asked.text, view, rows)
    )
    order = np.argsort(-score, kind="stable")[:1000]
    nodes = store.get_nodes([view.ids[row] for row in rows[order].tolist()])
    ranked = tuple(RecalledMemory(node, float(score[at]), {}) for node, at in zip(nodes, order.tolist(), strict=True))
    return Recall(asked.text, ranked, Kernel(), (), "hybrid")


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    span = float(np.ptp(values))
    return (values - values.min()) / span if span else np.zeros(values.size)


class Measure:
    """Scores contexts."""

    def __init__(self, memory: NeuroGraphMemory, *, whole: bool) -> None:
        """Count the memories of each message; `whole` asks for all of them."""
        self._memory = memory
        self._whole = whole
        self._pieces: dict[tuple[str | None, Any], int] = defaultdict(int)
        self._sources: dict[str, list[str]] = defaultdict(list)
        edges: Iterator[MemoryEdge] = memory.store.all_edges()
        for edge in edges:
            if edge.type.name == "DERIVED_FROM":
                self._sources[edge.source_id].append(edge.target_id)
        for node in memory.store.all_nodes():
            if PLACE in node.metadata and node.id not in self._sources:
                self._pieces[node.scope.user_id, node.metadata[PLACE]] += 1

    def found(self, context: Context, user: str) -> set[Any]:
        """Return the messages in the text, as memories of their own or word for word in facts."""
        pieces: dict[Any, set[str]] = defaultdict(set)
        for one in context:
            for name in self._sources.get(one.id, ()):
                source = self._memory.get(name)
                if source.content in one.content:
                    pieces[source.metadata[PLACE]].add(name)
            if one.id not in context.excerpts and one.id not in self._sources and PLACE in one.metadata:
                pieces[one.metadata[PLACE]].add(one.id)
        return {place for place, there in pieces.items() if not self._whole or len(there) == self._pieces[user, place]}

    def statements(self, texts: Sequence[str]) -> int:
        """Return the number of sentences that say something no sentence before them says."""
        said = [one for text in texts for one in split_sentences(text) if len(set(split_keywords(one))) >= 3]
        if not said:
            return 0
        vectors = self._memory.session.parts.embedder.embed_documents(said)
        kept: list[int] = []
        for place in range(len(said)):
            if not kept or float((vectors[kept] @ vectors[place]).max()) < _SAME:
                kept.append(place)
        return len(kept)


def main() -> None:
    """Build the memory, ask, and print a line for each budget."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--budgets", type=int, nargs="+", default=[500, 1000])
    parser.add_argument("--folder", type=Path, help="keep the memory here, and use it again")
    parser.add_argument("--every", type=int, default=1, help="ask every n-th question")
    parser.add_argument("--whole", action="store_true", help="a message counts if all its memories are there")
    parser.add_argument("--consolidate", action="store_true", help="use and consolidate the memory first")
    parser.add_argument("--statements", action="store_true", help="count the statements that differ, which is slow")
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="settings")
    arguments = parser.parse_args()
    data = json.loads(arguments.data.read_text(encoding="utf-8"))
    asked = [one for sample in data for one in questions(sample)]
    with tempfile.TemporaryDirectory() as temporary:
        settings = dict(entry.split("=", 1) for entry in arguments.set)
        config = MemoryConfig.from_mapping({"save_dir": str(arguments.folder or temporary), **settings})
        is_filled = memory_exists(config)
        with NeuroGraphMemory(config) as memory:
            if not is_filled:
                fill(memory, data)
            if arguments.consolidate:
                for one in asked[::2]:
                    memory.feedback(memory.recall(one.text, user_id=one.user, top_n=5))
                print(f"{len(memory.learning.consolidate(progress=False))} facts")
            memory.learning.freeze(lasting=False)
            measure = Measure(memory, whole=arguments.whole)
            chosen = asked[:: arguments.every]
            report(memory, measure, chosen, arguments.budgets, counts_statements=arguments.statements)


def report(
    memory: NeuroGraphMemory,
    measure: Measure,
    asked: Sequence[Asked],
    budgets: Sequence[int],
    *,
    counts_statements: bool,
) -> None:
    """Ask each question with each budget; print the figures."""
    embedder = memory.session.parts.embedder
    plain = ContextBuilder(memory.config.metabolism, embedder, token_counter(embedder))
    ranked = [hybrid(memory, one) for one in asked]
    view = memory.store.view()
    for budget in budgets:
        begin = time.perf_counter()
        ours = [memory.get_context(one.text, budget, user_id=one.user) for one in asked]
        took = (time.perf_counter() - begin) / len(asked)
        with patch.multiple("neurogated.context.builder", REPETITION_COST=0.0, NOVELTY_GAIN=0.0):
            theirs = [plain.build(recall, view, budget) for recall in ranked]
        _print(f"{budget} tokens, get_context ({1000 * took:.0f} ms)", asked, ours, measure.found)
        _print(f"{budget} tokens, hybrid search", asked, theirs, measure.found)
        better = paired_bootstrap(_shares(asked, ours, measure.found), _shares(asked, theirs, measure.found))
        print(f"  difference {100 * better.mean:+.1f} [{100 * better.low:+.1f}, {100 * better.high:+.1f}]")
        if counts_statements:
            recalls = [memory.recall(one.text, user_id=one.user, top_n=100) for one in asked]
            turns = [replace(one, memories=tuple(each for each in one if each.node.kind != "fact")) for one in recalls]
            said, raw, bare = (
                np.mean([measure.statements(texts) for texts in each])
                for each in (
                    [[one.content for one in context] for context in ours],
                    [_raw(recall, budget, embedder.count_tokens) for recall in turns],
                    [_bare(recall, budget, embedder.count_tokens) for recall in turns],
                )
            )
            print(f"  statements: {said:.2f}; turns by Recall.as_text {raw:.2f} (ratio {said / raw:.3f}); ", end="")
            print(f"turns with names, without dates and quotation {bare:.2f} (ratio {said / bare:.3f})")


def _raw(recall: Recall, budget: int, count: TokenCounter) -> list[str]:
    """Return the texts that `Recall.as_text` has within a budget."""
    text = recall.as_text(budget, count)
    return [one.content for one in recall if f": {quoted(one.content)}\n" in text]


def _bare(recall: Recall, budget: int, count: TokenCounter) -> list[str]:
    """Return the texts of the best memories whose lines "name: text" fit into a budget."""
    sizes = count([f"{one.node.speaker or one.node.role}: {one.content}\n" for one in recall])
    return [one.content for one, total in zip(recall, accumulate(sizes), strict=True) if total <= budget]


def _shares(
    asked: Sequence[Asked], contexts: Sequence[Context], found: Callable[[Context, str], set[Any]]
) -> list[float]:
    return [
        len(one.gold & found(context, one.user)) / len(one.gold) for one, context in zip(asked, contexts, strict=True)
    ]


def _print(
    name: str, asked: Sequence[Asked], contexts: Sequence[Context], found: Callable[[Context, str], set[Any]]
) -> None:
    shares = np.array(_shares(asked, contexts, found))
    interval = paired_bootstrap(shares, np.zeros(shares.size))
    filled = np.array([context.tokens / context.budget for context in contexts])
    print(
        f"{name}: evidence {100 * interval.mean:.1f} % [{100 * interval.low:.1f}, {100 * interval.high:.1f}], "
        f"filled {100 * filled.mean():.1f} % (below 95 %: {int((filled < 0.95).sum())} of {filled.size}), "
        f"{np.mean([len(context) for context in contexts]):.1f} memories"
    )
    conflicts = [
        (one.sides, found(context, one.user)) for one, context in zip(asked, contexts, strict=True) if one.sides
    ]
    if conflicts:
        both = sum(all(side & there for side in sides) for sides, there in conflicts)
        every = sum(all(side <= there for side in sides) for sides, there in conflicts)
        print(f"  both sides of a contradiction: {both} of {len(conflicts)}; all their messages: {every}")


if __name__ == "__main__":
    main()
