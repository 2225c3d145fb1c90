"""The nodes with a term or subject before and after a change of texts: the store's index, with the change over it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from itertools import chain, count
from typing import NamedTuple

from neurogated.core.model import MemoryNode
from neurogated.core.rendering import (
    keyword_text,
    names_in,
    opening_tag,
    subject_names,
    subject_tag,
    subjects_among,
)
from neurogated.ingestion.names import keywords_of_name
from neurogated.ingestion.user_graph import UserGraph
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.words import split_words


class Holders(NamedTuple):
    """Nodes with a term before and after a change, both in the order of the store."""

    before: Sequence[str]
    after: Sequence[str]

    @property
    def differ(self) -> bool:
        """Whether the change alters the nodes."""
        return self.before != self.after


class Text(NamedTuple):
    """The words, keywords and subjects of a text."""

    words: Sequence[str]
    """Its folded words."""
    terms: AbstractSet[str]
    """Its keywords."""
    subjects: Collection[str]

    @classmethod
    def of(cls, node: MemoryNode) -> Text:
        """Return the text of a node."""
        return cls(split_words(fold(node.content)), frozenset(split_keywords(keyword_text(node))), subject_names(node))


class TextChange:
    """A change of texts before it is written: some texts leave the store, others come."""

    def __init__(self, graph: UserGraph, leaving: Iterable[MemoryNode], coming: Sequence[MemoryNode]) -> None:
        """Lay a change over the memories of a user.

        Args:
            graph: the user's graph before the change.
            leaving: stored versions of the nodes to remove or replace.
            coming: nodes to store, in the order of storage.
        """
        self._graph = graph
        self.left: Mapping[str, Text] = {node.id: Text.of(node) for node in leaving}
        self.come: Mapping[str, Text] = {node.id: Text.of(node) for node in coming}
        self._rows = graph.view.rows_by_id
        following = count(graph.view.node_count)
        self._new_rows = {node.id: next(following) for node in coming if node.id not in self._rows}
        self._sides = self.left, self.come
        self._read: dict[str, str] = {}
        self._by_subject = _grouped(self.left, _subjects_of), _grouped(self.come, _subjects_of)

    def terms(self) -> AbstractSet[str]:
        """Return the keywords of all leaving and coming texts."""
        return frozenset[str]().union(*(text.terms for text in (*self.left.values(), *self.come.values())))

    def names(self) -> Collection[str]:
        """Return the subjects of leaving and coming texts, and all subjects that these texts mention."""
        return {name for groups in (*self._by_subject, *self._by_named) for name in groups}

    def rows_of(self, node_ids: Iterable[str]) -> dict[str, int]:
        """Return the present or future row of each node."""
        rows, new = self._rows, self._new_rows
        return {node_id: new[node_id] if node_id in new else rows[node_id] for node_id in node_ids}

    def row(self, node_id: str) -> int:
        """Return the present or future row of a node in the store. Rows define the order of nodes."""
        row = self._rows.get(node_id)
        return self._new_rows[node_id] if row is None else row

    def holding(self, limit: int) -> Iterator[tuple[Sequence[str], Sequence[str]]]:
        """Yield the nodes with a keyword before and after the change, of each keyword of its texts that nodes share.

        A keyword that more than `limit` nodes have has no nodes.
        """
        leaving, coming = (_grouped(side, _terms_of) for side in self._sides)
        # If more nodes have a term, it exceeds `limit` both before and after the change.
        limits = {**dict.fromkeys(coming, limit), **{term: limit + len(ids) for term, ids in leaving.items()}}
        for term, stored in self._graph.rare_nodes_with(limits).items():
            come = coming.get(term, ())
            if len(stored) + len(come) > 1:
                yield self._few(stored, leaving.get(term, ()), come, limit)

    def about(self, subject: str, limit: int) -> Holders:
        """Return the first `limit` nodes about a subject, such as the chunks of a long text."""
        left, come = (group.get(subject, ()) for group in self._by_subject)
        stored = self._graph.nodes_with([subject_tag(subject)], limit + len(left))
        return Holders(stored[:limit], self._after(stored, left, come)[:limit])

    def mentioning(self, subject: str, limit: int) -> Holders:
        """Return the nodes that mention a subject; no nodes if more than `limit` mention it."""
        left, come = (group.get(subject, ()) for group in self._by_named)
        staying = self._mentioning_and_staying(subject, limit + 1)
        return self._few(sorted((*staying, *left), key=self.row) if left else staying, left, come, limit)

    @cached_property
    def _by_named(self) -> tuple[Mapping[str, list[str]], Mapping[str, list[str]]]:
        """The ids of leaving and of coming texts, by the subjects that they mention."""
        own = {subject_tag(name) for groups in self._by_subject for name in groups}
        own |= set(map(opening_tag, own))

        def existing(tags: Iterable[str]) -> AbstractSet[str]:
            asked = frozenset(tags)
            return self._graph.existing_tags(asked) | (own & asked)

        texts = [*self.left.values(), *self.come.values()]
        tags = names_in([text.words for text in texts], existing, subjects_only=True)
        # The subjects of the text itself are not mentions.
        names = [
            subjects_among(own).difference(text.subjects) if own else own for text, own in zip(texts, tags, strict=True)
        ]
        ways = {name: keywords_of_name(name) for name in frozenset[str]().union(*names)}
        found = iter(
            [
                [name for name in own if any(way <= text.terms for way in ways[name])]
                for text, own in zip(texts, names, strict=True)
            ]
        )
        left, come = (_grouped(side, lambda _: next(found)) for side in self._sides)
        return left, come

    def _few(self, stored: list[str], left: Collection[str], come: Sequence[str], limit: int) -> Holders:
        """Return the nodes before and after the change; no nodes for a side with more than `limit`."""
        before = stored if len(stored) <= limit else []
        if len(stored) + len(come) - len(left) > limit:
            return Holders(before, [])
        return Holders(before, self._after(stored, left, come))

    def _after(self, stored: list[str], left: Collection[str], come: Sequence[str]) -> list[str]:
        after = [*(node_id for node_id in stored if node_id not in left), *come] if left else [*stored, *come]
        # New nodes follow all others, in the order in which they come.
        return after if self._new_rows.keys() >= set(come) else sorted(after, key=self.row)

    def _mentioning_and_staying(self, subject: str, limit: int) -> list[str]:
        """Return the first `limit` stored nodes that mention a subject and do not leave."""
        ways = keywords_of_name(subject)
        about = subject_tag(subject)
        unfit = {node_id for way in ways for node_id in self._graph.nodes_with([*way, about])}.union(self.left)
        for most in (limit + len(unfit), None):
            found = [self._graph.nodes_with(way, most) for way in ways]
            candidates = sorted({*chain.from_iterable(found)} - unfit, key=self.row)
            naming = self._naming(subject, candidates, limit)
            # If a way has more candidates than were read, its next ones may come before candidates of another way.
            if most is None or all(len(held) < most for held in found) or (len(found) == 1 and len(naming) == limit):
                break
        return naming

    def _naming(self, subject: str, candidates: Sequence[str], limit: int) -> list[str]:
        """Return the first `limit` candidates whose content has the name of a subject. This reads their texts."""
        found: list[str] = []
        begin = 0
        # For a common name, the first candidates suffice.
        while begin < len(candidates) and len(found) < limit:
            end = begin + limit - len(found)
            found += self._reading(subject, candidates[begin:end])
            begin = end
        return found

    def _reading(self, subject: str, node_ids: Sequence[str]) -> list[str]:
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
    groups: dict[str, list[str]] = {}
    for node_id, text in texts.items():
        for key in keys(text):
            groups[key] = [*groups[key], node_id] if key in groups else [node_id]
    return groups
