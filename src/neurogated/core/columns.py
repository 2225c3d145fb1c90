"""Columns of a graph and adjacency lists, of which views consist."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rows = NDArray[np.int64]
"""(n,) int64 row numbers."""
Hits = tuple[Rows, NDArray[np.float64]]
"""The rows or keys that a search found and their scores, both (n,), best first."""
TYPE_CODE = np.int16
"""Numbers of edge types and node kinds; `EdgeType` and `register_kind` refuse more than fit."""
NODE_COLUMNS: Mapping[str, type[np.generic]] = {
    "base_energy": np.float64,
    "energy_at": np.int64,
    "importance": np.float64,
    "uses": np.int32,
    "charge": np.float64,
    "charged_at": np.int64,
    "last_accessed": np.int64,
    "kind": TYPE_CODE,
    "scope": np.int32,
    "position": np.int64,
}
"""The columns of nodes and their dtypes, by the field names of `GraphView`."""


def contained(ascending: NDArray[np.signedinteger], wanted: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
    """Return whether each of `wanted` is in `ascending`."""
    if not ascending.size:
        return np.zeros(wanted.size, dtype=np.bool_)
    # In one type, since numpy would otherwise convert all of `ascending`.
    at = ascending.searchsorted(wanted if wanted.dtype == ascending.dtype else wanted.astype(ascending.dtype))
    found: NDArray[np.bool_] = ascending.take(at, mode="clip") == wanted
    return found


def distinct(rows: Rows) -> Rows:
    """Return the distinct rows, ascending; quicker than `np.unique`."""
    ordered = rows.copy()
    ordered.sort()
    return ordered[begins(ordered)]


def firsts(rows: Rows) -> tuple[Rows, Rows]:
    """Return the first place of each distinct row, in order of the rows, and the position of every row among these."""
    order = rows.argsort(kind="stable")
    is_first = begins(rows[order])
    place = np.empty(rows.size, dtype=np.int64)
    place[order] = is_first.cumsum() - 1
    return order[is_first], place


def begins(ordered: NDArray[np.signedinteger]) -> NDArray[np.bool_]:
    """Return whether each value differs from the one before it."""
    begins = np.empty(ordered.size, dtype=np.bool_)
    begins[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=begins[1:])
    return begins


def partitioned(values: NDArray[np.floating], place: int) -> NDArray[np.floating]:
    """Return a copy of values in which the one at `place` is where it would be if they were sorted."""
    parted = values.copy()
    parted.partition(place)
    return parted


@dataclass(frozen=True, slots=True)
class PatchedValues:
    """A column at one moment: a shared base and the few values that differ from it."""

    base: NDArray[Any]
    rows: Rows
    """Patched rows in ascending order."""
    patches: NDArray[Any]

    def take(self, rows: Rows) -> NDArray[Any]:
        """Return the values at `rows`."""
        values: NDArray[Any] = self.base.take(rows)
        if self.rows.size and rows.size:
            place = self.rows.searchsorted(rows)
            patched = (self.rows.take(place, mode="clip") == rows).nonzero()[0]
            if patched.size:
                values[patched] = self.patches.take(place[patched])
        return values

    def at(self, row: int) -> Any:  # noqa: ANN401 - a number of the column's type
        """Return the value at one row."""
        place = int(self.rows.searchsorted(row)) if self.rows.size else 0
        return self.patches[place] if place < self.rows.size and self.rows[place] == row else self.base[row]

    def all(self) -> NDArray[Any]:
        """Return the whole column as a new array."""
        values = self.base.copy()
        values[self.rows] = self.patches
        return values

    def patched(self, rows: Rows, values: ArrayLike) -> PatchedValues:
        """Return the column with other values at distinct rows, one each or one for all. The copy shares the base."""
        kept, new = ~contained(np.sort(rows), self.rows), np.asarray(values, dtype=self.base.dtype)
        every = np.concatenate((self.rows[kept], rows))
        order = every.argsort()
        patches = np.concatenate((self.patches[kept], new if new.ndim else new.repeat(rows.size)))
        return PatchedValues(self.base, every[order], patches[order])


def highest(values: NDArray[np.floating], count: int) -> list[float]:
    """Return the `count` highest of some values, or all if there are fewer, the highest first."""
    return sorted((values if values.size <= count else partitioned(values, -count)[-count:]).tolist(), reverse=True)


_FEW_ARCS = 100_000
"""A layer of more edges has no copy for both directions."""


@dataclass(frozen=True, slots=True)
class Adjacency:
    """Arcs in one direction, grouped by the node they leave (compressed sparse rows), or only by the `sources`."""

    indptr: Rows
    targets: NDArray[np.int32]
    edges: NDArray[np.int32]
    sources: Rows | None = None

    def owners(self) -> Rows:
        """Return the node that each arc leaves."""
        groups = np.arange(self.indptr.size - 1) if self.sources is None else self.sources
        return groups.repeat(np.diff(self.indptr))

    def gathered(self, frontier: Rows) -> tuple[Rows, NDArray[np.int32], NDArray[np.int32]] | None:
        """Return the place in the frontier, the target and the edge of each arc that leaves its nodes; None if none."""
        if not self.targets.size:
            # All edges of the layer were removed.
            return None
        if self.sources is None:
            last = self.indptr.size - 2
            here, group = None, frontier
            if int(np.maximum.reduce(frontier)) > last:
                (here,) = (frontier <= last).nonzero()
                group = frontier[here]
        else:
            group = self.sources.searchsorted(frontier)
            (here,) = (self.sources.take(group, mode="clip") == frontier).nonzero()
            group = group[here]
        begin = self.indptr[group]
        count = self.indptr[group + 1] - begin
        ends = count.cumsum()
        if not ends.size or not ends[-1]:
            return None
        place = np.arange(begin.size).repeat(count)
        # Index into the arc arrays: start of the group plus offset in the group.
        arc = np.arange(ends[-1]) + (begin - ends + count)[place]
        return place if here is None else here[place], self.targets[arc], self.edges[arc]


@dataclass(frozen=True)
class Layer:
    """The adjacency of the edge rows in [`begin`, `end`), along and against their direction."""

    begin: int
    end: int
    read: Callable[[], tuple[Adjacency, Adjacency]]
    """Returns the adjacency along and against their direction, which few writes ask for."""

    @cached_property
    def directions(self) -> tuple[Adjacency, Adjacency]:
        """The adjacency along and against their direction."""
        return self.read()

    def made(self) -> Layer:
        """Return the layer with its adjacency, without what that is made of."""
        found = self.directions
        return Layer(self.begin, self.end, lambda: found)

    def ways(self, *, along: bool, against: bool) -> tuple[Adjacency, ...]:
        """Return the adjacency of the edges along and against their direction."""
        outgoing, incoming = self.directions
        if along and against and outgoing.targets.size <= _FEW_ARCS:
            return (self._both,)
        return (outgoing,) * along + (incoming,) * against

    @cached_property
    def _both(self) -> Adjacency:
        """The arcs of both directions together, which are read in half the steps."""
        parts = self.directions
        nodes = np.concatenate([one.owners() for one in parts])
        targets, edges = (np.concatenate([getattr(one, name) for one in parts]) for name in ("targets", "edges"))
        order = np.lexsort((edges, nodes))
        targets, edges = targets[order], edges[order]
        if parts[0].sources is None:
            counts = np.bincount(nodes, minlength=max(one.indptr.size for one in parts) - 1)
            return Adjacency(np.concatenate(([0], counts.cumsum())), targets, edges)
        sources, first = np.unique(nodes[order], return_index=True)
        return Adjacency(np.append(first, nodes.size), targets, edges, sources)
