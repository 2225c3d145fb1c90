"""Cost of indexing besides embedding: `python benchmarks/indexing.py --corpus 2wikimultihopqa_corpus.json`.

Adds documents to a memory in a temporary folder. Prints the time of one passage by part, every `--step` documents. The
documents come from a corpus in HippoRAG's format, or from a file of synthetic texts and vectors
(`--synthetic 100000.npz`, with `words` and `vectors`). Passages of a corpus get random vectors. The time of returning
vectors does not count.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated import Document, MemoryConfig, NeuroGraphMemory, compose
from neurogated.config.groups import IndexingSettings
from neurogated.text.words import count_words

DIMENSION = 384
MILLISECONDS = 1000
METHODS = {
    "nearest": "similar",
    "nodes_with": "terms",
    "rare_nodes_with": "terms",
    "terms_of": "terms",
    "existing_tags": "terms",
    "get_nodes": "reading",
    "apply": "writing",
}
"""The part for the time in methods of the store."""
SHOWN = ("writing", "similar", "terms", "reading", "names", "rest")


class Clock:
    """Seconds of each part since the last call of `spent`; the time of a nested part counts for that part only."""

    def __init__(self, now: Callable[[], float]) -> None:
        self._now = now
        self._spent: dict[str, float] = defaultdict(float)
        self._running: list[str] = []
        self._since = now()

    def timed(self, part: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """Return `work`, whose time then counts as `part`."""

        def run(*args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            self._turn()
            self._running.append(part)
            try:
                return work(*args, **kwargs)
            finally:
                self._turn()
                self._running.pop()

        return run

    def spent(self) -> Mapping[str, float]:
        """Return the seconds of each part; "rest" is the time outside all parts."""
        self._turn()
        spent, self._spent = self._spent, defaultdict(float)
        return spent

    def _turn(self) -> None:
        now = self._now()
        self._spent[self._running[-1] if self._running else "rest"] += now - self._since
        self._since = now


class GivenVectors:
    """An embedder with given vectors for some texts, and random ones for all others."""

    name = "given"
    dimension = DIMENSION

    def __init__(self, vectors: Mapping[str, NDArray[np.float32]]) -> None:
        self._vectors = vectors
        self._rng = np.random.default_rng(0)

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 384) unit vectors."""
        vectors = [self._vectors.get(text) for text in texts]
        made = np.stack([self._rng.standard_normal(DIMENSION) if v is None else v for v in vectors]).astype(np.float32)
        unit: NDArray[np.float32] = made / np.linalg.norm(made, axis=1, keepdims=True)
        return unit

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return (n, 384) unit vectors."""
        return self.embed_documents(texts)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the number of words of each text."""
        return count_words(texts)

    def close(self) -> None:
        """Do nothing: no resource is open."""


def documents_of(options: argparse.Namespace) -> tuple[Iterator[Document], Mapping[str, NDArray[np.float32]]]:
    """Return the documents that the options name, and their vectors by text if given."""
    if options.corpus:
        passages = json.loads(options.corpus.read_text(encoding="utf-8"))[: options.documents]
        return (Document.from_text(passage["text"], title=passage["title"]) for passage in passages), {}
    with np.load(options.synthetic) as data:
        words, vectors = data["words"][: options.documents], data["vectors"][: options.documents]
    texts = [" ".join(f"w{word}" for word in row) for row in words]
    return map(Document.from_text, texts), dict(zip(texts, vectors, strict=True))


def memory_at(folder: str, batch: int, vectors: Mapping[str, NDArray[np.float32]], clock: Clock) -> NeuroGraphMemory:
    """Return a memory with timed parts."""
    config = MemoryConfig(save_dir=folder, embedding_name="hash", indexing=IndexingSettings(batch_size=batch))
    embedder = GivenVectors(vectors)
    parts = compose.build(config)
    timed: dict[tuple[object, str], str] = {(parts.store, method): part for method, part in METHODS.items()}
    timed |= {(embedder, "embed_documents"): "embedding", (parts.entity_finder, "find"): "names"}
    for (owner, method), part in timed.items():
        setattr(owner, method, clock.timed(part, getattr(owner, method)))
    return NeuroGraphMemory(config, parts=replace(parts, embedder=embedder))


def line(done: int, passages: int, spent: Mapping[str, float]) -> str:
    """Return a table row: the milliseconds of one passage in all and by part, without its embedding."""
    a_passage = {part: MILLISECONDS * spent.get(part, 0.0) / passages for part in SHOWN}
    return f"{done:9,d}{sum(a_passage.values()):10.2f}" + "".join(f"{a_passage[part]:10.2f}" for part in SHOWN)


def main() -> None:
    """Index, and print a line for every `--step` documents."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--corpus", type=Path, help="a corpus: JSON, a list of passages with title and text")
    source.add_argument("--synthetic", type=Path, help="a file of synthetic texts and vectors (.npz)")
    parser.add_argument("--documents", type=int, help="how many to index; all when left out")
    parser.add_argument("--step", type=int, default=1000, help="documents per line (default: 1000)")
    parser.add_argument("--batch", type=int, default=MemoryConfig().indexing.batch_size, help="passages per write")
    parser.add_argument(
        "--processor-time",
        action="store_true",
        help="count processor time only, as on a shared machine",
    )
    options = parser.parse_args()
    documents, vectors = documents_of(options)
    clock = Clock(time.thread_time if options.processor_time else time.perf_counter)
    with tempfile.TemporaryDirectory() as folder, memory_at(folder, options.batch, vectors, clock) as memory:
        print("documents    ms/pas." + "".join(f"{part:>10}" for part in SHOWN))
        clock.spent()
        done = 0
        while step := list(islice(documents, options.step)):
            passages = sum(map(len, memory.add_documents(step, progress=False)))
            done += len(step)
            print(line(done, passages, clock.spent()), flush=True)


if __name__ == "__main__":
    main()
