"""`GraphManifest`: what a memory holds, as a value."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from neurogated.core.energy import Layer
from neurogated.core.habits import explains_reading
from neurogated.text.strings import html_table


@dataclass(frozen=True, slots=True)
class Community:
    """Memories that are linked more with one another than with the rest."""

    number: int
    """Its place among the communities of the manifest, from 0."""
    name: str
    """Its subjects, or the name that a language model gave it in the background."""
    keywords: tuple[str, ...]
    """What distinguishes it from the others, best first."""
    size: int
    importance: float
    """0–1, the share of the PageRank of all memories."""
    energy: float
    """The sum of the energies of its memories."""
    node_ids: tuple[str, ...]
    """The ids of its memories, in the order they were added."""


@dataclass(frozen=True, slots=True)
class KeyNode:
    """A memory that stands out."""

    id: str
    content: str
    """The beginning of its text, on one line."""
    score: float
    """Of a key memory, 0–1, the mean of its energy and of its PageRank divided by the highest. Otherwise its uses."""


@dataclass(frozen=True, slots=True)
class Bridge:
    """Two communities with links between them."""

    first: int
    second: int
    """Their numbers."""
    weight: float
    """The sum of the weights of these links."""
    betweenness: float | None
    """How many shortest paths between two communities pass here, in the graph of communities; None without the extra
    `communities`."""
    node_id: str
    """The memory with the most weight in links between the two."""


@dataclass(frozen=True, slots=True)
class ManifestTopology:
    """Measures of the graph of memories, in which one link stands for all edges between two memories."""

    density: float
    """0–1, the share of pairs of memories that have a link."""
    clustering: float | None
    """0–1, the mean share of the pairs of a memory's neighbours that have a link; None without the extra
    `communities`."""
    linked: int
    """Memories that have a link."""


@dataclass(frozen=True, slots=True)
class TemporalLayers:
    """The memories by age and use; see `Layer`."""

    counts: Mapping[Layer, int]
    examples: Mapping[Layer, tuple[KeyNode, ...]]
    """The memories of each layer with the highest scores."""


@explains_reading("read .nodes, .communities, .as_dict()")
@dataclass(frozen=True, slots=True, repr=False)
class GraphManifest:
    """What the memories of a scope are about and how they are linked, at one moment."""

    nodes: int
    edges: int
    """Edges of all types between these memories."""
    average_degree: float
    """2E/N."""
    total_energy: float
    """The sum of the energies of the memories."""
    communities: tuple[Community, ...]
    """Those of at least two memories, the most important first."""
    topology: ManifestTopology
    temporal: TemporalLayers
    links: tuple[tuple[int, int, float], ...]
    """The pairs of linked communities, by their numbers, with the sums of the weights of the links between the two."""
    bridges: tuple[Bridge, ...]
    """At most 10, the heaviest first."""
    key_nodes: tuple[KeyNode, ...]
    """At most 10, the highest score first."""
    most_used: tuple[KeyNode, ...]
    """At most 10, the most used first."""
    created_at: datetime

    def __repr__(self) -> str:
        return f"<GraphManifest of {self.nodes} memories in {len(self.communities)} communities, {self.edges} edges>"

    def _repr_html_(self) -> str:
        rows = ((one.name, ", ".join(one.keywords), one.size, f"{one.energy:.1f}") for one in self.communities)
        caption = f"{self.nodes} memories in {len(self.communities)} communities, {self.edges} edges"
        return html_table(caption, ("community", "keywords", "memories", "energy"), rows)

    def as_dict(self) -> dict[str, Any]:
        """Return the manifest as JSON values."""
        return {**asdict(self), "created_at": self.created_at.isoformat()}
