"""MemoryOS: the evidence that it finds in conversations saved pair by pair, and its speed.

    python -m benchmarks.memoryos recall DATA.json
    python -m benchmarks.memoryos speed --pages 10000

`recall` compares on the same pages: `search_memory(top_k=10)`; `recall(top_n=10)` of the memory below; the cosine of
whole pages; and the two steps of MemoryOS, which chooses five segments and then pages of these.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from langchain_core.embeddings import Embeddings
from numpy.typing import NDArray

from neurogated.dialogue.analysts import keywords_of
from neurogated.dialogue.mid_term import Segment, Topics
from neurogated.evaluation.datasets import load_locomo
from neurogated.evaluation.gold import Collection
from neurogated.integrations.langgraph.memoryos import MemoryOS
from neurogated.integrations.langgraph.store import NeuroStore
from neurogated.text.keywords import split_keywords

TOP, SEGMENTS, THRESHOLD = 10, 5, 0.6
ROUNDS, TOPICS = 100, 200


@dataclass
class Pair:
    """Successive turns of two speakers."""

    session: str
    time: object
    user: str = ""
    assistant: str = ""
    turns: list[str] = field(default_factory=list)


def pairs_of(conversation: Collection) -> Iterator[Pair]:
    """Yield the turns of the first speaker, each with the next turn of the other."""
    first, pair = conversation.documents[0].passages[0].speaker, None
    for document in conversation.documents:
        passage, session = document.passages[0], str(document.scope.session_id)
        if pair is None or passage.speaker == first or pair.assistant or pair.session != session:
            if pair is not None:
                yield pair
            pair = Pair(session, document.timestamp)
        setattr(pair, "user" if passage.speaker == first else "assistant", passage.text)
        pair.turns.append(str(document.id))
    if pair is not None:
        yield pair


def two_steps(texts: Sequence[str], vectors: NDArray[np.float32]) -> Callable[[str, NDArray[np.float32]], list[int]]:
    """Return MemoryOS's own search: the segments nearest to the question, then the pages in them by cosine."""
    segments: dict[str, Segment] = {}
    topics = Topics(())
    for place, text in enumerate(texts):
        words = keywords_of(text)
        name = topics.nearest(vectors[place], words, THRESHOLD) or str(place)
        segment = segments.setdefault(name, Segment(name, np.zeros_like(vectors[place])))
        segment.add(str(place), vectors[place], words, "", 0.0)
        topics.update(segment)

    def search(question: str, vector: NDArray[np.float32]) -> list[int]:
        asked = frozenset(split_keywords(question))

        def nearness(segment: Segment) -> float:
            words = frozenset(split_keywords(" ".join(segment.front)))
            cosine = float(segment.total @ vector) / float(np.linalg.norm(segment.total))
            return cosine + len(asked & words) / len(asked | words)

        chosen = sorted(segments.values(), key=nearness, reverse=True)[:SEGMENTS]
        pages = [int(key) for segment in chosen for key in segment.pages]
        return sorted(pages, key=lambda page: -float(vectors[page] @ vector))[:TOP]

    return search


def found_in(conversation: Collection) -> Iterator[Mapping[str, float]]:
    """Yield for each question the share of its evidence that each search finds."""
    pairs = list(pairs_of(conversation))
    with tempfile.TemporaryDirectory() as folder, MemoryOS(storage_dir=folder) as memory:
        keys = [memory.save_memory("u", one.session, one.user, one.assistant, one.time) for one in pairs]  # type: ignore[arg-type]
        memory.flush()
        assert isinstance(memory.store, NeuroStore)
        graph = memory.store.memory
        place_of = {key: place for place, key in enumerate(keys)}
        page_of = {turn: place for place, pair in enumerate(pairs) for turn in pair.turns}
        embedder = graph.session.parts.embedder
        texts = [f"{pair.user}\n{pair.assistant}".strip() for pair in pairs]
        vectors = embedder.embed_documents(texts)
        routed = two_steps(texts, vectors)
        for question in conversation.questions:
            (asked,) = embedder.embed_queries([question.text])
            hits = memory.search_memory("u", question.text, TOP).hits
            recall = graph.recall(question.text, user_id="u", kinds=("turn",), top_n=TOP)
            searches = {
                "search_memory(top_k=10)": {place_of[page] for hit in hits for page in hit.evidence},
                "recall(top_n=10)": {place_of[one.metadata["page"]] for one in recall},
                "cosine of pages": set(np.argsort(-(vectors @ asked))[:TOP].tolist()),
                "MemoryOS's two steps": set(routed(question.text, asked)),
            }
            gold = [page_of[str(turn)] for turn in question.gold]
            yield {name: statistics.mean(page in found for page in gold) for name, found in searches.items()}


def recall(path: Path) -> None:
    """Print the share of the evidence that each search finds."""
    found = [one for each in load_locomo(path.stem, path.parent).collections for one in found_in(each)]
    for name in found[0]:
        print(f"| {name} | {100 * statistics.mean(one[name] for one in found):.1f} |")
    print(f"{len(found)} questions")


class TopicVectors(Embeddings):
    """Vectors around one of 200 topics, which the first word of a text names; counts its seconds."""

    model = "topics"

    def __init__(self) -> None:
        self.seconds = 0.0
        self._topics = np.random.default_rng(0).standard_normal((TOPICS, 384))

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return a vector of each text."""
        begin = time.perf_counter()
        vectors = [(self._near(text) / 20).tolist() for text in texts]
        self.seconds += time.perf_counter() - begin
        return vectors

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a text."""
        return self.embed_documents([text])[0]

    def _near(self, text: str) -> NDArray[np.float64]:
        numbers = [int(word[1:]) for word in text.split() if word[1:].isdigit()] or [0]
        noise = np.random.default_rng(numbers).standard_normal(384)
        return np.asarray(self._topics[numbers[0] % TOPICS] + 0.7 * noise)


def speed(pages: int) -> None:
    """Print the milliseconds of a save and of a search, without embedding."""
    chance, vectors = random.Random(0), TopicVectors()  # noqa: S311

    def text(words: int = 20) -> str:
        topic = chance.randrange(TOPICS)
        return " ".join(f"w{topic + TOPICS * int(chance.expovariate(0.1))}" for _ in range(words))

    def measured(call: Callable[[], object]) -> float:
        vectors.seconds, begin = 0.0, time.perf_counter()
        call()
        return 1000 * (time.perf_counter() - begin - vectors.seconds)

    with tempfile.TemporaryDirectory() as folder, MemoryOS(embedding=vectors, storage_dir=folder) as memory:
        for place in range(pages):
            memory.save_memory("u", f"s{place // 100}", text(), text())
            if place % 1000 == 999:
                memory.flush()
                print(f"{place + 1} pages", flush=True)
        for name, call in (
            ("search_memory", lambda: memory.search_memory("u", text(8), TOP)),
            ("save_memory", lambda: memory.save_memory("u", "s", text(), text())),
        ):
            times = []
            for _ in range(ROUNDS):
                times.append(measured(call))
                memory.flush()
            print(f"| {name} | {statistics.median(times):.1f} ms | {sorted(times)[int(0.95 * ROUNDS)]:.1f} ms |")


def main() -> None:
    """Run one of the measurements."""
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("recall").add_argument("data", type=Path)
    commands.add_parser("speed").add_argument("--pages", type=int, default=10_000)
    chosen = parser.parse_args()
    if chosen.command == "recall":
        recall(chosen.data)
    else:
        speed(chosen.pages)


if __name__ == "__main__":
    main()
