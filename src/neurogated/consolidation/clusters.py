"""Clusters of memories that are used together: communities of the graph of used memories."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.communities import Communities, CommunityFinder, Links, links_of
from neurogated.core.derivation import are_original, source_rows
from neurogated.core.edge_type import EdgeType
from neurogated.core.same_as import are_echoes
from neurogated.core.view import GraphView, Rows

KNOWN_SHARE = 0.5
"""A cluster becomes no further fact if this share of its memories has one."""

_LINKS = {
    EdgeType.ASSOC: 2.0,
    EdgeType.CAUSE: 1.0,
    EdgeType.SEQ: 0.5,
    EdgeType.SIM: 0.5,
    EdgeType.TERM: 0.5,
    EdgeType.MENTION: 0.5,
}
"""Weights of the edge types that link the memories of a cluster."""
LEAST = 3
"""Least memories of a cluster, and least facts of a profile. Two say little more together than each alone."""
_MOST = 8
"""Most memories of a cluster; larger ones are divided."""

# Least mean weight of the links of a cluster; more gives smaller clusters.
_RESOLUTION = 0.1

_MADE = frozenset({"fact", "conflict", "claim", "segment", "profile", "policy"})
"""Kinds of memories that say something about others; they enter no cluster."""


def is_known(rows: Rows, sources: Rows, share: float) -> bool:
    """Return whether at least this share of a cluster's nodes are `sources` of facts."""
    return bool(np.count_nonzero(np.isin(rows, sources)) >= share * rows.size)


class ClusterFinder:
    """Finds clusters, and remembers the communities for the next time.

    A link between two memories is the weighted sum of their edges, multiplied by n / (n + N). n is the number of uses
    of the memory that was used less, and N the setting `consolidation_uses`. So a cluster needs uses and edges.
    """

    def __init__(self, finder: CommunityFinder, settings: MetabolismSettings) -> None:
        self._finder = finder
        self._settings = settings
        # The communities of the last call, and the ids of its view.
        self._last: tuple[Communities, object] | None = None

    def find(self, view: GraphView) -> list[Rows]:
        """Return the clusters without facts, the most used first; no two share a node."""
        links = self._links(view)
        old = self._last[0] if self._last is not None and self._last[1] is view.ids else None
        found = self._finder.find(links, _RESOLUTION, old)
        self._last = found, view.ids
        sources = source_rows(view)
        known = KNOWN_SHARE
        clusters = [rows for rows in self._of_right_size(found) if not is_known(rows, sources, known)]
        uses = view.uses.all()
        return sorted(clusters, key=lambda rows: (-float(uses[rows].mean()), view.ids[int(rows[0])]))

    def _links(self, view: GraphView) -> Links:
        links = links_of(view, _LINKS)
        uses, least = view.uses.all()[: view.node_count].astype(np.float64), self._settings.consolidation_uses
        made = [view.kinds.index(kind) for kind in _MADE if kind in view.kinds]
        fit = (uses >= least) & view.alive.all()[: view.node_count] & are_original(view)
        fit &= ~np.isin(view.kind.all()[: view.node_count], made)
        used = np.flatnonzero(fit)
        fit[used[are_echoes(view, used, view.alive.take)]] = False
        both = np.minimum(uses[links.source], uses[links.target])
        weight = links.weight * both / np.maximum(both + least, 1.0)
        return links._replace(weight=weight).among(np.flatnonzero(fit))

    def _of_right_size(self, found: Communities) -> Iterator[Rows]:
        """Yield clusters of the right size from communities; a higher resolution divides the large ones."""
        parts, resolution = found.members(), _RESOLUTION
        while parts:
            yield from (rows for rows in parts if LEAST <= rows.size <= _MOST)
            large = [rows for rows in parts if rows.size > _MOST]
            # A resolution above the heaviest link leaves no community of two nodes, so this ends.
            resolution *= 2
            parts = self._finder.find(found.links.among(np.concatenate(large)), resolution).members() if large else []
