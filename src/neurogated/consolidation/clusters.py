"""Clusters of memories that are used together, and the text that stands for each."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import takewhile
from typing import TypeVar

import numpy as np

from neurogated.config.groups import MetabolismSettings
from neurogated.core.communities import Communities, CommunityFinder, CommunityLinks
from neurogated.core.derivation import are_original, common_metadata, source_rows
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import FACT, SEGMENT
from neurogated.core.quoting import day_of
from neurogated.core.same_as import are_echoes
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView, Rows
from neurogated.text.keywords import split_keywords, split_words
from neurogated.text.times import Zone
from neurogated.utils.hash_utils import compute_mdhash_id

_KNOWN_SHARE = 0.5

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


def is_known(rows: Rows, sources: Rows) -> bool:
    """Return whether so many of a cluster's nodes are `sources` of facts that it becomes no further one."""
    return bool(np.count_nonzero(np.isin(rows, sources)) >= _KNOWN_SHARE * rows.size)


@dataclass(frozen=True, slots=True)
class ClusterFinder:
    """Finds clusters.

    A link between two memories is the weighted sum of their edges, multiplied by n / (n + N). n is the number of uses
    of the memory that was used less, and N the setting `consolidation_uses`. So a cluster needs uses and edges.
    """

    finder: CommunityFinder
    settings: MetabolismSettings

    def find(self, view: GraphView) -> list[Rows]:
        """Return the clusters without facts, the most used first; no two share a node."""
        found, sources, uses = self.finder.find(self._links(view), _RESOLUTION), source_rows(view), view.uses.all()
        clusters = [rows for rows in self._of_right_size(found) if not is_known(rows, sources)]
        return sorted(clusters, key=lambda rows: (-float(uses[rows].mean()), view.ids[int(rows[0])]))

    def _links(self, view: GraphView) -> CommunityLinks:
        count = view.edge_count
        of_type = np.array([_LINKS.get(kind, 0.0) for kind in view.edge_types])
        weight = np.nan_to_num(view.weight.all()[:count]) * of_type[view.edge_type[:count]]
        source, target, computed = view.computed_edges()
        links = CommunityLinks(
            np.concatenate((view.edge_source[:count], source.astype(np.int32))),
            np.concatenate((view.edge_target[:count], target.astype(np.int32))),
            np.concatenate((weight, computed * _LINKS[EdgeType.TERM])),
            view.owners(),
        )
        uses, least = view.uses.all()[: view.node_count].astype(np.float64), self.settings.consolidation_uses
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
            parts = self.finder.find(found.links.among(np.concatenate(large)), resolution).members() if large else []


T = TypeVar("T")

_TITLE_WORDS = 4


def cluster_id(sources: Iterable[MemoryNode]) -> str:
    """Return the id of the node of these sources. It depends on their ids only, not on their order."""
    names = "\n".join(sorted(node.id for node in sources))
    return compute_mdhash_id(names, prefix="cluster-")


def agreeing(nodes: Sequence[MemoryNode]) -> list[MemoryNode]:
    """Return the largest group of nodes of one owner, see `Scope.owner`, that are valid in the same period."""
    groups = defaultdict[tuple[object, ...], list[MemoryNode]](list)
    for node in nodes:
        groups[node.valid_from, node.valid_to, *node.scope.owner].append(node)
    return max(groups.values(), key=len, default=[])


def quoted(sources: Sequence[MemoryNode], zone: Zone) -> str:
    """Return the texts of sources, each after its speaker and day, so that "I" and "yesterday" keep their meaning."""
    lines = []
    for node in sources:
        day = None if node.timestamp is None else day_of(node.timestamp, zone)
        label = ", ".join(filter(None, (node.speaker or node.role, day)))
        lines.append(f"{label}: {node.content}" if label else node.content)
    return "\n".join(dict.fromkeys(lines))


def title_of(sources: Sequence[MemoryNode], zone: Zone) -> str:
    """Return the words that most sources share, in the order of the texts, with the first and the last day."""
    words: dict[str, str] = {}
    count = Counter[str]()
    for node in sources:
        own = {key: word for word in split_words(node.content) for key in split_keywords(word)}
        count.update(own.keys())
        words = {**own, **words}
    shared = [key for key, number in count.most_common() if number > 1 and not any(map(str.isdigit, key))]
    kept = set(shared[:_TITLE_WORDS] or words)
    title = " ".join(word for key, word in words.items() if key in kept)
    days = [node.timestamp for node in sources if node.timestamp is not None]
    if not days:
        return title
    return f"{title} ({' – '.join(dict.fromkeys((day_of(min(days), zone), day_of(max(days), zone))))})"


def cluster_node(
    sources: Sequence[MemoryNode], text: str, at: datetime, energy: float, *, is_summary: bool
) -> MemoryNode:
    """Return the node of a cluster with its energy at the time `at`, without a vector.

    Its fields are those in which all sources agree. Its importance is the largest of the sources. If it is a summary, a
    language model wrote the text; else it is a title.
    """
    ends = [node.expires_at for node in sources if node.expires_at is not None]
    first = sources[0]
    scopes = [node.scope for node in sources]
    user, agent, session = (
        _common(getattr(one, name) for one in scopes) for name in ("user_id", "agent_id", "session_id")
    )
    levels = zip(*(one.path for one in scopes), strict=False)
    path = [level[0] for level in takewhile(lambda level: len(set(level)) == 1, levels)]
    return MemoryNode(
        cluster_id(sources),
        text,
        base_energy=energy,
        energy_at=at,
        last_accessed=at,
        created_at=at,
        importance=max(node.importance for node in sources) if is_summary else 0.0,
        kind=FACT if is_summary else SEGMENT,
        scope=Scope(user, agent, session, path),
        metadata=common_metadata(sources),
        valid_from=first.valid_from,
        valid_to=first.valid_to,
        expires_at=min(ends, default=None),
        timestamp=_common(node.timestamp for node in sources),
        speaker=_common(node.speaker for node in sources),
        title=_common(node.title for node in sources),
        tags=sorted(set(first.tags).intersection(*(node.tags for node in sources))),
    )


def _common(values: Iterable[T | None]) -> T | None:
    """Return the value if all values are equal, else None."""
    distinct = set(values)
    return distinct.pop() if len(distinct) == 1 else None
