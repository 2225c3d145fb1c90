"""Whether two memories were said by the same speaker."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from neurogated.core.scope import Scope
from neurogated.core.text_caches import remembered
from neurogated.text.keywords import fold
from neurogated.text.words import split_words

_USER = "user"
_FEW = 2


class SaidBy(Protocol):
    """The fields of a memory that tell who said it."""

    @property
    def role(self) -> str | None:
        """The role of a message; None for a text, which is the user's own."""

    @property
    def speaker(self) -> str | None:
        """The person who speaks, if the message names one."""

    @property
    def scope(self) -> Scope:
        """Its owner."""


def same_speaker(one: SaidBy, other: SaidBy, names: Collection[str] = ()) -> bool:
    """Return whether two memories were said by the same speaker. It reads their fields only, and needs no store.

    One person is one speaker: within one `user_id`, messages of one role with equal names or with none, a message with
    a name and one without, and two names of which one begins the other, such as "Sam" and "Sam Vries". A text without a
    role is the user's. Without a `user_id`, memories of two sessions may be those of two persons who share no name.

    Args:
        one: a memory.
        other: another one.
        names: all speakers in the sessions of both. Where two persons speak in turn, a message without a name is of
            neither of them; and "Sam" and "Sam Vries" are two persons if both are among the names.
    """
    if one.scope.user_id != other.scope.user_id or (one.role or _USER) != (other.role or _USER):
        return False
    persons = {_words(name) for name in names}
    if one.speaker and other.speaker:
        return same_name(one.speaker, other.speaker) and (
            _words(one.speaker) == _words(other.speaker)
            or not persons.issuperset((_words(one.speaker), _words(other.speaker)))
        )
    in_one_place = one.scope.user_id is not None or one.scope.session_id == other.scope.session_id
    return in_one_place and (one.speaker == other.speaker or len(persons) < _FEW)


def same_name(one: str, other: str) -> bool:
    """Return whether two names may be those of one person: they are equal but for case, or one begins the other."""
    short, long = sorted((_words(one), _words(other)), key=len)
    return long[: len(short)] == short


@remembered(1024)
def _words(name: str) -> tuple[str, ...]:
    return tuple(split_words(fold(name))) or (name,)
