"""What a memory finds out about a text by itself, beside what the caller gives."""

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
    """What was found in the text of a node, and what the text is a piece of."""

    entities: Sequence[str] = ()
    """Names in the text."""
    times: Sequence[str] = ()
    """Words of the text that tell when."""
    names: Sequence[str] = ()
    """What the text is about, where nobody gave it a title: the title that was found, then other names of the same."""
    document_id: str | None = None
    """Hash of the document that it is a chunk of."""
    part: tuple[int, int] | None = None
    """Of a piece of a message that was cut: its place in the message, from 0, and the message's words."""

    def __post_init__(self) -> None:
        for name in _LISTS:
            object.__setattr__(self, name, checked_names(f"found {name}", getattr(self, name)))
        if self.document_id is not None:
            checked_names("found document_id", [self.document_id])
        if self.part is not None:
            numbers = tuple(self.part)
            if len(numbers) != _NUMBERS_OF_A_PART or not all(type(one) is int and one >= 0 for one in numbers):
                raise InputError(f"found part is {self.part!r}, but must be a place and a number of words, both from 0")
            object.__setattr__(self, "part", numbers)

    def to_json(self) -> dict[str, Any]:
        """Return what there is as JSON values."""
        values = {name: list(getattr(self, name)) for name in _LISTS}
        others = {"document_id": self.document_id, "part": self.part and list(self.part)}
        return {name: value for name, value in (values | others).items() if value}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Found:
        """Return what `to_json` told; raises TypeError or InputError for anything else."""
        return cls(**values) if values else NOTHING_FOUND


NOTHING_FOUND = Found()
"""Of a text of which nothing is known."""
