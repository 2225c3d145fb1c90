"""The inverted index of texts: keyword search, and lookup of the texts that hold a keyword or a tag."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial, reduce
from itertools import compress, pairwise

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import contained, distinct, firsts
from neurogated.core.view import Hits, Rows
from neurogated.storage.index.text.keyword_search import (
    QueryWeights,
    Statistics,
    best,
    scores,
    search,
    statistics_of,
)
from neurogated.storage.index.text.posting_table import UNKNOWN, PostingTable, TableView
from neurogated.storage.index.text.segment import Places, spread
from neurogated.text.keywords import search_terms

_NOTHING = np.empty(0, dtype=np.int64)
# Up to this many texts are scanned by their words; more are found through the posting lists of the terms.
_LATEST = 1024
# Reading a posting takes as long as scanning so many words of a text, of which it has about 20.
_FEW_PER_KEY = 4


def keys_with(view: TableView, numbers: Sequence[int]) -> Rows:
    """Return the keys whose texts hold all of one or more terms, ascending."""
    found = [_NOTHING]
    for part in view.segments:
        lists: list[Places] = sorted(map(part.postings, numbers), key=len)
        places = reduce(partial(_intersection, len(part)), lists)
        found.append(part.texts.keys[view.living(part, places)])
    # Each part is sorted already, which makes the stable sort fast.
    return np.sort(np.concatenate(found), kind="stable")


def _intersection(size: int, some: Places, others: Places) -> Places:
    """Return those of `some` places below `size` that are in `others`, which is longer."""
    if some.size <= _LATEST:
        return some[contained(others, some)]
    # Flags are several times as fast as searches.
    held = np.zeros(size, dtype=np.bool_)
    held[others] = True
    both: Places = some[held[some]]
    return both


def holding(view: TableView, numbers: Sequence[int], keys: Rows) -> NDArray[np.bool_]:
    """Return (terms, keys) bool: whether the text of each key holds each term."""
    held = np.zeros((len(numbers), keys.size), dtype=np.bool_)
    for part, here, at in view.located(keys) if max(numbers, default=UNKNOWN) != UNKNOWN else ():
        places, columns = at.astype(part.places.dtype), ... if here.size == keys.size else here
        for position, holders in part.postings_of(numbers):
            held[position, columns] = holders.take(holders.searchsorted(places), mode="clip") == places
    return held


def pairs_among(view: TableView, numbers: Rows, keys: Rows, limits: NDArray[np.int64], total: int) -> tuple[Rows, Rows]:
    """Return pairs of the position of a term and one of some keys that holds it; of a term beyond its limit not all.

    If the terms occur `total` times in all texts, and that is not often, it reads their posting lists. Otherwise it
    first scans the newest texts. That is quick, and shows for most terms that they exceed their limit.
    """
    if total >= _FEW_PER_KEY * keys.size:
        latest = keys[-_LATEST:]
        terms, held = _scanned(view, numbers, latest)
        if latest.size == keys.size:
            return terms, held
        counts = np.bincount(terms, minlength=numbers.size)
        (few,) = (counts <= limits).nonzero()
        beyond = counts[terms] > limits[terms]
        place, found = _posted(view, numbers[few])
        inside = contained(keys, found)
        return np.concatenate((terms[beyond], few[place[inside]])), np.concatenate((held[beyond], found[inside]))
    terms, held = _posted(view, numbers)
    inside = contained(keys, held)
    return terms[inside], held[inside]


def _posted(view: TableView, numbers: Rows) -> tuple[Rows, Rows]:
    """Return pairs of the position of a term and a key that holds it, by the posting lists."""
    held, keys = [_NOTHING], [_NOTHING]
    for part in view.segments:
        terms, places = part.pairs(numbers)
        living = view.owners[part.texts.keys[places]] == part.serial
        held.append(terms[living])
        keys.append(part.texts.keys[places[living]])
    return np.concatenate(held), np.concatenate(keys)


def _scanned(view: TableView, numbers: Rows, keys: Rows) -> tuple[Rows, Rows]:
    """Return pairs of the position of a term and one of `keys`, ascending, that holds it, by scanning the texts."""
    held, holders = [_NOTHING], [_NOTHING]
    # A table of all words is several times as fast as searches; unknown words have negative numbers.
    last = int(numbers.max(initial=-1))
    position = np.zeros(last + 2, dtype=np.int64)
    position[numbers] = np.arange(1, numbers.size + 1)
    position[-1] = 0
    for part, here, places in view.located(keys) if last >= 0 else ():
        entries, sizes = part.texts.entries(places)
        at = position.take(part.texts.words[entries], mode="clip")
        (hits,) = at.nonzero()
        held.append(at[hits] - 1)
        holders.append(keys[here][np.searchsorted(sizes.cumsum(), hits, side="right")])
    return np.concatenate(held), np.concatenate(holders)


def _grouped(terms: Rows, keys: Rows, count: int) -> list[Rows]:
    """Return for each of `count` terms the keys of its pairs, ascending."""
    by_term = keys[np.lexsort((keys, terms))]
    ends = np.bincount(terms, minlength=count).cumsum().tolist()
    return [by_term[begin:end] for begin, end in pairwise([0, *ends])]


# A recall scores each of its questions in several steps, and threads recall at once.
_QUERIES = 8


class LexicalStore(PostingTable):
    """Texts with tags under integer keys, searched by BM25 with the statistics of all present texts.

    A term is a tag, or a keyword or part of `search_terms`. Tags and parts contain a blank, keywords never do. Tags do
    not count in scores. The distribution of texts over segments affects speed but never results: scores are computed
    in double precision from the counts of terms. Methods are thread-safe.
    """

    def __init__(self) -> None:
        super().__init__()
        # Of the last queries: the query, its `among`, the change counter then, and its weights.
        self._asked: tuple[tuple[str, Rows | None, TableView, QueryWeights], ...] = ()

    def __len__(self) -> int:
        return self.view.texts

    def put(self, keys: Rows, texts: Sequence[str], tags: Sequence[Collection[str]] = ()) -> None:
        """Upsert texts by their keys.

        Args:
            keys: (n,) distinct keys, 0 or larger.
            texts: n texts of any content.
            tags: the tags of each text; none if omitted.
        """
        terms = [dict(Counter(search_terms(text))) for text in texts]
        for place, own in enumerate(tags):
            terms[place] |= dict.fromkeys(own, 0)
        flat = np.array([count for counts in terms for count in counts.values()], dtype=np.int64)
        self.put_words(keys, terms, flat)

    def search(self, query: str, k: int, without: Rows = _NOTHING, among: Rows | None = None) -> Hits:
        """Return keys and scores of the `k` best texts, best first, ties in order of key.

        Only texts that share a keyword with the query are results. Each distinct keyword of the query counts once. The
        result includes all texts that tie with the k-th, so that the caller can break the tie.

        Args:
            query: any text.
            k: how many.
            without: keys of texts that are no results; they still count in the statistics.
            among: keys of the texts that may be results; only they count in the statistics. All if omitted.
        """
        hidden = np.unique(without) if without.size else without
        if among is not None:
            shown = np.setdiff1d(among, hidden) if hidden.size else among
            return best(shown, self.scores(query, shown, among), k)
        view = self.view
        return search(view, self._weights(view, query), k, hidden)

    def scores(self, query: str, keys: Rows, among: Rows | None = None) -> NDArray[np.float64]:
        """Return the score of each key as in `search`; 0 for a missing text or one that shares no keyword."""
        view = self.view
        return scores(view, self._weights(view, query, among), keys, each=among is not None)

    def terms_of(self, key: int, at_most: int | None = None) -> dict[str, int]:
        """Return the terms of a text with their counts, 0 for a tag; an empty dict for a missing text.

        With `at_most`, terms that more texts hold are omitted.
        """
        return self.words_of(np.array([key]), at_most)[0]

    def keys_with(self, terms: Collection[str], limit: int | None = None, among: Rows | None = None) -> Rows:
        """Return the first `limit` keys, or all, whose texts hold all of `terms`, ascending.

        Without terms the result is empty. With `among`, ascending, only these keys are searched.
        """
        numbers = self.vocabulary.numbers(list(terms))
        if not numbers or UNKNOWN in numbers:
            return _NOTHING
        if among is not None and among.size <= _LATEST:
            return among[holding(self.view, numbers, among).all(axis=0)][:limit]
        found = keys_with(self.view, numbers)
        return (found if among is None else found[contained(among, found)])[:limit]

    def rare_keys_with(self, limits: Mapping[str, int], among: Rows | None = None) -> dict[str, Rows]:
        """Return the keys whose texts hold each term, ascending, for terms within their limit.

        With `among`, ascending, only these keys are searched and counted.
        """
        if not limits:
            return {}
        terms, view = list(limits), self.view
        numbers = np.array(self.vocabulary.numbers(terms), dtype=np.int64)
        most, frequencies = np.fromiter(limits.values(), np.int64, len(terms)), view.frequencies_of(numbers)
        if among is not None:
            pairs = pairs_among(view, numbers, among, most, int(frequencies.sum()))
            held = zip(terms, most.tolist(), _grouped(*pairs, numbers.size), strict=True)
            return {term: keys for term, limit, keys in held if keys.size <= limit}
        (rare,) = (frequencies <= most).nonzero()
        asked = rare[frequencies[rare] > 0]
        found = dict(zip(asked.tolist(), _grouped(*_posted(view, numbers[asked]), asked.size), strict=True))
        return {terms[place]: found.get(place, _NOTHING) for place in rare.tolist()}

    def sharing(self, keys: Rows, among: Rows, most: int) -> tuple[Rows, Rows, NDArray[np.float64]]:
        """Return for each of some keys the others among which a keyword joins it that at most `most` of these hold.

        Args:
            keys: distinct keys, all in `among`.
            among: the keys of the texts that count, ascending.
            most: a keyword that more of them hold joins none.

        Returns:
            Three arrays: places in `keys`, other keys, and the sums of 1 / n of the common keywords, at most 1, by
            place and then by key.
        """
        view = self.view
        found = [(here, *part.texts.entries(places), part) for part, here, places in view.located(keys)]
        owner = np.concatenate([_NOTHING, *(here.repeat(sizes) for here, _, sizes, _ in found)])
        words = np.concatenate([_NOTHING, *(part.texts.words[entries] for _, entries, _, part in found)])
        frequencies = view.frequencies
        times = frequencies[words]
        # Where all texts count, their frequency says at once whether a word is rare.
        (shared,) = ((times > 1) & (times <= most) if among.size == view.texts else times > 1).nonzero()
        owner, words = owner[shared], words[shared]
        numbers = distinct(words)
        terms, held = pairs_among(view, numbers, among, np.full(numbers.size, most), int(frequencies[numbers].sum()))
        counts = np.bincount(terms, minlength=numbers.size)
        rare = (counts > 1) & (counts <= most)
        # A tag and a part of a keyword contain a blank, a keyword does not.
        rare[rare] = [" " not in word for word in self.vocabulary.words(numbers[rare])]
        counts[~rare] = 0
        (kept,) = rare[terms].nonzero()
        held = held[kept[terms[kept].argsort(kind="stable")]]
        place = numbers.searchsorted(words)
        (kept,) = rare[place].nonzero()
        owner, place = owner[kept], place[kept]
        sizes = counts[place]
        other = held[spread(counts.cumsum()[place] - sizes, sizes)]
        owner, share = owner.repeat(sizes), (1 / sizes).repeat(sizes)
        (differ,) = (keys[owner] != other).nonzero()
        owner, other = owner[differ], other[differ]
        first, place = firsts(owner * (int(among[-1]) + 1 if among.size else 1) + other)
        weight = np.bincount(place, share[differ], first.size)
        return owner[first], other[first], np.minimum(weight, 1.0)

    def existing(self, terms: Iterable[str], without: Rows = _NOTHING, among: Rows | None = None) -> frozenset[str]:
        """Return those of `terms` that a text holds whose key is in `among` and not in `without`."""
        asked, view = list(terms), self.view
        numbers = self.vocabulary.numbers(asked)
        # Most of the queried terms are usually unknown.
        known = {term: number for term, number in zip(asked, numbers, strict=True) if number != UNKNOWN}
        if not known:
            return frozenset()
        frequencies = view.frequencies_of(np.array(list(known.values()), dtype=np.int64)).tolist()
        if among is not None:
            shown = np.setdiff1d(among, without) if without.size else among
            held = [term for term, count in zip(known, frequencies, strict=True) if count]
            words, found = [known[term] for term in held], [False] * len(held)
            for part, _, places in view.located(shown) if words else ():
                for term, holders in part.postings_of(words):
                    few, many = (places, holders) if places.size < holders.size else (holders, places)
                    found[term] = found[term] or bool(contained(many, few).any())
            return frozenset(compress(held, found))
        # A term that more texts hold than `without` has keys needs no lookup.
        return frozenset(
            term
            for term, count in zip(known, frequencies, strict=True)
            if count > without.size or (count and not np.isin(keys_with(view, [known[term]]), without).all())
        )

    def having(self, terms: Collection[str], keys: Rows) -> NDArray[np.bool_]:
        """Return (terms, keys) bool: whether the text of each key holds each of `terms`."""
        numbers = self.vocabulary.numbers(list(terms))
        return holding(self.view, numbers, keys)

    def marks(self, terms: Sequence[str], keys: Rows) -> NDArray[np.uint8]:
        """Return the bits of those of up to eight terms that the text of each key holds; the first is the lowest."""
        numbers, found = self.vocabulary.numbers(terms), np.zeros(keys.size, dtype=np.uint8)
        for part, here, places in self.view.located(keys):
            found[here] = part.marks(numbers)[places]
        return found

    def _weights(self, view: TableView, query: str, among: Rows | None = None) -> QueryWeights:
        """Return the weights of a query among the texts of some keys, or of all, cached for repeated calls."""
        for asked, searched, read, weights in self._asked:
            if asked == query and searched is among and read is view:
                return weights
        keywords = list(dict.fromkeys(search_terms(query)))
        words = np.array(sorted({*self.vocabulary.numbers(keywords)} - {UNKNOWN}), dtype=np.int64)
        known = Statistics(view.spoken, view.total, view.frequencies_of(words))
        weights = QueryWeights(words, known if among is None else statistics_of(view, words, among))
        self._asked = ((query, among, view, weights), *self._asked[: _QUERIES - 1])
        return weights
