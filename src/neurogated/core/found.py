"""Facts that the memory derives from a text, as opposed to those that the caller gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, timezone
from operator import attrgetter, itemgetter
from typing import Any, NamedTuple

from neurogated.core.clock import checked_moment
from neurogated.core.read_only import filled, filled_all
from neurogated.errors import InputError
from neurogated.text.strings import checked_name, checked_names, repaired_text
from neurogated.text.times import Zone

_LISTS = ("entities", "times", "names")
_SIGNED = ("sentiment", "outcome")
"""Numbers from -1 to 1, where 0 says something else than None."""
_NUMBERS_OF_A_PART = 2
_MINUTES_A_DAY = 1_440
_PARTS = ("subject", "attribute", "value")


READ_BY_MODEL = 0.9
"""The confidence of a claim that a language model read."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A fact in three parts."""

    subject: str
    """The person or thing that it is about, such as `Ana`."""
    attribute: str
    """Which property of the subject, such as `city`."""
    value: str
    """The value of the property, such as `Lyon`."""
    confidence: float = 1.0
    """How sure the source of the fact is, 0–1."""
    is_denied: bool = False
    """Whether the subject does not have this value."""
    is_read: bool = False
    """Whether it is a claim, that is read from a memory."""

    def __post_init__(self) -> None:
        for name in _PARTS:
            part = f"the {name} of a fact"
            text = checked_name(part, repaired_text(part, getattr(self, name))).strip()
            if not text:
                raise InputError(f"the {name} of a fact is blank; give all of {', '.join(_PARTS)}")
            object.__setattr__(self, name, text)
        if isinstance(self.confidence, bool) or not isinstance(self.confidence, int | float):
            raise InputError(f"the confidence of a fact is {self.confidence!r}, but must be a number")
        if not 0.0 <= self.confidence <= 1.0:
            raise InputError(f"the confidence of a fact is {self.confidence}, but must lie between 0 and 1")

    @property
    def text(self) -> str:
        """The fact as one line that readers of any language understand, such as `Ana city: Lyon`."""
        return f"{self.subject} {self.attribute}: {self.value}"

    def restated(self, text: str) -> Statement:
        """Return the fact with the value of a text such as `Ana city: York`; raises InputError for another subject."""
        head = f"{self.subject} {self.attribute}:"
        if not text.startswith(head):
            raise InputError(f"the text of this fact is {text!r}, but must begin with {head!r}; or state another fact")
        return replace(self, value=text.removeprefix(head))

    def to_json(self) -> dict[str, Any]:
        """Return the parts as JSON values."""
        marks = {name: True for name in ("is_denied", "is_read") if getattr(self, name)}
        return {**{name: getattr(self, name) for name in (*_PARTS, "confidence")}, **marks}


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
    statement: Statement | None = None
    """The parts of a fact; None if the text is not one, or if its parts are unknown."""
    sentiment: float | None = None
    """From -1, unhappy, to 1, happy; its absolute value is the strength. None if unknown."""
    place: str | None = None
    """Where it happened; None if unknown."""
    outcome: float | None = None
    """Of an event, from 1, success, to -1, failure; 0 if it is unknown. None if the memory is no event."""
    given: tuple[datetime | None, datetime | None] | None = None
    """For a memory that a conflict shortens: `valid_from` and `valid_to` without conflicts. None for any other. It is
    computed when the memory is read, and not stored."""
    label: str | None = None
    """The name before a colon at the beginning of a turn, as in "Ann: Hello.", if the turn names no speaker. It is for
    searches only, since "Note: buy milk" looks the same. A later piece of a message has the label of the message."""
    offset: int | None = None
    """Minutes by which the zone in which the timestamp was given is ahead of UTC; None if it named none, or UTC."""

    def __post_init__(self) -> None:
        for name, names in (("entities", self.entities), ("times", self.times), ("names", self.names)):
            if names != ():
                object.__setattr__(self, name, checked_names(f"found {name}", names))
        for name, text in (("document_id", self.document_id), ("place", self.place), ("label", self.label)):
            if text is not None:
                checked_name(f"found {name}", text)
        days = None if self.offset is None else self.offset / _MINUTES_A_DAY
        for name, value in (("sentiment", self.sentiment), ("outcome", self.outcome), ("offset in days", days)):
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if value is not None and not (is_number and -1 <= value <= 1):
                raise InputError(f"found {name} is {value!r}, but must lie between -1 and 1")
        if self.part is not None:
            object.__setattr__(self, "part", _checked_part(self.part))
        if self.given is not None:
            begin, end = map(_read_moment, self.given)
            object.__setattr__(self, "given", (begin, end))
        if not isinstance(self.statement, Statement | None):
            raise InputError(f"found statement is {self.statement!r}, but must be a Statement")

    @property
    def zone(self) -> Zone:
        """The zone in which the timestamp was given, None if it named none; its day counts if the reader names none."""
        return zone_of(self.offset)

    def changed(self, **fields: Any) -> Found:  # noqa: ANN401
        """Return the findings with other values of some fields, which must be valid; it skips validation."""
        return filled(Found, dict(zip(self.__slots__, _FIELDS(self), strict=True)) | fields)

    def to_json(self) -> dict[str, Any]:
        """Return the fields that are not empty, as JSON values."""
        fields = zip(_WRITTEN, _GIVEN(self), strict=True)
        known = [pair for pair in fields if pair[1] or (pair[1] is not None and pair[0] in _SIGNED)]
        values = {name: list(value) if name in _TUPLES else value for name, value in known}
        if self.statement is not None:
            values["statement"] = self.statement.to_json()
        if self.given is not None:
            values["given"] = [moment and moment.isoformat() for moment in self.given]
        return values

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Found:
        """Read the values of `to_json`; raises TypeError or InputError for any others."""
        if "statement" in values:
            values = {**values, "statement": Statement(**values["statement"])}
        return cls(**values) if values else NOTHING_FOUND

    @classmethod
    def restored(cls, each: Sequence[Mapping[str, Any]]) -> list[Found]:
        """Read several results of `to_json` that a store kept, unchecked; raises TypeError for an unknown field."""
        if unknown := set().union(*each) - _DEFAULTS.keys():
            raise TypeError(f"found has no {', '.join(unknown)}")
        rows = map(_VALUES, [{**_DEFAULTS, **values} for values in each])
        columns: dict[str, Sequence[Any]] = dict(zip(_DEFAULTS, zip(*rows, strict=True), strict=True))
        columns |= {name: [one if one is None else tuple(one) for one in columns[name]] for name in _TUPLES}
        columns["statement"] = [one and filled(Statement, {**_UNSAID, **one}) for one in columns["statement"]]
        columns["given"] = [one and tuple(map(_read_moment, one)) for one in columns["given"]]
        return filled_all(cls, columns)


class Said(NamedTuple):
    """What tells on which day a text was said, and of which days it tells."""

    timestamp: datetime | None
    zone: Zone
    """See `Found.zone`."""
    dated: str
    """The text if it has time expressions, else empty."""


def zone_of(offset: int | None) -> Zone:
    """Return the zone that is `offset` minutes ahead of UTC; None for None."""
    return None if offset is None else timezone(timedelta(minutes=offset))


def _checked_part(part: Sequence[int]) -> tuple[int, ...]:
    numbers = tuple(part)
    if len(numbers) != _NUMBERS_OF_A_PART or not all(type(one) is int and one >= 0 for one in numbers):
        raise InputError(f"found part is {part!r}, but must be a position and a word count from 0")
    return numbers


def _read_moment(value: object) -> datetime | None:
    try:
        return checked_moment("found given", datetime.fromisoformat(value) if isinstance(value, str) else value)
    except ValueError:
        raise InputError(f"found given is {value!r}, but must be a time in ISO 8601") from None


_FIELDS = attrgetter(*Found.__slots__)
_TUPLES = (*_LISTS, "part")
_WRITTEN = (*_LISTS, "document_id", "part", "statement", "label", "offset", "place", "given", *_SIGNED)
_GIVEN = attrgetter(*_WRITTEN)
NOTHING_FOUND = Found()
"""The value for a text about which nothing is known."""
_DEFAULTS = {name: getattr(NOTHING_FOUND, name) for name in Found.__slots__}
_VALUES = itemgetter(*_DEFAULTS)
_UNSAID = {"confidence": 1.0, "is_denied": False, "is_read": False}  # what JSON leaves out
