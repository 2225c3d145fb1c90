"""Keyword search against BM25 in plain loops."""

import math
import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest

from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.text.keywords import search_terms

# Lengths that fit a byte: the first of Lucene's table above 40.
LENGTHS = [*range(41), 42, 44, 46, 48, 50, 52, 54, 56, 60, 64, 68, 72, 76, 80, 84, 88, 96, 104, 112, 120, 128, 136, 144]
EVERYTHING = 10**6


@pytest.fixture(autouse=True, scope="module", params=["texts are all scored", "the best are looked for"])
def way(request: pytest.FixtureRequest) -> Iterator[None]:
    """Search every index first by the method for few texts, then by that for many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("neurogated.storage.index.text.posting_table.MEMTABLE_TEXTS", 400)
        if request.param == "the best are looked for":
            patch.setattr("neurogated.storage.index.text.keyword_search._FEW_PAIRS", -1)
        yield


def bm25(texts: dict[int, str], query: str) -> dict[int, float]:
    """Return the scores > 0 by a slow loop; texts without words do not count."""
    held = {key: counts for key, text in texts.items() if (counts := Counter(search_terms(text)))}
    mean = sum(sum(counts.values()) for counts in held.values()) / max(len(held), 1)
    scores: dict[int, float] = {}
    for word in set(search_terms(query)):
        holders = [key for key, counts in held.items() if word in counts]
        weight = math.log(1 + (len(held) - len(holders) + 0.5) / (len(holders) + 0.5))
        for key in holders:
            length = max(size for size in LENGTHS if size <= sum(held[key].values()))
            times = held[key][word]
            part = weight * 2.2 * times / (times + 1.2 * (0.25 + 0.75 * length / mean))
            scores[key] = scores.get(key, 0) + part
    return scores


def put(store: LexicalStore, texts: dict[int, str]) -> None:
    store.put(np.array(list(texts), dtype=np.int64), list(texts.values()))


def found(store: LexicalStore, query: str, k: int = EVERYTHING) -> dict[int, float]:
    keys, scores = store.search(query, k)
    assert scores.tolist() == sorted(scores.tolist(), reverse=True)
    assert store.scores(query, keys).tolist() == scores.tolist()
    return dict(zip(keys.tolist(), scores.tolist(), strict=True))


def random_texts(count: int, seed: int = 0) -> dict[int, str]:
    chance = random.Random(seed)
    words = [f"word{i}" for i in range(300)]
    weights = [1 / (i + 1) for i in range(300)]
    return {key: " ".join(chance.choices(words, weights, k=chance.randint(0, 140))) for key in range(count)}


def test_pruning_loses_nothing_among_many_texts() -> None:
    texts = random_texts(3000, seed=3)
    store = LexicalStore()
    for start in range(0, 3000, 300):
        put(store, {key: texts[key] for key in range(start, start + 300)})
    without = np.arange(0, 3000, 5)
    for query in ("word0", "word0 word1 word2", "word3 word40 word90", "word299 word0"):
        expected = {key: score for key, score in bm25(texts, query).items() if key % 5}
        for k in (1, 3, 20):
            kth = sorted(expected.values(), reverse=True)[min(k, len(expected)) - 1] - 1e-9
            keys, scores = store.search(query, k, without)
            assert set(keys.tolist()) == {key for key, score in expected.items() if score >= kth}, (query, k)
            assert scores == pytest.approx([expected[key] for key in keys.tolist()], rel=1e-9)


@pytest.mark.parametrize("share", [2, 40])
def test_a_search_among_some_texts_is_as_in_an_index_of_these_alone(share: int) -> None:
    texts = random_texts(600, seed=4)
    store = LexicalStore()
    put(store, texts)
    store.remove(np.arange(0, 600, 3 * share))
    chosen = {key: text for key, text in texts.items() if key % share == 0 and key % (3 * share)}
    among = np.arange(0, 600, share)
    keys, scores = store.search("word0 word3 word40", EVERYTHING, among=among)
    expected = bm25(chosen, "word0 word3 word40")
    assert dict(zip(keys.tolist(), scores.tolist(), strict=True)) == pytest.approx(expected, rel=1e-9)
    assert store.scores("word0 word3 word40", keys, among).tolist() == scores.tolist()
