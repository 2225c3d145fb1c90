"""Finds the corpus rows of a question's gold passages: by title and text; the number decides among equals."""

from __future__ import annotations

import textwrap
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from neurogated.errors import DatasetError

_BEGINNING = 60
"""Characters of a passage that an error quotes."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a corpus."""

    idx: int
    """Its name in rankings."""
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class GoldPassage:
    """A gold passage as its question gives it; fields that the question leaves out are empty or None."""

    where: str
    """File, entry and field, and the question, for errors."""
    title: str
    text: str = ""
    idx: int | None = None


class Corpus:
    """The rows of a corpus, found by title and text.

    Matching ignores white space, since files join the sentences of a passage in different ways. Title and text are
    compared as one string, since a title may also stand as the first line of the text.
    """

    def __init__(self, name: str, rows: Sequence[Row]) -> None:
        """Take the rows of the file `name`; their numbers must differ."""
        self._name = name
        self._by_idx = {row.idx: row for row in rows}
        self._by_content: dict[str, list[Row]] = defaultdict(list)
        self._by_text: dict[str, list[Row]] = defaultdict(list)
        self._by_title: dict[str, list[Row]] = defaultdict(list)
        for row in rows:
            self._by_content[_content(row)].append(row)
            self._by_text[_squeezed(row.text)].append(row)
            self._by_title[_squeezed(row.title)].append(row)

    def copies(self, row: Row) -> list[int]:
        """Return the numbers of all rows with the title and text of `row`, itself included, in the file's order."""
        return [copy.idx for copy in self._by_content[_content(row)]]

    def find(self, passage: GoldPassage) -> int:
        """Return the number of the row that matches `passage`.

        If several copies match, it is the one that the question numbers, or else the first.

        Raises:
            DatasetError: no row matches, or several different rows do.
        """
        found = self._matching(passage)
        if not found:
            raise DatasetError(
                f"{passage.where}: the gold passage {_described(passage)} is not in {self._name}; "
                "add it there, or give it the title and text that it has there"
            )
        numbered = next((row for row in found if row.idx == passage.idx), None)
        if numbered is None and len({_content(row) for row in found}) > 1:
            raise DatasetError(
                f"{passage.where}: the gold passage {_described(passage)} could be any of the rows "
                f"{', '.join(str(row.idx) for row in found)} of {self._name}; give its title and text"
            )
        return (numbered or found[0]).idx

    def _matching(self, passage: GoldPassage) -> list[Row]:
        if passage.text:
            # If one side has no title, the text decides; different titles are different passages.
            return self._by_content.get(_content(passage)) or [
                row for row in self._by_text.get(_squeezed(passage.text), ()) if not (row.title and passage.title)
            ]
        numbered = None if passage.idx is None else self._by_idx.get(passage.idx)
        titles = {_squeezed(passage.title), _squeezed(numbered.title)} - {""} if numbered else set()
        if numbered and len(titles) <= 1:
            return [numbered]
        return self._by_title.get(_squeezed(passage.title), []) if passage.title else []


def _content(passage: Row | GoldPassage) -> str:
    return _squeezed(passage.title) + _squeezed(passage.text)


def _squeezed(text: str) -> str:
    return "".join(text.split())


def _described(passage: GoldPassage) -> str:
    beginning = textwrap.shorten(passage.text, _BEGINNING, placeholder=" …")
    parts = (
        *(repr(part) for part in (passage.title, beginning) if part),
        *([] if passage.idx is None else [f"idx {passage.idx}"]),
    )
    return ", ".join(parts)
