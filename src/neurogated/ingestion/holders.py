"""Which texts hold what, before and after a change that is about to be made: a store, and the change laid over it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import count
from typing import NamedTuple

from neurogated.core.keywords import fold
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import names_among, subject_mark, subjects, subjects_among, term_mark, terms, word_mark
from neurogated.core.words import split_words

__all__ = ["Sides", "Text", "TextChange"]


class Sides(NamedTuple):
    """Nodes before and after a change, each in the order of the store."""

    before: Sequence[str]
    after: Sequence[str]

    def few(self, limit: int) -> Sides:
        """Return the sides with none where there are more than `limit`: what many hold is common and tells nothing."""
        return Sides(*(side if len(side) <= limit else () for side in self))

    @property
    def differ(self) -> bool:
        """Whether the change makes a difference."""
        return list(self.before) != list(self.after)


class Text(NamedTuple):
    """What a text holds."""

    words: str
    """Its folded words, each between two blanks."""
    terms: frozenset[str]
    subjects: Collection[str]

    @classmethod
    def of(cls, node: MemoryNode) -> Text:
        """Return what the text of a node holds."""
        return cls(_spaced(node.content), terms(node.content, node.metadata), subjects(node.metadata))

    def names(self, subject: str) -> bool:
        """Return whether it mentions a subject; what it is about itself is no mention."""
        return f" {subject} " in self.words and subject not in self.subjects

    def phrases(self) -> Iterator[str]:
        """Yield all that could be the name of a subject."""
        return names_among(self.words.split())


class TextChange:
    """A change of texts that a store is about to see: some leave it, others come."""

    def __init__(self, store: GraphStorePort, leaving: Iterable[MemoryNode], coming: Sequence[MemoryNode]) -> None:
        """Lay a change over a store.

        Args:
            store: as it is before the change.
            leaving: stored nodes that are to be removed or replaced, as they are stored.
            coming: nodes that are to be stored, in the order in which they will be.
        """
        self._store = store
        self.left: Mapping[str, Text] = {node.id: Text.of(node) for node in leaving}
        self.come: Mapping[str, Text] = {node.id: Text.of(node) for node in coming}
        view = store.view()
        self._rows = view.rows_by_id
        following = count(view.node_count)
        self._new_rows = {node.id: next(following) for node in coming if node.id not in self._rows}
        self._read: dict[str, str] = {}
        self._by_term = (_grouped(self.left, _terms_of), _grouped(self.come, _terms_of))
        self._by_subject = (_grouped(self.left, _subjects_of), _grouped(self.come, _subjects_of))

    def terms(self) -> Iterable[str]:
        """Return the terms of all texts that leave or come."""
        return dict.fromkeys(term for texts in (self.left, self.come) for text in texts.values() for term in text.terms)

    def names(self) -> Iterable[str]:
        """Return the subjects of texts that leave or come, and those of any text that these mention."""
        texts = [*self.left.values(), *self.come.values()]
        phrases = {phrase for text in texts for phrase in text.phrases()}
        own = (name for text in texts for name in text.subjects)
        return {*own, *subjects_among(self._store.carried(map(subject_mark, phrases)))}

    def row(self, node_id: str) -> int:
        """Return the row that a node has in the store or will have: the order of nodes."""
        row = self._rows.get(node_id)
        return self._new_rows[node_id] if row is None else row

    def rows(self, node_ids: Iterable[str]) -> list[int]:
        """Return the row of each node."""
        return list(map(self.row, node_ids))

    def holding(self, term: str, limit: int) -> Sides:
        """Return the nodes with a term; where there are more than `limit`, only so many that this shows."""
        left, come = (group.get(term, ()) for group in self._by_term)
        return self._sides(self._store.holders([term_mark(term)], limit + 1 + len(left)), left, come)

    def about(self, subject: str, limit: int) -> Sides:
        """Return the first nodes about a subject, such as the chunks of a long text, at most `limit`."""
        left, come = (group.get(subject, ()) for group in self._by_subject)
        before, after = self._sides(self._store.holders([subject_mark(subject)], limit + len(left)), left, come)
        return Sides(before[:limit], after[:limit])

    def mentioning(self, subject: str, limit: int) -> Sides:
        """Return the nodes that mention a subject; where there are more than `limit`, only so many that this shows."""
        left, come = (
            [node_id for node_id, text in texts.items() if text.names(subject)] for texts in (self.left, self.come)
        )
        staying = self._mentioning_and_staying(subject, limit + 1)
        return self._sides(sorted((*staying, *left), key=self.row), left, come)

    def _sides(self, stored: Sequence[str], left: Collection[str], come: Collection[str]) -> Sides:
        """Return the sides, given who is stored, and who of them leaves and who comes."""
        if not left and not come:
            return Sides(stored, stored)
        staying = [node_id for node_id in stored if node_id not in left]
        return Sides(stored, sorted((*staying, *come), key=self.row))

    def _mentioning_and_staying(self, subject: str, limit: int) -> list[str]:
        words = [word_mark(word) for word in dict.fromkeys(subject.split())]
        unfit = {*self._store.holders([*words, subject_mark(subject)]), *self.left}
        for most in (limit + len(unfit), None):
            candidates = self._store.holders(words, most)
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
        self._read.update((node.id, _spaced(node.content)) for node in self._store.get_nodes(unread, missing_ok=True))
        return [node_id for node_id in node_ids if f" {subject} " in self._read.get(node_id, "")]


def _spaced(content: str) -> str:
    return f" {' '.join(split_words(fold(content)))} "


def _terms_of(text: Text) -> Iterable[str]:
    return text.terms


def _subjects_of(text: Text) -> Iterable[str]:
    return text.subjects


def _grouped(texts: Mapping[str, Text], keys: Callable[[Text], Iterable[str]]) -> Mapping[str, list[str]]:
    groups: dict[str, list[str]] = defaultdict(list)
    for node_id, text in texts.items():
        for key in keys(text):
            groups[key].append(node_id)
    return groups
