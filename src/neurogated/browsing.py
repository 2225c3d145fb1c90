"""`Browsing`: reading memories without a question: one, many, their number, and their history."""

from __future__ import annotations

import builtins
from typing import Unpack, overload
from uuid import UUID

import numpy as np

from neurogated.core.abilities import SupportsNodeJournal
from neurogated.core.arguments import names_arguments
from neurogated.core.delta import HistoryEntry, NodeVersion
from neurogated.core.filters import FilterOptions, filter_of, memories_among
from neurogated.core.model import MemoryNode, checked_count
from neurogated.core.ports import GraphStorePort
from neurogated.core.text import checked_text
from neurogated.core.view import GraphView, Rows
from neurogated.errors import InputError, UnknownIdError

__all__ = ["Browsing", "Page"]


class Page(builtins.list[MemoryNode]):
    """One page of a list of memories.

    Attributes:
        cursor: for the next call of `list`; None after the last memory.
    """

    cursor: str | None = None


@names_arguments
class Browsing:
    """Base of `NeuroGraphMemory` with the calls that only read the store."""

    store: GraphStorePort

    def get(self, node_id: str | UUID) -> MemoryNode:
        """Return a memory.

        Raises:
            UnknownIdError: no memory has this id, or it was deleted.
        """
        return self.store.get_node(str(node_id))

    def find(
        self,
        *,
        order_by: str | None = None,
        limit: int | None = None,
        offset: int = 0,
        **filters: Unpack[FilterOptions],
    ) -> builtins.list[MemoryNode]:
        """Return memories without a question, in the order they were added.

        Args:
            order_by: a field of MemoryNode such as `importance`; `-importance` sorts the largest first.
            limit: return at most this many.
            offset: skip this many first.
            **filters: which memories; see `FilterOptions`.

        Raises:
            InputError: the field cannot be sorted, or a name is empty or not a string.
            ConfigError: a kind is unknown.
        """
        return self.store.find(memories_among(filters), order_by=order_by, limit=limit, offset=offset)

    def count(self, **filters: Unpack[FilterOptions]) -> int:
        """Return the number of memories that `list` returns with these filters; raises as `find` does."""
        return int(self._rows(filters)[1].size)

    def view(self, **filters: Unpack[FilterOptions]) -> GraphView:
        """Return a snapshot of the graph in columns; `view().to_networkx()` returns it as a networkx graph.

        Args:
            **filters: which memories searches on the view may find; see `FilterOptions`.
        """
        return self.store.view(filters=filter_of(filters))

    def _rows(self, filters: FilterOptions) -> tuple[GraphView, Rows]:
        """Return a view, and its rows of the nodes that the filter admits, in the order they were added."""
        view = self.store.view(filters=memories_among(filters))
        return view, view.admitted_nodes()

    @overload
    def history(self) -> builtins.list[HistoryEntry]: ...
    @overload
    def history(self, node_id: str | UUID) -> builtins.list[NodeVersion]: ...
    def history(self, node_id: str | UUID | None = None) -> builtins.list[HistoryEntry] | builtins.list[NodeVersion]:
        """Return the changes with their times and reasons, oldest first; accesses are left out.

        Args:
            node_id: return the versions of this memory; all changes of the graph when left out.

        Raises:
            UnknownIdError: no memory ever had this id.
            InputError: the id cannot be an id.
        """
        if node_id is None:
            return self.store.history()
        versions, wanted = [], checked_text("the id of a memory", str(node_id))
        store = self.store
        entries = store.journal_of(wanted) if isinstance(store, SupportsNodeJournal) else store.journal()
        for sequence, delta in ((entry.sequence, entry.delta) for entry in entries):
            put = (node for node in delta.nodes if node.id == wanted)
            versions += [NodeVersion(sequence, delta.at, delta.reason, node) for node in put]
            if wanted in delta.removed_nodes:
                versions.append(NodeVersion(sequence, delta.at, delta.reason, None))
        if not versions:
            raise UnknownIdError(f"no node {wanted!r} in the memory, now or in its past")
        return versions

    def list(self, *, limit: int | None = None, cursor: str | None = None, **filters: Unpack[FilterOptions]) -> Page:
        """Return memories page by page, in the order they were added.

        Args:
            limit: memories on a page; all when left out.
            cursor: the `cursor` of the page before.
            **filters: which memories; see `FilterOptions`.

        Raises:
            InputError: the cursor is unknown, or a name is empty or not a string.
        """
        checked_count("limit", 0 if limit is None else limit)
        view, rows = self._rows(filters)
        if cursor is not None:
            after = view.find(cursor)
            after = view.rows_by_id.get(cursor) if after is None else after
            if after is None:
                raise InputError(f"the cursor {cursor!r} belongs to no page of this memory; list from the beginning")
            rows = rows[np.searchsorted(rows, after, side="right") :]
        shown = rows if limit is None else rows[:limit]
        page = Page(self.store.get_nodes([view.ids[row] for row in shown.tolist()], missing_ok=True))
        page.cursor = view.ids[int(shown[-1])] if 0 < shown.size < rows.size else None
        return page
