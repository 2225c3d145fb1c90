"""The order in which a search with a query shows items: by recall and then by cosine, or by cosine alone."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from typing import Literal

from neurogated.core.filters import FilterOptions, filter_of
from neurogated.core.node_kind import ITEM
from neurogated.core.scope import ANY_USER
from neurogated.ingestion.items import item_id
from neurogated.integrations.langgraph.items import Namespace
from neurogated.session import Session

Order = Literal["activation", "cosine"]
ORDERS = ("activation", "cosine")
Scored = tuple[str, float]
"""The id of an item and its score."""


def ranked(
    session: Session, query: str, prefix: Namespace, *, only_ids: Collection[str] | None, order: Order, most: int
) -> Iterator[Scored]:
    """Yield the items under a prefix that have a text in the index, best first, each once.

    The order does not depend on `most`, so pages do not overlap.

    Args:
        session: the graph.
        query: a question or any text.
        prefix: the beginning of the namespaces.
        only_ids: the ids of the nodes that count; None for all.
        order: `activation` recalls as many nodes as recalls have candidates, and continues by cosine.
        most: how many items are needed; the others cost more.
    """
    given: FilterOptions = {"user_id": ANY_USER, "path": prefix, "kinds": (ITEM,), "only_ids": only_ids}
    steps = [_by_cosine(session, query, given, most)]
    if order == "activation":
        sizes = sorted({min(most, session.config.retrieval.candidates), session.config.retrieval.candidates})
        steps = [_recalled(session, query, given, sizes), *steps]
    seen, lowest = set[str](), float("inf")
    for name, score in chain.from_iterable(steps):
        if name not in seen:
            seen.add(name)
            lowest = min(score, lowest)
            yield name, lowest


def _recalled(session: Session, query: str, given: FilterOptions, sizes: Sequence[int]) -> Iterator[Scored]:
    """Yield the items of recalls of these sizes. A larger recall begins with the memories of a smaller one."""
    for size in sizes:
        recall = session.retriever.recall(query, top_n=size, include_duplicates=True, **given)
        yield from ((item_id(memory.id), memory.score) for memory in recall)
        if len(recall) < size:
            return


def _by_cosine(session: Session, query: str, given: FilterOptions, most: int) -> Iterator[Scored]:
    store = session.store
    view = store.view(filters=filter_of(given))
    (vector,) = session.parts.embedder.embed_queries([query])
    read, count = 0, most
    while True:
        found = store.nearest(vector, count, view)
        yield from ((item_id(name), score) for name, score in found[read:])
        if len(found) < count:
            return
        read, count = len(found), 4 * count
