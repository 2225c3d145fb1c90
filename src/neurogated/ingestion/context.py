"""The words of earlier turns that a turn of a dialogue carries, kept right when these change or go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from neurogated.core.model import MemoryNode
from neurogated.core.rendering import quoted

__all__ = ["requoted"]

_CONTEXT = "context"


def requoted(document: Sequence[MemoryNode], now: Mapping[str, str | None]) -> list[MemoryNode]:
    """Return the nodes of a document whose `context` quotes a node in `now`, with the new quotation in its place.

    A context holds the turns just before, the last first, so its places tell turns with equal words apart. Where they
    do not fit, because a turn came back later, every quotation that no other node of the document stands for counts.

    Args:
        document: all nodes of a document in order, as they are stored.
        now: new quotations of some of them by id; None for a node that is to be removed.
    """
    quotes = [quoted(node.content, node.metadata) for node in document]
    staying = {quote for node, quote in zip(document, quotes, strict=True) if node.id not in now}
    replaced = {quote: now[node.id] for node, quote in zip(document, quotes, strict=True) if node.id in now}
    changed = []
    for place, node in enumerate(document):
        context = node.metadata.get(_CONTEXT)
        if not isinstance(context, list) or now.get(node.id, "") is None:
            continue
        items: list[object] = []
        for item, before in zip(context, range(place - 1, place - 1 - len(context), -1), strict=True):
            if before >= 0 and quotes[before] == item:
                items.append(now.get(document[before].id, item))
            else:
                items.append(replaced[item] if item in replaced and item not in staying else item)
        kept = [item for item in items if item is not None]
        if kept != context:
            rest = {name: value for name, value in node.metadata.items() if name != _CONTEXT}
            changed.append(replace(node, metadata={**rest, _CONTEXT: kept} if kept else rest))
    return changed
