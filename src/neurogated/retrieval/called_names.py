"""Who is meant by a name in a question, where speakers are roles: learned from how they call each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from neurogated.core.keywords import split_keywords
from neurogated.core.ports import GraphStorePort
from neurogated.core.turns import call_tag, role_tag
from neurogated.core.view import GraphView, Rows

__all__ = ["SpeakersByName"]

_ROLES = ("user", "assistant")
# A name that was called once may be that of somebody else.
_LEAST_CALLS = 2
# People rarely say their own name; who says it more often than every tenth time they are called speaks of another.
_OWN_NAME = 0.1


class SpeakersByName:
    """The roles that a question means by names.

    A name belongs to the assistant if the user calls the assistant by it, and the assistant neither calls the user so
    nor says it of others; and the other way round.
    """

    def __init__(self, store: GraphStorePort, view: GraphView, words: Sequence[str]) -> None:
        """Look for speakers.

        Args:
            store: the graph.
            view: a view of it; the turns that it may find count.
            words: those of the question, folded.
        """
        self._store = store
        self._view = view
        calls = {call_tag(word): word for word in dict.fromkeys(words)}
        # Most words are nobody's name in any conversation, which is quickly told.
        known = store.existing_tags(calls)
        self._roles = tuple(
            dict.fromkeys(
                role for tag, word in calls.items() if tag in known and (role := self._called(tag, word)) is not None
            )
        )

    def of(self, rows: Rows) -> NDArray[np.float64]:
        """Return 1 for the nodes, by rows, that somebody said whom the question names, else 0."""
        if not self._roles:
            return np.zeros(rows.size)
        said = self._store.has_tags(list(map(role_tag, self._roles)), self._view, rows)
        said_by: NDArray[np.bool_] = np.logical_or.reduce(said)
        return said_by.astype(np.float64)

    def _called(self, tag: str, word: str) -> str | None:
        """Return the role that is called by a word, None if it is nobody's name."""
        for caller, other in (_ROLES, _ROLES[::-1]):
            calls = len(self._store.nodes_with([tag, role_tag(caller)], view=self._view))
            if calls < _LEAST_CALLS:
                continue
            said = len(self._store.nodes_with([*split_keywords(word), role_tag(other)], view=self._view))
            if said <= _OWN_NAME * calls:
                return other
        return None
