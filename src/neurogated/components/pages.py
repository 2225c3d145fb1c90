"""`Page`: memories in the order they were added, page by page."""

from __future__ import annotations

import numpy as np

from neurogated.core.filters import FilterOptions, memories_among
from neurogated.core.model import MemoryNode, checked_count
from neurogated.core.ports import GraphStorePort
from neurogated.errors import InputError

__all__ = ["Page", "page_of"]


class Page(list[MemoryNode]):
    """One page of a list of memories.

    Attributes:
        cursor: for the next call of `list`; None after the last memory.
    """

    cursor: str | None = None


def page_of(store: GraphStorePort, limit: int | None, cursor: str | None, filters: FilterOptions) -> Page:
    """Return the page after `cursor` of the memories that the filters admit; see `NeuroGraphMemory.list`."""
    checked_count("limit", 0 if limit is None else limit)
    view = store.view(filters=memories_among(filters))
    rows = view.admitted_nodes()
    if cursor is not None:
        after = view.find(cursor)
        after = view.rows_by_id.get(cursor) if after is None else after
        if after is None:
            raise InputError(f"the cursor {cursor!r} belongs to no page of this memory; list from the beginning")
        rows = rows[np.searchsorted(rows, after, side="right") :]
    shown = rows if limit is None else rows[:limit]
    page = Page(store.get_nodes([view.ids[row] for row in shown.tolist()], missing_ok=True))
    page.cursor = view.ids[int(shown[-1])] if 0 < shown.size < rows.size else None
    return page
