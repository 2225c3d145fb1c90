"""The messages after a conflict in which the user may answer its question."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from neurogated.core.conflicts import Conflict, moment_of
from neurogated.core.derivation import sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM
from neurogated.core.ports import GraphStorePort
from neurogated.knowledge.origin import are_one_text, is_compared, statements_in, voice_of
from neurogated.text.keywords import split_keywords

_ENOUGH = 2
"""Words of the conflict that a message has if it has none of those in which both sides differ."""


def answers_to(store: GraphStorePort, conflict: Conflict, most: int) -> tuple[str, ...]:
    """Return the ids of the messages that may answer a conflict, in order.

    They are among the next `most` messages of the same speaker, user and agent in the session of the later side, and
    were not stored before it. Each has a word in which both sides differ, or two words of the sides.
    """
    sides = store.get_nodes(conflict.sides, missing_ok=True)
    if len(sides) < len(conflict.sides) or not most:
        return ()
    later = _latest_source(store, sides[1])
    if later.scope.session_id is None:
        return ()
    one, other = (_words(node, place) for node, place in zip(sides, conflict.sentences, strict=True))
    found = []
    theirs = (node for node in _following(store, later, most) if _voice(node) == _voice(later))
    for node in islice((node for node in theirs if not are_one_text(node, later)), most):
        words = frozenset(split_keywords(node.content))
        is_about = words & (one ^ other) or len(words & (one | other)) >= _ENOUGH
        is_later = node.created_at >= later.created_at
        if is_about and is_later and is_compared(node) and node.id != sides[0].id:
            found.append(node.id)
    return tuple(found)


def _latest_source(store: GraphStorePort, node: MemoryNode) -> MemoryNode:
    """Return the memory that made a claim last; any other node is its own source."""
    names = sources_of(store.view(), [node.id]).get(node.id, ())
    sources = store.get_nodes(names, missing_ok=True) if node.kind == CLAIM else ()
    return max(sources, key=moment_of, default=node)


def _voice(node: MemoryNode) -> tuple[object, ...]:
    return (*voice_of(node), node.scope.session_id)


def _words(node: MemoryNode, place: int) -> frozenset[str]:
    sentences = statements_in(node)
    return frozenset(split_keywords(sentences[place] if place < len(sentences) else node.content))


def _following(store: GraphStorePort, node: MemoryNode, together: int) -> Iterator[MemoryNode]:
    """Yield the next messages of the session of a memory; `together` of them are read at once."""
    view = store.view()

    def names() -> Iterator[str]:
        rows = view.known_rows([node.id])
        while (rows := view.arcs(rows, EdgeType.SEQ).target[:1]).size:
            yield view.ids[rows[0]]

    following = names()
    while batch := list(islice(following, together)):
        yield from store.get_nodes(batch, missing_ok=True)
