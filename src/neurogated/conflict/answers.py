"""The messages after a conflict in which the user may answer its question."""

from __future__ import annotations

from collections.abc import Iterator

from neurogated.conflict.passages import is_compared, statements_in, voice_of
from neurogated.core.conflicts import Conflict
from neurogated.core.edge_type import EdgeType
from neurogated.core.keywords import split_keywords
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort

__all__ = ["answers_to"]

_ENOUGH = 2
"""Words of the conflict that a message has if it has none of those in which both sides differ."""


def answers_to(store: GraphStorePort, conflict: Conflict, most: int) -> tuple[str, ...]:
    """Return the ids of the messages that may answer a conflict, in order.

    They are among the next `most` messages of the session of the later side, from the same speaker. Each has a word
    in which both sides differ, or two words of the sides.
    """
    sides = store.get_nodes(conflict.sides, missing_ok=True)
    if len(sides) < len(conflict.sides) or not most:
        return ()
    one, other = (_words(node, place) for node, place in zip(sides, conflict.sentences, strict=True))
    found = []
    for node in _following(store, sides[1], most):
        words = frozenset(split_keywords(node.content))
        is_about = words & (one ^ other) or len(words & (one | other)) >= _ENOUGH
        if node.id != sides[0].id and is_compared(node) and voice_of(node) == voice_of(sides[1]) and is_about:
            found.append(node.id)
    return tuple(found)


def _words(node: MemoryNode, place: int) -> frozenset[str]:
    sentences = statements_in(node)
    return frozenset(split_keywords(sentences[place] if place < len(sentences) else node.content))


def _following(store: GraphStorePort, node: MemoryNode, most: int) -> Iterator[MemoryNode]:
    """Yield the next messages of the session of a memory."""
    if node.scope.session_id is None:
        return
    view = store.view()
    rows, names = view.known_rows([node.id]), list[str]()
    while rows.size and len(names) < most:
        rows = view.arcs(rows, EdgeType.SEQ).target[:1]
        names += [view.ids[row] for row in rows.tolist()]
    yield from store.get_nodes(names, missing_ok=True)
