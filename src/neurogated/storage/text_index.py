"""What a store keeps of its nodes' texts in memory: keywords and marks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from neurogated.core.rendering import keyword_text, marks
from neurogated.core.view import Rows
from neurogated.storage.lexical_store import LexicalStore, OverlaidLexicalStore
from neurogated.storage.mark_index import MarkIndex, OverlaidMarkIndex

__all__ = ["Described", "OverlaidTextIndex", "TextIndex"]


class Described(Protocol):
    """Something with a text and metadata: a node or its record."""

    @property
    def content(self) -> str:
        """The text."""

    @property
    def metadata(self) -> Mapping[str, Any]:
        """JSON values."""


class TextIndex(NamedTuple):
    """Keyword search and marks over node rows; both follow from the nodes and can be made anew at any time."""

    keywords: LexicalStore
    marks: MarkIndex

    @classmethod
    def empty(cls) -> TextIndex:
        """Return an index without texts."""
        return cls(LexicalStore(), MarkIndex())

    def put(self, rows: Rows, nodes: Sequence[Described]) -> None:
        """Add nodes, or put them in the place of those at the same rows."""
        self.keywords.put(rows, [keyword_text(node.content, node.metadata) for node in nodes])
        self.marks.put(rows, [marks(node.content, node.metadata) for node in nodes])

    def described(self, row: int) -> tuple[Mapping[str, int], frozenset[str]]:
        """Return what is kept of one node: its keywords with how often each occurs, and its marks."""
        return self.keywords.keywords_of(row), self.marks.marks_of(row)

    def overlaid(self, changed: Rows) -> OverlaidTextIndex:
        """Return an index of the same nodes but those at `changed`, for others to be put in their place."""
        return OverlaidTextIndex(self.keywords.overlaid(changed), self.marks.overlaid(changed))

    def remove(self, rows: Rows) -> None:
        """Forget nodes."""
        self.keywords.remove(rows)
        self.marks.remove(rows)


class OverlaidTextIndex(NamedTuple):
    """Keywords and marks of some rows in the place of those they have in another index: what they once were."""

    keywords: OverlaidLexicalStore
    marks: OverlaidMarkIndex

    def hide(self, rows: Rows) -> None:
        """Let nodes of the other index no longer count, because they change there."""
        self.keywords.hide(rows)
        self.marks.hide(rows)

    def put(self, rows: Rows, nodes: Sequence[Described]) -> None:
        """Add nodes as they once were."""
        self.keywords.put(rows, [keyword_text(node.content, node.metadata) for node in nodes])
        self.marks.put(rows, [marks(node.content, node.metadata) for node in nodes])

    def described(self, row: int) -> tuple[Mapping[str, int], frozenset[str]]:
        """Return what is kept of one node: its keywords with how often each occurs, and its marks."""
        return self.keywords.keywords_of(row), self.marks.marks_of(row)
