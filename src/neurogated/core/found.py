"""Facts that the memory derives from a text, as opposed to those that the caller gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neurogated.core.text import checked_names
from neurogated.errors import InputError

__all__ = ["NOTHING_FOUND", "Found"]

_LISTS = ("entities", "times", "names")
_NUMBERS_OF_A_PART = 2


@dataclass(frozen=True, slots=True)
class Found:
    """Facts derived from the text of a node, and its place in a document or message."""

    entities: Sequence[str] = ()
    """Names in the text."""
    times: Sequence[str] = ()
    """Time expressions in the text."""
    names: Sequence[str] = ()
    """The subject of a text without a given title: the derived title first, then its other names."""
    document_id: str | None = None
    """Hash of the document; None if the text is not a chunk of one."""
    part: tuple[int, int] | None = None
    """For a piece of a split message: its position in the message, from 0, and the number of words of the message."""

    def __post_init__(self) -> None:
        for name in _LISTS:
            object.__setattr__(self, name, checked_names(f"found {name}", getattr(self, name)))
        if self.document_id is not None:
            checked_names("found document_id", [self.document_id])
        if self.part is not None:
            numbers = tuple(self.part)
            if len(numbers) != _NUMBERS_OF_A_PART or not all(type(one) is int and one >= 0 for one in numbers):
                raise InputError(f"found part is {self.part!r}, but must be a position and a word count from 0")
            object.__setattr__(self, "part", numbers)

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are not empty, as JSON values."""
        values = {name: list(getattr(self, name)) for name in _LISTS}
        others = {"document_id": self.document_id, "part": self.part and list(self.part)}
        return {name: value for name, value in (values | others).items() if value}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Found:
        """Read the values of `to_json`; raises TypeError or InputError for any others."""
        return cls(**values) if values else NOTHING_FOUND


NOTHING_FOUND = Found()
"""The value for a text about which nothing is known."""
