"""Finds echoes: messages that repeat memories which a recall handed out lately. Echoes are stored, with links."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain
from typing import NamedTuple, Protocol

import numpy as np

from neurogated.context.retelling import in_first_person, in_one_person, without_frame
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.equal_text import depends_on_day, equal_key
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.language import NEGATIONS
from neurogated.text.sentences import split_sentences
from neurogated.text.times import find_times

__all__ = ["EchoLinks", "Said", "separated", "shares_of"]

# Nearest memories with which a message of the assistant is compared.
_ECHO_CANDIDATES = 8

# Cosine from which a message of the assistant is compared with a memory; 0.4 suits all-MiniLM-L6-v2.
_ECHO_SIMILARITY = 0.4

_ASSISTANT = "assistant"
"""The role whose messages are compared with memories; memories of this role are not."""
_DENIALS = frozenset(chain.from_iterable(NEGATIONS.values())) | {"nein", "non", "不", "不是"}
"""Words of sentences that only deny."""


class Said(Protocol):
    """A message before it is stored."""

    @property
    def text(self) -> str:
        """Its words."""

    @property
    def role(self) -> str | None:
        """The role of its speaker."""


class _Sentence(NamedTuple):
    text: str
    words: frozenset[str]


class _Told(NamedTuple):
    memory: MemoryNode
    text: str
    words: frozenset[str]


def shares_of(message: MemoryNode, memories: Sequence[MemoryNode]) -> dict[str, float]:
    """Return the share of a message that each memory says, by id; empty if the message says anything else.

    Each sentence must equal a sentence of a memory, or the whole memory, both in the first person.
    """
    told = [_Told(memory, *one) for memory in memories for one in _sentences(memory.content)]
    found = Counter[str]()
    for one in _sentences(message.content):
        near = (each for each in told if _are_near(one.words, each.words))
        source = next((each.memory.id for each in near if _is_same(message, one.text, each)), None)
        if source is None:
            return {}
        found[source] += 1
    return {name: count / found.total() for name, count in found.items()}


def _are_near(ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Return whether two sentences share enough words to be read, which takes longer."""
    return 2 * len(ours & theirs) >= min(len(ours), len(theirs))


def _is_same(message: MemoryNode, text: str, of: _Told) -> bool:
    if _are_two_persons(message, of.memory) and in_first_person(without_frame(text)) and in_first_person(of.text):
        return False
    said, told = map(equal_key, in_one_person(text, of.text))
    is_one_day = _moment(message).date() == _moment(of.memory).date()
    return said == told and (is_one_day or not depends_on_day(find_times(of.text)))


class EchoLinks:
    """A check of a writer that links echoes to the memories that they repeat. It works under the write lock.

    Attributes:
        found: the texts of the echoes, with the ids of the memories.
    """

    def __init__(
        self,
        store: GraphStorePort,
        handed_out: Callable[[str | None], Sequence[str]],
        blocks: Sequence[tuple[Scope, Said, Sequence[str]]],
    ) -> None:
        """Take the parts.

        Args:
            store: the graph.
            handed_out: returns the ids of the memories that were handed out to a user.
            blocks: messages that only quote memories, each with its owner, and with the ids of these memories.
        """
        self._store = store
        self._handed_out = handed_out
        self._most, self._least = _ECHO_CANDIDATES, _ECHO_SIMILARITY
        self._blocks = blocks
        self.found: list[tuple[str, list[str]]] = []

    def added_to(self, delta: GraphDelta, fresh: Sequence[MemoryNode]) -> GraphDelta:
        """Return a delta with the ECHO edges of the messages among `fresh`."""
        put: list[MemoryEdge] = []
        for node in fresh:
            shares = self._shares(node, delta.removed_nodes)
            put += [MemoryEdge(node.id, name, EdgeType.ECHO, share, delta.at) for name, share in shares.items()]
            if shares:
                self.found.append((node.content, list(shares)))
        if not put:
            return delta
        kept = {edge.key for edge in put}
        removed = tuple(key for key in delta.removed_edges if key not in kept)
        return replace(delta, edges=(*delta.edges, *put), removed_edges=removed)

    def _shares(self, node: MemoryNode, gone: Sequence[str]) -> Mapping[str, float]:
        quoted = next((ids for owner, said, ids in self._blocks if _is_part(node, owner, said)), ())
        handed = quoted or (self._handed_out(node.scope.user_id) if node.role == _ASSISTANT else ())
        if not handed:
            return {}
        view = self._store.view()
        rows = view.known_rows(set(handed).difference(gone, _apart(view, node.id), (node.id,)))
        rows = rows[view.alive.take(rows)]
        if quoted:
            return {view.ids[row]: 1 / rows.size for row in rows.tolist()} if rows.size == len(quoted) else {}
        if node.embedding is None or not rows.size:
            return {}
        likeness = self._store.similarities(np.asarray(node.embedding), view, rows)
        order = np.argsort(-likeness, kind="stable")[: self._most]
        nearest = rows[order[likeness[order] >= self._least]]
        memories = self._store.get_nodes([view.ids[row] for row in nearest.tolist()], missing_ok=True)
        said = [one for one in memories if one.role != _ASSISTANT and _may_repeat(node.scope, one.scope)]
        return shares_of(node, said)


def separated(view: GraphView, node_id: str, at: datetime) -> tuple[MemoryEdge, ...]:
    """Return the edges by which a message is an echo no more, for good; empty if it is none."""
    arcs = view.arcs(view.rows([node_id]), EdgeType.ECHO)
    targets = [view.ids[row] for row in arcs.target[arcs.weight > 0].tolist()]
    return tuple(MemoryEdge(node_id, target, EdgeType.ECHO, 0.0, at) for target in targets)


def _may_repeat(message: Scope, memory: Scope) -> bool:
    """Return whether they are of one user; sessions without a user may be those of different persons."""
    (user, _, session), (other, _, place) = message.owner, memory.owner
    return user == other and place in {None, session}


def _is_part(node: MemoryNode, owner: Scope, said: Said) -> bool:
    """Return whether a memory is a message, or a piece of it."""
    is_whole = node.content == said.text.strip()
    is_piece = node.found.part is not None and node.content in said.text
    return (node.scope, node.role) == (owner, said.role) and (is_whole or is_piece)


def _apart(view: GraphView, node_id: str) -> list[str]:
    """Return the ids of the memories from which the user has separated a message."""
    arcs = view.arcs(view.known_rows([node_id]), EdgeType.ECHO)
    return [view.ids[row] for row in arcs.target[arcs.weight == 0].tolist()]


def _sentences(text: str) -> list[_Sentence]:
    """Return the sentences with words that carry meaning, or that deny, as in "No."; else the text is one sentence."""
    parts = [_Sentence(part.strip(), _words_of(part)) for part in split_sentences(text)]
    return [part for part in parts if part.words] or [_Sentence(text.strip(), frozenset(text.split()))]


def _words_of(sentence: str) -> frozenset[str]:
    words = frozenset(split_keywords(without_frame(sentence)))
    return words or (_DENIALS & set(fold(sentence).replace("’", "'").strip(" .!,").replace(",", " ").split()))


def _are_two_persons(one: MemoryNode, other: MemoryNode) -> bool:
    """Return whether two messages have speakers with different names."""
    return None not in {one.speaker, other.speaker} and one.speaker != other.speaker


def _moment(node: MemoryNode) -> datetime:
    return node.timestamp or node.created_at
