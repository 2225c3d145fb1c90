"""Which texts hold what, before and after a change that is about to be made: a store, and the change laid over it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import count
from typing import NamedTuple

from neurogated.core.keywords import fold
from neurogated.core.model import MemoryNode
from neurogated.core.rendering import (
    names_carried,
    opening_mark,
    subject_mark,
    subjects,
    subjects_among,
    term_mark,
    terms,
    word_mark,
)
from neurogated.core.words import split_words
from neurogated.ingestion.user_graph import UserGraph

__all__ = ["Sides", "Text", "TextChange"]


class Sides(NamedTuple):
    """Nodes before and after a change, each in the order of the store."""

    before: Sequence[str]
    after: Sequence[str]

    @property
    def differ(self) -> bool:
        """Whether the change makes a difference."""
        return self.before != self.after


class Text(NamedTuple):
    """What a text holds."""

    words: str
    """Its folded words, each between two blanks."""
    terms: Collection[str]
    """The marks of its terms."""
    subjects: Collection[str]

    @classmethod
    def of(cls, node: MemoryNode) -> Text:
        """Return what the text of a node holds."""
        return cls(_spaced(node.content), list(map(term_mark, terms(node))), subjects(node.title))


class TextChange:
    """A change of texts that a store is about to see: some leave it, others come."""

    def __init__(self, graph: UserGraph, leaving: Iterable[MemoryNode], coming: Sequence[MemoryNode]) -> None:
        """Lay a change over the memories of a user.

        Args:
            graph: as it is before the change.
            leaving: stored nodes that are to be removed or replaced, as they are stored.
            coming: nodes that are to be stored, in the order in which they will be.
        """
        self._graph = graph
        self.left: Mapping[str, Text] = {node.id: Text.of(node) for node in leaving}
        self.come: Mapping[str, Text] = {node.id: Text.of(node) for node in coming}
        self._view = graph.view
        self._rows = self._view.rows_by_id
        following = count(self._view.node_count)
        self._new_rows = {node.id: next(following) for node in coming if node.id not in self._rows}
        self._read: dict[str, str] = {}
        self._by_term = _grouped(self.left, _terms_of), _grouped(self.come, _terms_of)
        self._by_subject = _grouped(self.left, _subjects_of), _grouped(self.come, _subjects_of)

    def terms(self) -> AbstractSet[str]:
        """Return the marks of the terms of all texts that leave or come."""
        left, come = self._by_term
        return left.keys() | come.keys()

    def names(self) -> Collection[str]:
        """Return the subjects of texts that leave or come, and those of any text that these mention."""
        return {name for groups in (*self._by_subject, *self._by_named) for name in groups}

    def row(self, node_id: str) -> int:
        """Return the row that a node has in the store or will have: the order of nodes."""
        row = self._rows.get(node_id)
        return self._new_rows[node_id] if row is None else row

    def holding(self, terms: Iterable[str], limit: int) -> dict[str, Sides]:
        """Return the nodes with each term, given by its mark; none where there are more than `limit`."""
        leaving, coming = self._by_term
        # Where more hold a term there are too many of them before the change and after it.
        limits = {term: limit + len(leaving.get(term, ())) for term in terms}
        stored = self._graph.few_holders(limits)
        return {
            term: self._few(stored[term], leaving.get(term, ()), coming.get(term, ()), limit)
            if term in stored
            else Sides([], [])
            for term in limits
        }

    def about(self, subject: str, limit: int) -> Sides:
        """Return the first nodes about a subject, such as the chunks of a long text, at most `limit`."""
        left, come = (group.get(subject, ()) for group in self._by_subject)
        stored = self._graph.holders([subject_mark(subject)], limit + len(left))
        return Sides(stored[:limit], self._after(stored, left, come)[:limit])

    def mentioning(self, subject: str, limit: int) -> Sides:
        """Return the nodes that mention a subject; none where there are more than `limit`."""
        left, come = (group.get(subject, ()) for group in self._by_named)
        staying = self._mentioning_and_staying(subject, limit + 1)
        return self._few(sorted((*staying, *left), key=self.row) if left else staying, left, come, limit)

    @cached_property
    def _by_named(self) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
        """The texts that leave and those that come, by the subjects that they mention."""
        own = {subject_mark(name) for groups in self._by_subject for name in groups}
        own |= set(map(opening_mark, own))

        # Most words are in many of the texts, so the store is asked about each once.
        known: dict[str, bool] = {}

        def carried(marks: Iterable[str]) -> frozenset[str]:
            asked = frozenset(marks)
            if unasked := asked - known.keys():
                found = self._graph.carried(unasked) | own
                known.update((mark, mark in found) for mark in unasked)
            return frozenset(filter(known.__getitem__, asked))

        def named_in(text: Text) -> Iterable[str]:
            # What a text is about itself is no mention.
            return subjects_among(names_carried(text.words.split(), carried, speakers=False)).difference(text.subjects)

        return _grouped(self.left, named_in), _grouped(self.come, named_in)

    def _few(self, stored: list[str], left: Collection[str], come: Sequence[str], limit: int) -> Sides:
        """Return the sides, given who of them is stored, who leaves and who comes; what many hold tells nothing."""
        before = stored if len(stored) <= limit else []
        if len(stored) + len(come) - len(left) > limit:
            return Sides(before, [])
        return Sides(before, self._after(stored, left, come))

    def _after(self, stored: list[str], left: Collection[str], come: Sequence[str]) -> list[str]:
        after = [*(node_id for node_id in stored if node_id not in left), *come] if left else [*stored, *come]
        # What is new follows all else, in the order in which it comes.
        return after if self._new_rows.keys() >= set(come) else sorted(after, key=self.row)

    def _mentioning_and_staying(self, subject: str, limit: int) -> list[str]:
        words = [word_mark(word) for word in dict.fromkeys(subject.split())]
        unfit = {*self._graph.holders([*words, subject_mark(subject)]), *self.left}
        for most in (limit + len(unfit), None):
            candidates = self._graph.holders(words, most)
            found = self._naming(subject, [node_id for node_id in candidates if node_id not in unfit], limit)
            if len(found) == limit or len(candidates) != most:
                break
        return found

    def _naming(self, subject: str, candidates: Sequence[str], limit: int) -> list[str]:
        """Return the first `limit` of stored nodes that hold a subject's words and do so in their order."""
        if " " not in subject:
            return list(candidates[:limit])
        found: list[str] = []
        begin = 0
        # Where the name is common there is no need to read all of them.
        while begin < len(candidates) and len(found) < limit:
            end = begin + limit - len(found)
            found += self._reading(subject, candidates[begin:end])
            begin = end
        return found

    def _reading(self, subject: str, node_ids: Sequence[str]) -> list[str]:
        """Return those of the stored nodes whose content has the name of a subject; the texts themselves tell."""
        unread = [node_id for node_id in node_ids if node_id not in self._read]
        self._read.update((node.id, _spaced(node.content)) for node in self._graph.get_nodes(unread))
        return [node_id for node_id in node_ids if f" {subject} " in self._read.get(node_id, "")]


def _spaced(content: str) -> str:
    return f" {' '.join(split_words(fold(content)))} "


def _terms_of(text: Text) -> Iterable[str]:
    return text.terms


def _subjects_of(text: Text) -> Iterable[str]:
    return text.subjects


def _grouped(texts: Mapping[str, Text], keys: Callable[[Text], Iterable[str]]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for node_id, text in texts.items():
        for key in keys(text):
            groups[key].append(node_id)
    return dict(groups)
