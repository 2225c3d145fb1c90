"""Learns the names of user and assistant from their conversation, for questions that name them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neurogated.core.ports import GraphReader
from neurogated.core.turns import call_tag, role_tag
from neurogated.core.view import Rows
from neurogated.text.keywords import split_keywords

_ROLES = ("user", "assistant")
# A name that occurs in one address only may be the name of another person.
_LEAST_CALLS = 2
# People rarely say their own name. A speaker who says a name more often than this share of the addresses means another
# person.
_OWN_NAME = 0.1


class SpeakersByName:
    """The roles that a question names.

    A name belongs to the assistant if the user addresses the assistant by it, and the assistant hardly ever says it.
    The names of the user are found in the same way.
    """

    def __init__(self, reader: GraphReader, words: Sequence[str]) -> None:
        """Look for speakers.

        Args:
            reader: only turns that its searches find count.
            words: folded words of the question.
        """
        self._reader = reader
        calls = {call_tag(word): word for word in dict.fromkeys(words)}
        # Most words are no name in any conversation, and this lookup is quick.
        known = reader.existing_tags(calls)
        self._roles = tuple(
            dict.fromkeys(
                role for tag, word in calls.items() if tag in known and (role := self._called(tag, word)) is not None
            )
        )

    def of(self, rows: Rows) -> NDArray[np.float64]:
        """Return 1 for each node that a named speaker said, else 0 (n,)."""
        if not self._roles:
            return np.zeros(rows.size)
        said = self._reader.has_tags(list(map(role_tag, self._roles)), rows)
        said_by: NDArray[np.bool_] = np.logical_or.reduce(said)
        return said_by.astype(np.float64)

    def _called(self, tag: str, word: str) -> str | None:
        """Return the role that has this name, None if it is no name."""
        for caller, other in (_ROLES, _ROLES[::-1]):
            calls = len(self._reader.rows_with([tag, role_tag(caller)]))
            if calls < _LEAST_CALLS:
                continue
            said = len(self._reader.rows_with([*split_keywords(word), role_tag(other)]))
            if said <= _OWN_NAME * calls:
                return other
        return None
