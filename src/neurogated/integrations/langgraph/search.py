"""The order in which a search with a query shows items: by recall and then by cosine, or by cosine alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Literal

from neurogated.core.filters import Filter
from neurogated.core.node_kind import ITEM
from neurogated.core.scope import ANY_USER, ScopeFilter
from neurogated.integrations.langgraph.items import Namespace, item_id
from neurogated.session import Session

Order = Literal["activation", "cosine"]
ORDERS = ("activation", "cosine")
Scored = tuple[str, float]
"""The id of an item and its score."""


def ranked(
    session: Session, query: str, prefix: Namespace, among: Collection[str] | None, order: Order
) -> Iterator[Scored]:
    """Yield the items under a prefix that have a text in the index, best first, each once.

    The order does not depend on how many of them are read, so pages do not overlap.

    Args:
        session: the graph.
        query: a question or any text.
        prefix: the beginning of the namespaces.
        among: the ids of the nodes that count; None for all.
        order: `activation` recalls as many nodes as recalls have candidates, and continues by cosine.
    """
    seen = set[str]()
    recalled = _recalled(session, query, prefix, among) if order == "activation" else ()
    lowest = float("inf")
    for name, score in recalled:
        lowest = min(lowest, score)
        if name not in seen:
            seen.add(name)
            yield name, score
    for name, score in _by_cosine(session, query, prefix, among):
        if name not in seen:
            seen.add(name)
            yield name, min(score, lowest)


def _recalled(session: Session, query: str, prefix: Namespace, among: Collection[str] | None) -> Iterator[Scored]:
    recall = session.retriever.recall(
        query,
        top_n=session.config.retrieval.candidates,
        include_duplicates=True,
        user_id=ANY_USER,
        path=prefix,
        kinds=(ITEM,),
        among=among,
    )
    return ((item_id(memory.id), memory.score) for memory in recall)


def _by_cosine(session: Session, query: str, prefix: Namespace, among: Collection[str] | None) -> Iterator[Scored]:
    store = session.store
    view = store.view(filters=Filter((ITEM,), scope=ScopeFilter(ANY_USER, path=prefix), among=among))
    (vector,) = session.parts.embedder.embed_queries([query])
    read, count = 0, session.config.retrieval.candidates
    while True:
        found = store.nearest(vector, count, view)
        yield from ((item_id(name), score) for name, score in found[read:])
        if len(found) < count:
            return
        read, count = len(found), 4 * count
