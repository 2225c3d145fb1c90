"""Edges as columns of numbers: they take little memory, and vectorised code compares two sets of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge
from neurogated.core.view import Rows

__all__ = ["EdgeColumns", "Names"]

_NEVER = np.iinfo(np.int64).min
_KEY = ("source", "target", "type")
_STRENGTH = ("weight", "last_activated")
_TIMES = ("created_at", "valid_from", "valid_to")
_RELATION = "relation"
_COLUMNS = np.dtype(
    [(name, np.int32) for name in _KEY]
    + [(_STRENGTH[0], np.float64)]
    + [(name, np.int64) for name in (_STRENGTH[1], *_TIMES, _RELATION)]
)
_AT_ONCE = 10_000


class Names:
    """Numbers of ids, types and relations, from 0 in order of appearance. Edges to compare share one `Names`."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.types: dict[EdgeType, int] = {}
        self.relations: dict[str | None, int] = {}


@dataclass(frozen=True, slots=True)
class EdgeColumns:
    """The edges of one graph, in their order."""

    names: Names
    table: NDArray[Any]
    """(n,) one record for each edge; times in microseconds."""

    @classmethod
    def of(cls, edges: Iterable[MemoryEdge], names: Names) -> EdgeColumns:
        """Return `edges` as columns. It reads them in batches and adds their ids, types and relations to `names`."""
        source, parts = iter(edges), [np.empty(0, dtype=_COLUMNS)]
        while part := [_record(edge, names) for edge in islice(source, _AT_ONCE)]:
            parts.append(np.array(part, dtype=_COLUMNS))
        return cls(names, np.concatenate(parts))

    def places_in(self, other: EdgeColumns) -> Rows:
        """Return for each edge the position in `other` of the edge with the same ends and type, -1 if it has none."""
        own, theirs = self._keys(), other._keys()
        order = np.argsort(theirs)
        places = order.take(np.searchsorted(theirs, own, sorter=order), mode="clip") if order.size else own * 0 - 1
        found: Rows = np.where(places >= 0, places, -1)
        if order.size:
            found[theirs[places] != own] = -1
        return found

    def same_strength(self, places: Rows, other: EdgeColumns, others: Rows) -> NDArray[np.bool_]:
        """Return whether the edges at `places` have the weights and last activations of those at `others`."""
        return self._same(places, other, others, _STRENGTH)

    def same_weights(self, places: Rows, other: EdgeColumns, others: Rows) -> NDArray[np.bool_]:
        """Return whether the edges at `places` have the weights of those at `others`."""
        return self._same(places, other, others, _STRENGTH[:1])

    def same_facts(self, places: Rows, other: EdgeColumns, others: Rows) -> NDArray[np.bool_]:
        """Return whether the edges at `places` have the times and relations of those at `others`."""
        return self._same(places, other, others, (*_TIMES, _RELATION))

    def keys(self, places: Rows) -> list[EdgeKey]:
        """Return the keys of the edges at `places`."""
        return [edge.key for edge in self.edges(places)]

    def edges(self, places: Rows) -> list[MemoryEdge]:
        """Return the edges at `places`."""
        ids, types, relations = list(self.names.ids), list(self.names.types), list(self.names.relations)
        return [
            MemoryEdge(
                ids[source],
                ids[target],
                types[kind],
                weight,
                last_activated=_moment(used),
                created_at=from_micros(made),
                valid_from=_moment(begin),
                valid_to=_moment(end),
                relation=relations[relation],
            )
            for source, target, kind, weight, used, made, begin, end, relation in self.table[places].tolist()
        ]

    def _keys(self) -> Rows:
        source, target, kind = (self.table[name].astype(np.int64) for name in _KEY)
        keys: Rows = (source * len(self.names.ids) + target) * max(len(self.names.types), 1) + kind
        return keys

    def _same(self, places: Rows, other: EdgeColumns, others: Rows, columns: tuple[str, ...]) -> NDArray[np.bool_]:
        same = np.ones(places.size, dtype=np.bool_)
        for name in columns:
            same &= self.table[name][places] == other.table[name][others]
        return same


def _record(edge: MemoryEdge, names: Names) -> tuple[float, ...]:
    source, target = (names.ids.setdefault(one, len(names.ids)) for one in (edge.source_id, edge.target_id))
    kind = names.types.setdefault(edge.type, len(names.types))
    used, begin, end = map(_micros, (edge.last_activated, edge.valid_from, edge.valid_to))
    relation = names.relations.setdefault(edge.relation, len(names.relations))
    return source, target, kind, edge.weight, used, to_micros(edge.created_at), begin, end, relation


def _micros(moment: datetime | None) -> int:
    return _NEVER if moment is None else to_micros(moment)


def _moment(micros: int) -> datetime | None:
    return None if micros == _NEVER else from_micros(micros)
