"""The question to ask about a conflict, in the language of the memories, and the messages that may answer it."""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import replace
from importlib import resources
from itertools import islice
from typing import Any

from neurogated.core.claims import ClaimJudge
from neurogated.core.conflicts import MODEL, Conflict, moment_of
from neurogated.core.derivation import sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM, FACT
from neurogated.core.ports import GraphStorePort
from neurogated.knowledge.judge.claim_nodes import claim_of
from neurogated.knowledge.origin import are_one_text, is_compared, sentence_of, voice_of
from neurogated.text.keywords import split_keywords
from neurogated.text.language import language_of
from neurogated.text.strings import one_line

_LONGEST, _READ = 200, 500
"""Characters of a side in a question, and of a message whose language is found."""
_ENOUGH = 2
"""Words of the conflict that an answer has if it has none of those in which both sides differ."""
_HAN = re.compile("[\u3400-\u9fff]")
_LATIN = re.compile(r"[^\W\d_\u3400-\u9fff]+")
_NAME = re.compile(r"(?<![.!?¿¡\n] )(?<!^)\b[^\W\d_a-z]\w*")


@functools.cache
def _questions() -> dict[str, Any]:
    return tomllib.loads(resources.files(__package__).joinpath("questions.toml").read_text(encoding="utf-8"))


def asked(
    conflict: Conflict, first: MemoryNode, second: MemoryNode, judge: ClaimJudge, said: Sequence[str] = ()
) -> Conflict:
    """Return a conflict with its reason and its question, from the present texts of its sides.

    Args:
        conflict: as it is stored.
        first: its first side.
        second: its second side.
        judge: gives the reason of a conflict of two claims.
        said: the messages of the user that make the claims, whose language the question has.
    """
    sides, reason = (first, second), conflict.reason
    if conflict.rule != MODEL and None not in {one.found.statement for one in sides}:
        reason = judge.compare(*map(claim_of, sides)).reason
    texts = [_short(sentence_of(*side)) for side in zip(sides, conflict.sentences, strict=True)]
    # An agent states facts, and a user says messages.
    is_noted = {one.kind for one in sides} == {FACT}
    state = f"noted {conflict.kind.value}" if is_noted else conflict.kind.value
    if conflict.loser is not None:
        state = conflict.outcome
        texts = texts[::-1] if conflict.loser == second.id else texts
    form = _questions()[state][_language(said or [one.content for one in sides])]
    return replace(conflict, reason=reason, question=form.format(*texts))


def _language(texts: Sequence[str]) -> str:
    """Return the language of texts by their words without names, since a name may be foreign."""
    text = "\n".join(one[:_READ] for one in texts)
    if len(_HAN.findall(text)) > len(_LATIN.findall(text)):
        return "zh"
    return language_of(_NAME.sub("", text))


def _short(text: str) -> str:
    flat = one_line(text).rstrip(".。!！")
    return flat if len(flat) <= _LONGEST else f"{flat[: _LONGEST - 1]}…"


def answers_to(store: GraphStorePort, conflict: Conflict, most: int) -> tuple[str, ...]:
    """Return the ids of the messages that may answer a conflict, in order.

    They are among the next `most` messages of the same speaker, user and agent in the session of the later side, and
    were not stored before it. Each has a word in which both sides differ, or two words of the sides.
    """
    sides = store.get_nodes(conflict.sides, missing_ok=True)
    later = _latest_source(store, sides[-1]) if len(sides) > 1 else None
    if later is None or later.scope.session_id is None:
        return ()
    one, other = (frozenset(split_keywords(sentence_of(*side))) for side in zip(sides, conflict.sentences, strict=True))

    def is_answer(node: MemoryNode) -> bool:
        words = frozenset(split_keywords(node.content))
        is_about = words & (one ^ other) or len(words & (one | other)) >= _ENOUGH
        return bool(is_about) and node.created_at >= later.created_at and is_compared(node) and node.id != sides[0].id

    voice = voice_of(later), later.scope.session_id
    theirs = (node for node in _following(store, later, most) if (voice_of(node), node.scope.session_id) == voice)
    messages = islice((node for node in theirs if not are_one_text(node, later)), most)
    return tuple(node.id for node in messages if is_answer(node))


def _latest_source(store: GraphStorePort, node: MemoryNode) -> MemoryNode:
    """Return the memory that made a claim last; any other node is its own source."""
    names = sources_of(store.view(), [node.id]).get(node.id, ()) if node.kind == CLAIM else ()
    return max(store.get_nodes(names, missing_ok=True), key=moment_of, default=node)


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
