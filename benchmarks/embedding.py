"""Embedding speed of each runtime: `python benchmarks/embedding.py --corpus dataset/2wikimultihopqa_corpus.json`.

Every installed runtime embeds the same passages and the same questions, in turn, with torch in the same run, and so do
other models, as in `--models multilingual`. Wall time depends on the load of the machine; processor time hardly does.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path

import numpy as np

from neurogated import MemoryConfig
from neurogated.config.groups import EmbeddingSettings
from neurogated.core.ports import Embedder
from neurogated.embedding.registry import build_embedder

BACKENDS = ("torch", "openvino")
WARM_UP = 16
QUESTIONS = 30


def load(name: str) -> tuple[Embedder, float]:
    """Return an embedder that is ready, and the seconds until it was; `name` is a runtime or another model."""
    begin = time.perf_counter()
    if name in BACKENDS:
        config = MemoryConfig(embedding=EmbeddingSettings(backend=name, devices="cpu"))
    else:
        config = MemoryConfig(embedding_name=name)
    embedder = build_embedder(config)
    embedder.embed_queries(["Is it ready?"])
    return embedder, time.perf_counter() - begin


def passages_a_second(embedder: Embedder, texts: list[str]) -> tuple[float, float]:
    """Return passages per second of wall time, and per second of processor time."""
    wall, processor = time.perf_counter(), time.process_time()
    embedder.embed_documents(texts)
    return len(texts) / (time.perf_counter() - wall), len(texts) / (time.process_time() - processor)


def milliseconds_a_question(embedder: Embedder, texts: list[str]) -> float:
    """Return the median over single questions."""
    seconds = []
    for text in texts:
        begin = time.perf_counter()
        embedder.embed_queries([text])
        seconds.append(time.perf_counter() - begin)
    return 1000 * statistics.median(seconds)


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=Path("dataset/sample_corpus.json"), help="passages to embed")
    parser.add_argument("--passages", type=int, default=500, help="how many of them (default: 500)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds, of which the best counts (default: 3)")
    parser.add_argument("--models", nargs="*", default=[], help="names of other models")
    arguments = parser.parse_args()
    rows = json.loads(arguments.corpus.read_text(encoding="utf-8"))
    chosen = np.random.default_rng(0).permutation(len(rows))[: arguments.passages]
    texts = [f"{rows[row]['title']}\n{rows[row]['text']}" for row in chosen]
    questions = [f"Who told of {rows[row]['title']}, and why?" for row in chosen[:QUESTIONS]]
    made = {name: load(name) for name in (*BACKENDS, *arguments.models)}
    expected = made["torch"][0].embed_documents(texts)
    speeds: dict[str, list[tuple[float, float]]] = {name: [] for name in made}
    for embedder, _ in made.values():
        embedder.embed_documents(texts[:WARM_UP])
    for _ in range(arguments.rounds):
        for backend, (embedder, _) in made.items():
            speeds[backend].append(passages_a_second(embedder, texts))
    print("| backend | passages/s | passages/s of processor | question | first load | next load | least cosine |")
    print("|---|---|---|---|---|---|---|")
    for backend, (embedder, first) in made.items():
        wall, processor = (max(column) for column in zip(*speeds[backend], strict=True))
        cosine = ""
        if backend in BACKENDS:
            cosine = f"{(embedder.embed_documents(texts) * expected).sum(axis=1).min():.6f}"
        question = milliseconds_a_question(embedder, questions)
        embedder.close()
        print(
            f"| {backend} | {wall:.0f} | {processor:.0f} | {question:.1f} ms | {first:.1f} s "
            f"| {load(backend)[1]:.2f} s | {cosine} |"
        )


if __name__ == "__main__":
    main()
