"""`Graph`: connecting memories, and following their edges."""

import builtins
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from neurogated.components.texts import listed_by
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.extras import import_extra
from neurogated.core.filters import FilterOptions
from neurogated.core.kernel import Kernel
from neurogated.core.model import MemoryEdge, checked_count, checked_unit
from neurogated.core.view import GraphView, Rows
from neurogated.errors import InputError
from neurogated.retrieval.activation import SpreadingActivation
from neurogated.retrieval.formula import FORMULA
from neurogated.session.administration import graph_of
from neurogated.session.session import Component, Notice
from neurogated.sexpr.check import EDGE_TYPES
from neurogated.utils.vector_utils import cosine_similarity


class Step(NamedTuple):
    """An edge that was walked."""

    source: str
    """The memory at which the step begins."""
    target: str
    type: EdgeType
    relation: str | None
    forward: bool
    """Whether it was walked along its stored direction."""
    weight: float
    depth: int
    """The number of the step from the start, from 1."""


def admitted_rows(view: GraphView, ids: Sequence[str]) -> Rows:
    """Return the rows of memories that a view admits; others are unknown ids to the caller.

    Raises UnknownIdError if the view does not admit such a memory.
    """
    rows = view.rows(ids)
    hidden = rows[~view.admitted(rows)]
    return view.without(np.unique(hidden), np.empty(0, dtype=np.int64)).rows(ids)


class Graph(Component):
    """The calls about edges, as `memory.graph`. Memories outside the filters do not exist for them."""

    def associate(
        self,
        source: str,
        target: str,
        relation: str | None = None,
        weight: float = 0.5,
        **filters: Unpack[FilterOptions],
    ) -> MemoryEdge:
        """Connect two memories by an edge, or strengthen the edge that is there; return it.

        An edge that is there gets at least this weight, and `HEBBIAN_LEARNING_RATE` more, up to 1.

        Args:
            source: the memory from which the edge leads.
            target: the memory to which it leads.
            relation: words on an ASSOC edge, which replace others; or `temporal`, `causal` or `semantic` for a SEQ,
                CAUSE or SIM edge. The weight of a SIM edge is always the similarity of the texts.
            weight: 0–1.
            **filters: which memories may be connected; see `FilterOptions`.

        Raises:
            UnknownIdError: the filters admit no such memory.
            InputError: a value is invalid, or a user would connect two memories without an owner.
        """
        checked_unit("weight of", "an association", weight)
        made: builtins.list[MemoryEdge] = []

        def plan() -> GraphDelta:
            made.clear()
            made.append(self._edge(source, target, relation, weight, filters))
            return GraphDelta(edges=tuple(made), reason="associate", at=self._session.clock())

        self._session.commit(plan, lambda _: Notice("changed"))
        return made[0]

    def _edge(
        self, source: str, target: str, relation: str | None, weight: float, filters: FilterOptions
    ) -> MemoryEdge:
        store, now = self._session.store, self._session.clock()
        kind = EDGE_TYPES.get(relation or "", EdgeType.ASSOC)
        view = self._view(filters)
        rows = admitted_rows(view, (source, target))
        users = {view.scope_of(row).user_id for row in rows.tolist()}
        if users == {None} and filters.get("user_id") is not None:
            raise InputError("both memories belong to nobody, so a user cannot connect them for all users")
        if not kind.plastic:
            first, second = (node.embedding for node in store.get_nodes([source, target]))
            if first is None or second is None:
                raise InputError(f"{source!r} or {target!r} has no vector, so name another relation than {relation!r}")
            return MemoryEdge(source, target, kind, max(0.0, float(cosine_similarity(first, second))), now)
        words = relation if kind is EdgeType.ASSOC else None
        there = view.edge_rows(rows[:1], rows[1:], kind)
        known = next(iter(store.snapshot(view).edges(there[there >= 0])), None)
        if known is None:
            return MemoryEdge(source, target, kind, weight, now, relation=words)
        stronger = min(1.0, max(known.weight, weight) + self._session.config.HEBBIAN_LEARNING_RATE)
        return replace(known, weight=stronger, last_activated=now, relation=words or known.relation)

    def trace(self, start: str, depth: int = 3, **filters: Unpack[FilterOptions]) -> builtins.list[Step]:
        """Return a step to each memory within `depth` edges of `start`, nearest first, by the strongest edge.

        Edges are walked both ways. Raises UnknownIdError if the filters admit no such memory.
        """
        return list(self._steps(start, depth, filters))

    def path(
        self, source: str, target: str, depth: int = 6, **filters: Unpack[FilterOptions]
    ) -> builtins.list[Step] | None:
        """Return the steps of a shortest path of at most `depth` edges; None if there is none."""
        admitted_rows(self._view(filters), [target])
        before: dict[str, Step] = {}
        for step in self._steps(source, depth, filters):
            before[step.target] = step
            if step.target == target:
                break
        if source != target and target not in before:
            return None
        found, place = builtins.list[Step](), target
        while place != source:
            found.append(before[place])
            place = before[place].source
        return found[::-1]

    def to_networkx(self, **filters: Unpack[FilterOptions]) -> Any:  # noqa: ANN401 - a package that an extra installs
        """Return the memories with their texts and edges as a `networkx.MultiDiGraph`; the extra `networkx`."""
        return graph_of(self._session.store, self._view(filters))

    def to_pandas(self, **filters: Unpack[FilterOptions]) -> Any:  # noqa: ANN401 - a package that an extra installs
        """Return the memories as a `pandas.DataFrame`, a row each, by id; the extra `pandas`."""
        frame = import_extra("pandas", "pandas").DataFrame
        return frame.from_dict(dict(self.to_networkx(**filters).nodes(data=True)), orient="index")

    def activate(
        self,
        seeds: Sequence[str],
        steps: int = 3,
        decay: float = 0.85,
        threshold: float = 0.1,
        **filters: Unpack[FilterOptions],
    ) -> dict[str, float]:
        """Return the activation of the memories that it reaches from `seeds`, strongest first; at most 1.

        Each seed starts with 1. A memory passes its activation, times the weight of the edge, times `decay`, to each
        neighbour, whose arrivals are added. Raises UnknownIdError if the filters admit no such memory.

        Args:
            seeds: ids.
            steps: how many edges the activation moves.
            decay: 0–1.
            threshold: leave out memories with less activation.
            **filters: where activation may go; see `FilterOptions`.
        """
        config = self._session.config.replace(
            MAX_HOPS=steps,
            ENERGY_DECAY_RATE=decay,
            ACTIVATION="gated",
        )
        view = self._view(filters)
        admitted_rows(view, seeds)
        start = dict.fromkeys(seeds, 1.0)
        # The gate closes the nodes that the filters do not admit.
        spreading = SpreadingActivation(config, replace(FORMULA, gate_exponent=1.0, damp_hubs=False))
        found = spreading.spread(view, start, Kernel(), lambda rows: view.admitted(rows).astype(np.float64)).total
        order = np.lexsort((found.rows, -found.values))
        pairs = ((view.ids[int(found.rows[place])], float(found.values[place])) for place in order.tolist())
        return {name: min(1.0, value) for name, value in pairs if value >= threshold}

    def _view(self, filters: FilterOptions) -> GraphView:
        """Return the graph, which has more than the filters admit: `GraphView.admitted` tells which nodes they do."""
        return self._session.store.view(filters=listed_by(self._session, filters))

    def _steps(self, start: str, depth: int, filters: FilterOptions) -> Iterator[Step]:
        if not checked_count("depth", depth):
            raise InputError("depth is 0, but must be at least 1")
        found = self._session.store.snapshot(filters=listed_by(self._session, filters))
        view = found.view
        seen = set(admitted_rows(view, [start]).tolist())
        frontier = np.array(list(seen), dtype=np.int64)
        for number in range(1, depth + 1):
            arcs = view.links(frontier, both_ways=True)
            admitted = view.admitted(arcs.target)
            places = builtins.list[int]()
            for place in np.lexsort((arcs.target, -arcs.weight)).tolist():
                target = int(arcs.target[place])
                if admitted[place] and target not in seen:
                    seen.add(target)
                    places.append(place)
            edges, ends = arcs.edge[places], frontier[arcs.origin[places]]
            frontier = arcs.target[places]
            relations = {edge.key: edge.relation for edge in found.edges(edges)}
            keys = map(view.edge_key, edges.tolist())
            for key, source, target, weight in zip(keys, ends, frontier, arcs.weight[places].tolist(), strict=True):
                names = view.ids[int(source)], view.ids[int(target)]
                yield Step(*names, key.type, relations.get(key), key.source_id == names[0], weight, number)
