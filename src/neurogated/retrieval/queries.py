"""The questions of a recall, the checks of its arguments, and its first phase.

The first phase is the keyword search. It needs no vector of the question, so it can run while the question is embedded.
The second phase, vector search, then measures the memories that it found.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import NamedTuple
from unicodedata import normalize

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Moment, offset_of
from neurogated.core.kernel import Kernel
from neurogated.core.model import checked_count
from neurogated.core.ports import Snapshot
from neurogated.errors import InputError
from neurogated.retrieval.dormancy import NOTHING, Scored
from neurogated.retrieval.question_kinds import has_interrogative
from neurogated.text.normalise import plain_question
from neurogated.text.strings import ends_of, repaired_text
from neurogated.text.time_spans import Span
from neurogated.text.times import Zone, zone_named


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
