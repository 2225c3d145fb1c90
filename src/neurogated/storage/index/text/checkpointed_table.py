"""What keyword search and marks share: a table of postings that can be kept in files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Self

from neurogated.storage.index.text.posting_table import TAIL_TEXTS, PostingTable
from neurogated.storage.index.text.segment import Impacts, TextWords
from neurogated.storage.index.text.table_files import FrozenTable

__all__ = ["KeptTable"]


class KeptTable(ABC):
    """Base of what answers from a table of postings; methods may be called from several threads.

    Args:
        tail_texts: how many texts may wait before they are made a segment; more make searches slower, puts quicker.
    """

    def __init__(self, tail_texts: int = TAIL_TEXTS) -> None:
        self._table = PostingTable(self._rate, tail_texts)

    @staticmethod
    @abstractmethod
    def _rate(texts: TextWords) -> Impacts:
        """Return what the words of texts count for."""

    def isolated(self) -> Self:
        """Return one with the same texts, for reading, which later changes here do not reach."""
        return self._over(self._table.isolated())

    def settle(self) -> None:
        """Wait until no work goes on in the background."""
        self._table.settle()

    def freeze(self) -> FrozenTable:
        """Return the present state; quick, and not to be called while another thread changes it."""
        return self._table.freeze()

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return one over the files of a state that was written; raises OSError or ValueError."""
        return cls._over(PostingTable.load(folder, cls._rate))

    @classmethod
    def _over(cls, table: PostingTable) -> Self:
        kept = cls()
        kept._table = table
        return kept

    def adopt(self, folder: Path) -> None:
        """Use the files of a state of this one in the place of what is in memory; raises OSError or ValueError."""
        self._table.adopt(folder)
