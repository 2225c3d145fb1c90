"""`Page`: memories in the order they were added, page by page."""

from __future__ import annotations

import numpy as np

from neurogated.core.filters import Filter, FilterOptions, memories_among
from neurogated.core.habits import explains_reading
from neurogated.core.model import MemoryNode, checked_count
from neurogated.errors import InputError
from neurogated.session import Session


@explains_reading("it is the list of the memories, with .cursor")
class Page(list[MemoryNode]):
    """One page of a list of memories.

    Attributes:
        cursor: for the next call of `list`; None after the last memory.
    """

    cursor: str | None = None


def listed_by(session: Session, filters: FilterOptions) -> Filter:
    """Return the filter of the memories that a list with these keyword arguments has."""
    session.of_user(filters.get("user_id"))
    return memories_among(filters)


def page_of(session: Session, limit: int | None, cursor: str | None, filters: FilterOptions) -> Page:
    """Return the page after `cursor` of the memories that the filters admit; see `NeuroGraphMemory.list`."""
    checked_count("limit", 0 if limit is None else limit)
    view = session.store.view(filters=listed_by(session, filters))
    rows = view.admitted_nodes()
    if cursor is not None:
        after = view.find(cursor)
        after = view.rows_by_id.get(cursor) if after is None else after
        if after is None:
            raise InputError(f"the cursor {cursor!r} belongs to no page of this memory; list from the beginning")
        rows = rows[np.searchsorted(rows, after, side="right") :]
    shown = rows if limit is None else rows[:limit]
    page = Page(session.store.get_nodes([view.ids[row] for row in shown.tolist()], missing_ok=True))
    page.cursor = view.ids[int(shown[-1])] if 0 < shown.size < rows.size else None
    return page
