"""Keyword and tag search in synthetic texts, compared with tantivy: python benchmarks/keyword_search.py --texts 100000.

Texts are 40 words drawn by Zipf's law (1.2) from 50 000. Times are medians; the same 100 queries go to each engine.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import tantivy

from neurogated import MemoryNode
from neurogated.core.rendering import subject_tag
from neurogated.storage.index.graph_index import put_texts
from neurogated.storage.index.text.lexical_store import LexicalStore

K = 100
WORDS = 50_000
BATCH = 64


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--texts", type=int, default=10_000)
    count = parser.parse_args().texts
    rng = np.random.default_rng(0)
    words = np.minimum(rng.zipf(1.2, (count, 40)), WORDS)
    texts = [" ".join(f"w{number}" for number in row) for row in words.tolist()]
    picked = rng.integers(count, size=100).tolist()
    queries = {40: [texts[i] for i in picked], 10: [" ".join(rng.choice(texts[i].split(), 10)) for i in picked]}
    index = built(texts)
    for length, asked in queries.items():
        show(f"search, {length} words", asked, lambda query: index.search(query, K))
    search = tantivy_search(texts)
    for length, asked in queries.items():
        show(f"tantivy, {length} words", asked, search)
    keys = [rng.choice(count, 500, replace=False) for _ in range(50)]
    show("scores of 500 keys", keys, lambda rows: index.scores(queries[10][0], rows))
    runs = [[subject_tag(f"w{a} w{b}") for a, b in rng.integers(WORDS, size=(600, 2))] for _ in range(50)]
    show("600 unknown tags", runs, index.existing)
    show("2 terms among 500 keys", keys, lambda rows: index.having(["w3", "w700"], rows))
    show("keys with a rare term", [[f"w{i}"] for i in range(30_000, 30_100)], index.keys_with)
    show("keys with 3 common terms", [["w1", "w2", f"w{i}"] for i in range(3, 30)], index.keys_with)
    show("terms of 60 keys", keys, lambda rows: [index.terms_of(key) for key in rows[:60].tolist()])
    kept(index, count)


def built(texts: Sequence[str]) -> LexicalStore:
    """Return an index of the texts, and print the time of adding them."""
    index, start = LexicalStore(), time.perf_counter()
    for begin in range(0, len(texts), BATCH):
        some = [MemoryNode(str(row), text) for row, text in enumerate(texts[begin : begin + BATCH])]
        put_texts(index, np.arange(begin, begin + len(some)), some)
    index.wait()
    print(f"{'putting a text':40} {1000 * (time.perf_counter() - start) / len(texts):9.3f} ms")
    return index


def kept(index: LexicalStore, count: int) -> None:
    """Print time and size of writing the index."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        show("taking the state", [None], lambda _: index.freeze())
        index.freeze().write(folder, None)
        size = sum(file.stat().st_size for file in folder.rglob("*.npy"))
        print(f"{'on disk':40} {size / count:9.0f} bytes a text")
        show("loading", [None], lambda _: LexicalStore.load(folder))


def tantivy_search(texts: Sequence[str]) -> Callable[[str], Any]:
    """Return search by tantivy alone."""
    schema = tantivy.SchemaBuilder()
    schema.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    index = tantivy.Index(schema.build())
    with index.writer(100_000_000, num_threads=1) as writer:
        for text in texts:
            writer.add_document(tantivy.Document(words=text))
    index.reload()
    searcher = index.searcher()

    def search(query: str) -> Any:  # noqa: ANN401
        terms = [
            (tantivy.Occur.Should, tantivy.Query.term_query(index.schema, "words", word, index_option="freq"))
            for word in sorted(set(query.split()))
        ]
        return searcher.search(tantivy.Query.boolean_query(terms), K, count=False).hits

    return search


def show(what: str, inputs: Sequence[Any], call: Callable[[Any], object]) -> None:
    """Print the median time of a call."""
    call(inputs[0])
    times = []
    for value in inputs:
        start = time.perf_counter()
        call(value)
        times.append(time.perf_counter() - start)
    print(f"{what:40} {1000 * float(np.median(times)):9.3f} ms")


if __name__ == "__main__":
    main()
