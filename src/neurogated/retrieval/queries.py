"""The questions of a recall: how a text is read for what it asks, the first phase of its search, and its arguments.

"Who owns the red car? And when is the party?" has one vector and one list of keywords, and the memories that answer one
half take the places of those that answer the other. So a recall searches for the whole text and for each of its
questions, and takes from each in turn. In "The coffee is gone. Who owns the red car?" the words around the question
would hide its answer in the same way.

A request, as in "If you don't mind, could you tell me, where does Ana live?", speaks to somebody, has no name and no
number, and is about something else than the question: no memory has a rare word of it beside a rare word of the
question. A mark parts it from the question. People who type without marks write "hey can you look something up for me
where does Ana live". There the word that asks parts the two. Typing errors are corrected by the words of the memories.

The first phase is the keyword search. It needs no vector of the question, so it can run while the question is embedded.
The second phase, vector search, then measures the memories that it found.
"""

import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from itertools import chain, islice, pairwise, zip_longest
from math import inf
from string import ascii_lowercase
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Moment, offset_of
from neurogated.core.kernel import Kernel
from neurogated.core.model import checked_count
from neurogated.core.ports import Snapshot
from neurogated.core.read_only import Deferred
from neurogated.core.rendering import names_in
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.errors import InputError
from neurogated.retrieval.dormancy import NOTHING, Scored
from neurogated.retrieval.kernel_generator import has_interrogative, interrogatives_of
from neurogated.retrieval.turns import is_first_person
from neurogated.text.keywords import ENGLISH_STOP_WORDS, fold, split_keywords, split_words, words_of
from neurogated.text.normalise import plain_question
from neurogated.text.sentences import is_question, split_sentences
from neurogated.text.strings import ends_of, repaired_text, table_of
from neurogated.text.time_spans import Span
from neurogated.text.times import Zone, zone_named

_MARKS = ("?", "？")
_MOST = 4
"""Questions of a text that are searched for, the first ones."""
_FEWEST_ASKED, _FEWEST_WORDS = 2, 4
"""A question with fewer of both, such as "Is that right?", asks nothing of its own."""
_QUOTED = re.compile('"[^"]*"|“[^“”]*”|„[^„“]*“|«[^«»]*»|「[^「」]*」')
_ADDED = re.compile(
    r"(?=[aeuy另还還此以])(?=(?<!\w)(?:and|also|und|außerdem|et|aussi|y|también)(?!\w)|另外|还有|還有|此外|以及)",
    re.IGNORECASE,
)
"""The place before words that add something. Their first letters come first, since most places have none of them."""
_ALONE = 2
"""Recalls of a text with a single question: its own and that of the question."""
_LONGEST = 10_000
"""Characters; a longer text is searched for as a whole only."""


def each_question(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return all texts, each followed by its questions, and how many strings each text has become."""
    groups = [with_questions(text) for text in texts]
    return list(chain.from_iterable(groups)), [len(group) for group in groups]


def merged(recalls: Iterable[Recall], sizes: Sequence[int], most: int) -> list[Recall]:
    """Return one recall for each text, with at most `most` memories; see `each_question` and `alternated`."""
    left = iter(recalls)
    return [alternated(list(islice(left, size)), most) for size in sizes]


def with_questions(text: str) -> list[str]:
    """Return a text and its questions; the text alone if all of it is about its only question, or if it is long.

    In a text without a question mark, the words that ask tell its questions apart.
    """
    if len(text) > _LONGEST:
        return [text]
    if not any(mark in text for mark in _MARKS):
        parts = [part for part in dict.fromkeys(_unmarked(text)) if _asks(part) and has_interrogative(part)]
        return [text, *parts[:_MOST]] if len(parts) > 1 else [text]
    sentences = list(dict.fromkeys(_unbroken(text)))
    if len(sentences) == 1:
        return [text]
    questions = [one for one in sentences if is_question(one) and _asks(one)]
    return [text, *(_without_others(questions[0], sentences) if len(questions) == 1 else questions[:_MOST])]


def _without_others(question: str, sentences: Sequence[str]) -> list[str]:
    """Return the only question of a text with the sentences that share a keyword with it, if others say something."""
    keywords = set(split_keywords(question))
    others = [one for one in sentences if one != question and _asks(one) and keywords.isdisjoint(split_keywords(one))]
    return ["".join(one for one in sentences if one not in others)] if others else []


def _unmarked(text: str) -> Iterator[str]:
    """Yield the parts of a text without question marks: its sentences, divided where another question is added."""
    for sentence in _unbroken(text):
        begin, asking = 0, interrogatives_of(sentence)
        places = [*(found.start() for found in _ADDED.finditer(sentence)), len(sentence)]
        for place, end in pairwise(places):
            if _any_between(asking, begin, place) and _any_between(asking, place, end):
                yield sentence[begin:place]
                begin = place
        yield sentence[begin:]


def _any_between(places: Sequence[int], begin: int, end: int) -> bool:
    """Return whether one of some places, which ascend, is in a part of a text."""
    return bisect_left(places, begin) < bisect_left(places, end)


def _asks(question: str) -> bool:
    return len(split_keywords(question)) >= _FEWEST_ASKED or len(question.split()) >= _FEWEST_WORDS


def _unbroken(text: str) -> Iterator[str]:
    """Yield the sentences of a text; a quotation ends none."""
    begin = 0
    for sentence in split_sentences(_QUOTED.sub(lambda quoted: "q" * len(quoted[0]), text)):
        yield text[begin : begin + len(sentence)]
        begin += len(sentence)


def alternated(recalls: Sequence[Recall], most: int) -> Recall:
    """Return the recall of a text with memories of each of its questions.

    Args:
        recalls: that of the whole text, then those of its questions.
        most: maximum number of memories.

    Returns:
        The recall of the whole text if there are no others. Else the best memory of each recall, then the second of
        each, and so on; each memory once, with the score and the flows from where it came first. The recall with the
        best match goes first. A single question has two turns of three.
    """
    whole, *others = recalls
    if not others:
        return whole
    memories = tuple(islice(_in_turn(recalls), most))
    shown = {memory.id for memory in memories}
    anchors = dict[str, float]()
    for name, value in chain.from_iterable(recall.anchors for recall in recalls):
        anchors[name] = max(value, anchors.get(name, value))
    seconds = sum((Counter(recall.seconds) for recall in recalls), Counter[str]())
    return replace(
        whole,
        memories=memories,
        confidence=max(recall.confidence for recall in recalls),
        anchors=tuple(sorted(anchors.items(), key=lambda each: (-each[1], each[0]))),
        seconds={stage: float(seconds[stage]) for stage in whole.seconds},
        notes=(*whole.notes, f"questions of the text that were searched for, too: {len(others)}"),
        relays=Deferred(
            lambda: {
                name: steps
                for recall in reversed(recalls)
                for name, steps in recall.relays.items()
                if name not in shown and name not in anchors
            }
        ),
        activated={name: value for name, value in whole.activated.items() if name not in shown},
    )


def _in_turn(recalls: Sequence[Recall]) -> Iterator[RecalledMemory]:
    """Yield the first memories of all, then the second of all, each memory once."""
    yielded = set[str]()
    if len(recalls) > _ALONE:
        in_order = sorted(recalls, key=lambda recall: max((one.score for one in recall), default=0.0), reverse=True)
        turns = list(map(iter, in_order))
    else:
        # The words around a single question say less than the question, so it has two of three places.
        whole, question = map(iter, recalls)
        turns = [question, question, whole]
    for memory in chain.from_iterable(zip_longest(*turns)):
        if memory is not None and memory.id not in yielded:
            yielded.add(memory.id)
            yield memory


Rare = Callable[[Collection[str]], Mapping[str, Collection[int]]]
"""Returns the memories that have each of some keywords, without the keywords that many memories have."""
Existing = Callable[[Iterable[str]], Collection[str]]
"""Returns those of some keywords and tags that memories have."""
_ADDRESS, _PREPOSITIONS = (words_of(table_of(__package__, "words")[name]) for name in ("address", "prepositions"))
"""Before a word that asks they begin no clause: "born in which city"."""
_CHINESE_ADDRESS = re.compile("[你您](?!们)")
_BREAK = re.compile(r"[,，:：;；—–]\s*")
_NAME_OR_NUMBER = re.compile(r"(?<=[^\W\d_][\s,;:])(?!I\b)[A-ZÀ-Þ]|\d")
_FEWEST_KEYWORDS = 2
_RARE_SHARE, _RARE = 100, 8
"""A rare word is in up to a hundredth of the memories, or in eight."""


def rare_words(snapshot: Snapshot, words: Collection[str]) -> dict[str, list[int]]:
    """Return the memories that have each of `words`, without the words that many memories have."""
    view = snapshot.view
    size = view.node_count if view.among is None else view.among.size
    rare = snapshot.rare_rows_with(dict.fromkeys(words, max(_RARE, size // _RARE_SHARE)))
    return {word: rows.tolist() for word, rows in rare.items()}


def without_request(text: str, rare: Rare, existing: Existing) -> str:
    """Return a text whose sentences have lost the requests before their questions."""
    return "".join(_without_unmarked(_reduced(sentence, rare), rare, existing) for sentence in split_sentences(text))


def _reduced(sentence: str, rare: Rare) -> str:
    if not _BREAK.search(sentence):
        return sentence
    begin = 0
    for found in _BREAK.finditer(sentence, 0, max(interrogatives_of(sentence), default=0)):
        request, question = sentence[begin : found.end()], sentence[found.end() :]
        words = split_words(fold(request))
        addresses = not _ADDRESS.isdisjoint(words) or _CHINESE_ADDRESS.search(request) is not None
        if not (addresses and _is_open(request, words)) or _belong_together(request, question, rare):
            break
        begin = found.end()
    return sentence[begin:]


def _without_unmarked(sentence: str, rare: Rare, existing: Existing) -> str:
    """Return a sentence without a request that only a word that asks parts from the question.

    These words may also begin the question, as in "I met the singer of which band". So a request
    speaks of who asks or is asked and names nothing: no subject, and no two rare words of one memory.
    """
    place = next((place for place in interrogatives_of(sentence) if sentence[:place].strip()), 0)
    request, question = sentence[:place], sentence[place:]
    words = split_words(fold(request))
    # In Chinese no white space stands before a word that asks, which need not begin the question.
    if not words or not request[-1].isspace() or _BREAK.search(request) or words[-1] in _PREPOSITIONS:
        return sentence
    # "Can you list the order in which I mentioned them" is one question.
    speaks, goes_on = map(_speaks, (words, split_words(fold(question))[1:2]))
    if not speaks or goes_on or not _is_open(request, words) or names_in([words], existing)[0]:
        return sentence
    return sentence if _belong_together(request, question, rare, most=1) else question


def _speaks(words: Sequence[str]) -> bool:
    return not _ADDRESS.isdisjoint(words) or is_first_person(" ".join(words))


def _is_open(text: str, words: Sequence[str]) -> bool:
    """Return whether a text with these words has no name, no number and no question of its own."""
    # "Could you" asks, but not for what the question asks.
    is_open = not interrogatives_of(text) or not _ADDRESS.isdisjoint(words[1:2])
    return is_open and not _NAME_OR_NUMBER.search(text)


def _belong_together(request: str, question: str, rare: Rare, most: float = inf) -> bool:
    """Return whether request and question belong together.

    So they do if a memory has a rare word of both, or more than `most` rare words of the request, or if the question
    has too few keywords to tell.
    """
    first, second = set(split_keywords(request)), set(split_keywords(question))
    if len(second) < _FEWEST_KEYWORDS:
        return True
    memories = rare(first | second)
    held, asked = (Counter(name for word in words for name in memories.get(word, ())) for words in (first, second))
    return not held.keys().isdisjoint(asked) or max(held.values(), default=0) > most


CountTokens = Callable[[Sequence[str]], Sequence[int]]
_REACH = 2
"""Words on each side of a name that tell whether a memory has the name that is meant."""
# A part of an address, a number, or a word with signs inside is no word: only marks, dashes and "'s" stand beside one.
_WORD = re.compile(
    r"""(?<![^\s(\[{"'“\u2018„«¿¡*–—])[^\W\d_]{5,}(?=(?:['’]s)?[.,;:!?…)\]}"'”’»*，。！？；：、）]*(?:[\s–—]|$))"""
)


def corrected(
    query: str, existing: Existing, count_tokens: CountTokens, holding: Callable[[Collection[str]], bool]
) -> str:
    """Return a question in which words with a typing error are words of the memories.

    A word is changed if no memory has it, the embedder cuts it into several tokens, and a word of a memory that is one
    letter or one exchange of neighbouring letters away has fewer tokens. So a rare word of the language stays. Names
    often differ by a letter. So a word with a capital is changed by more than an exchange only if a memory has the new
    word and one of the two words on each side.

    Args:
        query: any text.
        existing: called with keywords; see `split_keywords`.
        count_tokens: returns the number of the embedder's tokens of each text.
        holding: returns whether a memory has all of some keywords.
    """
    places = {found[0]: found.span() for found in reversed(list(_WORD.finditer(query)))}
    plain = ((word, fold(word)) for word in reversed(places))
    words = [word for word, one in plain if one.isascii() and one.isalpha() and one not in ENGLISH_STOP_WORDS]
    # Each of these words is one keyword.
    keywords = dict(zip(words, split_keywords(" ".join(words)), strict=True))
    known = existing(keywords.values()) if keywords else ()
    unknown = [word for word in words if keywords[word] not in known]
    if not unknown:
        return query
    # A name in small letters has more tokens than it has with a capital, if the embedder has both.
    sizes = dict(zip(unknown, count_tokens([fold(word) for word in unknown]), strict=True))
    changes = {word: _nearest(fold(word), size, existing, count_tokens) for word, size in sizes.items() if size > 1}
    for word, other in changes.items():
        if other and word[0].isupper() and sorted(fold(word)) != sorted(other):
            (keyword,) = split_keywords(other)
            place = places[word]
            before, after = query[: place[0]].split()[-_REACH:], query[place[1] :].split()[:_REACH]
            if not any(holding([keyword, near]) for near in split_keywords(" ".join([*before, *after]))):
                changes[word] = None
    return _WORD.sub(lambda found: _in_case(changes.get(found[0]) or found[0], found[0]), query)


def _nearest(word: str, size: int, existing: Existing, count_tokens: CountTokens) -> str | None:
    """Return the word of the memories nearest to `word`, which has `size` tokens, if there is one."""
    near = [other for other in dict.fromkeys(_one_step_away(word)) if other not in ENGLISH_STOP_WORDS]
    keywords = dict(zip(near, split_keywords(" ".join(near)), strict=True))
    known = existing(set(keywords.values()))
    found = [other for other in near if keywords[other] in known]
    tokens, nearest = min(zip(count_tokens(found), found, strict=True), key=lambda each: each[0], default=(size, None))
    return nearest if tokens < size else None


def _one_step_away(word: str) -> Iterator[str]:
    """Yield the words at a Damerau-Levenshtein distance of one, the likely errors first; the first letter stays."""
    parts = [(word[:place], word[place:]) for place in range(1, len(word) + 1)]
    yield from (begin + end[1] + end[0] + end[2:] for begin, end in parts if len(end) > 1)
    yield from (begin + end[1:] for begin, end in parts if end)
    yield from (begin + letter + end for begin, end in parts for letter in ascii_lowercase)
    yield from (begin + letter + end[1:] for begin, end in parts if end for letter in ascii_lowercase)


def _in_case(word: str, model: str) -> str:
    """Return `word` in the capitals of `model`."""
    if word == model:
        return word
    if model.isupper():
        return word.upper()
    return word.capitalize() if model[0].isupper() else word


@cache
def _threads_of(_process: int) -> ThreadPoolExecutor:
    """Return the threads that all retrievers share; a forked process has none of its parent's."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="first-phase")


def started(search: Callable[[], list[Scored]]) -> Future[list[Scored]]:
    """Run the first phase in a thread."""
    return _threads_of(os.getpid()).submit(search)


def first_phase(snapshot: Snapshot, config: MemoryConfig, queries: Sequence[str], *, depth: int) -> list[Scored]:
    """For each query, find up to `depth` memories by keywords: rows with their BM25, best first."""
    if not config.retrieval.keyword_weight:
        return [NOTHING] * len(queries)
    return [snapshot.keyword_search(query, depth) for query in queries]


MAX_QUERY_CHARS = 10000
"""Characters of a query that count; of a longer one, the beginning and the end."""


class Asked(NamedTuple):
    """A question with its vector, its kernel and its nearest neighbours."""

    given: str
    plain: str
    """The part of `given` that counts, without courtesies."""
    query: str
    """`plain` with typing errors corrected."""
    vector: NDArray[np.float32]
    kernel: Kernel
    nearest: Scored | None
    """The rows that vector search found, and their cosines; None if all memories are measured."""
    present: int
    """The present, in microseconds since 1970 UTC."""
    zone: Zone
    """The zone of the user's days."""
    span: Span | None
    """The days that `query` names."""
    keywords: str
    """`query` without relative words for days, which texts of other days have, too."""
    first: Scored | None
    """The rows that keyword search found, with their BM25; None if all memories are measured."""

    def notes(self) -> Iterator[str]:
        """Yield the remarks of `Recall.notes` on how the question was read."""
        if self.kernel.note:
            yield self.kernel.note
        if len(_counted(self.given)) < len(self.given.strip()):
            yield f"the query has {len(self.given)} characters; its beginning and end were searched for"
        if self.query != self.plain:
            yield f"words of the query that no memory has were corrected: {self.query}"


def checked_queries(queries: Sequence[str]) -> list[str]:
    """Return queries without halves of characters, as texts are stored.

    Raises:
        InputError: a query is no text or blank, or one text is given in place of a list.
    """
    if isinstance(queries, str):
        raise InputError(f"the queries are {queries!r}, but must be a list of texts; put a single query in a list")
    return [checked_query(query) for query in queries]


def checked_query(query: str) -> str:
    """Return one query; see `checked_queries`."""
    query = repaired_text("the query", query)
    if not query.strip():
        raise InputError("the query is blank; ask something")
    return query


def _counted(query: str) -> str:
    """Return the part of a query that counts: all of it, or the ends of a long one.

    The length is that of the words that are looked for, because one character may stand for a line of letters.
    """
    text = ends_of(query, MAX_QUERY_CHARS)
    width = len(text) if text.isascii() else len(normalize("NFKC", text))
    return text if width <= MAX_QUERY_CHARS + len(text) else ends_of(text, MAX_QUERY_CHARS * len(text) // width)


def plain_query(query: str) -> str:
    """Return the beginning and the end of a query, without courtesies; a question without a mark gets one.

    The vector of a question with its mark is nearer to its answers.
    """
    plain = plain_question(_counted(query)).rstrip()
    is_marked = not plain[-1:].isalnum() or "?" in plain or "？" in plain
    return plain if is_marked or not has_interrogative(plain) else f"{plain}?"


def zone_of(name: str | None, now: Moment | None, usual: Zone) -> Zone:
    """Return the zone of a recall: the one with this name, or the usual one, or that in which `now` is given.

    Raises:
        InputError: there is no zone with this name.
    """
    return usual or offset_of(now) if name is None else zone_named(name)


def checked_top(top_n: int) -> int:
    """Return the number of memories to return; raise InputError if it is not at least 1."""
    if not checked_count("top_n", top_n):
        raise InputError(f"top_n is {top_n}, but must be at least 1")
    return top_n


def checked_number(name: str, value: object, least: float, most: float = np.inf) -> float:
    """Return a number, `least` if it is None; raise InputError if it is no number between both."""
    if value is None:
        return least
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise InputError(f"{name} is {value!r}, but must be a number{' from 0 to 1' if most == 1 else ''}")
    return value
