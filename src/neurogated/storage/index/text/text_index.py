"""What a store keeps of its nodes' texts: keywords and marks, in memory or in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

from neurogated.core.rendering import Described, keyword_text, marks
from neurogated.core.view import Rows
from neurogated.storage.index.text.lexical_store import LexicalStore, OverlaidLexicalStore
from neurogated.storage.index.text.mark_index import MarkIndex, OverlaidMarkIndex
from neurogated.storage.index.text.table_files import FrozenTable

__all__ = ["Described", "FrozenTexts", "OverlaidTextIndex", "TextIndex"]

_KEYWORDS = "keywords"
_MARKS = "marks"


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
        self.keywords.put(rows, [keyword_text(node) for node in nodes])
        self.marks.put(rows, [marks(node) for node in nodes])

    def described(self, row: int) -> tuple[Mapping[str, int], frozenset[str]]:
        """Return what is kept of one node: its keywords with how often each occurs, and its marks."""
        return self.keywords.keywords_of(row), self.marks.marks_of(row)

    def isolated(self) -> TextIndex:
        """Return an index of the same nodes, for reading, which later changes here do not reach."""
        return TextIndex(self.keywords.isolated(), self.marks.isolated())

    def overlaid(self, changed: Rows) -> OverlaidTextIndex:
        """Return an index of the same nodes but those at `changed`, for others to be put in their place."""
        return OverlaidTextIndex(self.keywords.overlaid(changed), self.marks.overlaid(changed))

    def remove(self, rows: Rows) -> None:
        """Forget nodes."""
        self.keywords.remove(rows)
        self.marks.remove(rows)

    def settle(self) -> None:
        """Wait until no work goes on in the background."""
        self.keywords.settle()
        self.marks.settle()

    def freeze(self) -> FrozenTexts:
        """Return the present state; quick, and not to be called while another thread changes the index."""
        return FrozenTexts(self.keywords.freeze(), self.marks.freeze())

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return an index over the files of a state that was written; later changes stay in memory.

        Raises:
            OSError: a file cannot be read.
            ValueError: the files are of another form or do not belong together.
        """
        return cls(LexicalStore.load(folder / _KEYWORDS), MarkIndex.load(folder / _MARKS))

    def adopt(self, folder: Path) -> None:
        """Use the files of a state of this index in the place of what is in memory; raises as `load`."""
        self.keywords.adopt(folder / _KEYWORDS)
        self.marks.adopt(folder / _MARKS)


class FrozenTexts(NamedTuple):
    """One state of a text index, to be written while the index itself goes on changing."""

    keywords: FrozenTable
    marks: FrozenTable

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write files into `folder`, which is empty; raises OSError.

        Args:
            folder: where to.
            previous: the folder of an earlier state of the same index, from which files are linked.
        """
        for name, table in ((_KEYWORDS, self.keywords), (_MARKS, self.marks)):
            (folder / name).mkdir()
            table.write(folder / name, None if previous is None else previous / name)


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
        self.keywords.put(rows, [keyword_text(node) for node in nodes])
        self.marks.put(rows, [marks(node) for node in nodes])

    def described(self, row: int) -> tuple[Mapping[str, int], frozenset[str]]:
        """Return what is kept of one node: its keywords with how often each occurs, and its marks."""
        return self.keywords.keywords_of(row), self.marks.marks_of(row)
