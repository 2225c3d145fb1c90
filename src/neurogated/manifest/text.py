"""The text of a manifest: whole lines, the useful first, within a budget of tokens."""

from __future__ import annotations

from collections.abc import Iterator

from neurogated.core.tokens import TokenCounter
from neurogated.manifest.model import GraphManifest, KeyNode

MOST_CHARACTERS = 2_048
"""Clients of MCP cut descriptions here."""
_KEYWORDS = 8
_COMMUNITIES, _KEY_NODES, _BRIDGES, _USED = 12, 5, 3, 3


def text_of(manifest: GraphManifest, budget: int, count: TokenCounter) -> str:
    """Return the lines that fit into `budget` tokens and 2,048 characters.

    Lines of less worth are left out first: those later in their section, and sections behind the communities.
    """
    lines = list(_lines(manifest))
    sizes = count([f"{line}\n" for _, line in lines])
    tokens, characters, kept = budget, MOST_CHARACTERS, set()
    for place in sorted(range(len(lines)), key=lambda place: lines[place][0]):
        size, length = sizes[place], len(lines[place][1]) + 1
        if size <= tokens and length <= characters:
            kept.add(place)
            tokens, characters = tokens - size, characters - length
    return "\n".join(line for place, (_, line) in enumerate(lines) if place in kept)


def _lines(manifest: GraphManifest) -> Iterator[tuple[int, str]]:
    """Yield the lines in their order, each with its rank; the lowest is worth most."""
    head = f"Memory: {manifest.nodes:,} memories, energy {manifest.total_energy:.1f} of {manifest.nodes:,}"
    yield 0, f"{head}; {manifest.edges:,} edges, average degree {manifest.average_degree:.1f}"
    if not manifest.nodes:
        return
    for place, one in enumerate(manifest.communities[:_COMMUNITIES]):
        yield 1 + place, f"- {', '.join(one.keywords[:_KEYWORDS])}: {one.size:,} memories"
    yield 4, f"By age and use: {', '.join(f'{count:,} {name}' for name, count in manifest.temporal.counts.items())}"
    for place, node in enumerate(manifest.key_nodes[:_KEY_NODES]):
        yield 2 + 2 * place, f"Key: {_quoted(node)}"
    shape = manifest.topology
    clustering = "" if shape.clustering is None else f", clustering {shape.clustering:.2f}"
    yield 8, f"Topology: density {shape.density:.3f}{clustering}"
    names = [one.name for one in manifest.communities]
    for place, bridge in enumerate(manifest.bridges[:_BRIDGES]):
        yield 9 + place, f"Bridge: {names[bridge.first]} ↔ {names[bridge.second]}"
    for place, node in enumerate(manifest.most_used[:_USED]):
        yield 7 + 2 * place, f"Most used: {_quoted(node)}"


def _quoted(node: KeyNode) -> str:
    return f"“{node.content.translate(dict.fromkeys(map(ord, '“”')))}”"
