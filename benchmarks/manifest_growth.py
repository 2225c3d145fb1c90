"""The time to create and to update a manifest, and how near its communities stay to those of all memories at once.

    python -m benchmarks.manifest_growth --nodes 100000
    python -m benchmarks.manifest_growth hotpotqa100 --folder DATA
    python -m benchmarks.manifest_growth locomo_conv0-4 --folder DATA --format locomo

Without a data set, memories with six edges each are in planted groups of 400; four of five edges stay inside. The last
1,000 memories, at most half, arrive by updates of 100; in a data set of 20. Two Leiden runs with other seeds show how
much of the difference is chance.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import igraph
import numpy as np

from benchmarks.arguments import chosen, dataset_parser
from neurogated import EdgeType, MemoryConfig, MemoryEdge, MemoryNode, NeuroGraphMemory
from neurogated.core.clock import utc_now
from neurogated.core.communities import WeightedGraph
from neurogated.core.delta import GraphDelta
from neurogated.core.energy import EnergyLaw
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.scope import ScopeFilter
from neurogated.evaluation.runner import index
from neurogated.manifest.caching import text_of
from neurogated.manifest.creation import Created, ManifestCreator

_GROUP, _EDGES, _WITHIN, _WORDS = 400, 6, 0.8, 8
_UPDATES = 1_000
_LOADED = 20_000
_BUDGET = 500


class _Given(NamedTuple):
    """A graph; each edge is listed with the later of its nodes."""

    nodes: list[MemoryNode]
    edges: list[list[MemoryEdge]]


def planted(count: int) -> _Given:
    """Return a graph of groups with words of their own."""
    chance = np.random.default_rng(0)
    groups = max(8, count // _GROUP)
    group = chance.integers(0, groups, count)
    words = [[f"w{number}x{one}" for one in range(30)] for number in range(groups)]
    members = list[list[int]]([] for _ in range(groups))
    given = _Given([], [])
    for place, number in enumerate(group.tolist()):
        given.nodes.append(MemoryNode(str(place), " ".join(chance.choice(words[number], _WORDS))))
        near = members[number] or [0]
        ends = {
            near[int(chance.integers(len(near)))] if inside else int(chance.integers(max(1, place)))
            for inside in chance.random(_EDGES) < _WITHIN
        }
        given.edges.append([_edge(place, other, chance.uniform(0.3, 1)) for other in sorted(ends - {place})])
        members[number].append(place)
    return given


def _edge(source: int, target: int, weight: float) -> MemoryEdge:
    return MemoryEdge(str(source), str(target), EdgeType.SIM, weight)


def held(memory: NeuroGraphMemory) -> _Given:
    """Return the memories of a memory and the edges between them."""
    view = memory.store.view(filters=Filter(scope=ScopeFilter(), except_kinds=NO_MEMORIES))
    ids = [view.ids[row] for row in view.admitted_nodes().tolist()]
    place = {node_id: number for number, node_id in enumerate(ids)}
    given = _Given(memory.store.get_nodes(ids), [[] for _ in ids])
    for edge in memory.store.all_edges():
        if edge.source_id in place and edge.target_id in place:
            given.edges[max(place[edge.source_id], place[edge.target_id])].append(edge)
    return given


def grown(given: _Given, step: int) -> None:
    """Print how a manifest grows with the last memories, and its communities beside those of all at once."""
    first = len(given.nodes) - min(_UPDATES, len(given.nodes) // 2)
    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        store, count = memory.store, memory.session.parts.embedder.count_tokens
        creator = ManifestCreator(store, EnergyLaw(memory.config.metabolism), memory.session.parts.graph_algorithms)

        def create(old: Created | None = None) -> Created:
            created = creator.create(memory.view(), utc_now(), old)
            text_of(created.manifest, _BUDGET, count)
            return created

        def apply(begin: int, end: int) -> None:
            store.apply(GraphDelta(nodes=tuple(given.nodes[begin:end])))
            store.apply(GraphDelta(edges=tuple(edge for edges in given.edges[begin:end] for edge in edges)))

        for begin in range(0, first, _LOADED):
            apply(begin, min(first, begin + _LOADED))
        create()
        (created, *whole), seconds = timed(create), list[tuple[float, float]]()
        for begin in range(first, len(given.nodes), step):
            apply(begin, begin + step)
            created, *spent = timed(lambda old=created: create(old))
            seconds.append((spent[0], spent[1]))
        walls, cpus = zip(*seconds, strict=True)
        print(f"{len(given.nodes):,} memories, {sum(map(len, given.edges)):,} edges; wall seconds (processor seconds)")
        print(
            f"created {whole[0]:.3f} ({whole[1]:.3f}); updated by {step}: median {statistics.median(walls):.4f} ",
            end="",
        )
        print(f"({statistics.median(cpus):.4f}), longest {max(walls):.4f} ({max(cpus):.4f})")
        compared(memory, created, create())


def timed(act: Callable[[], Created]) -> tuple[Created, float, float]:
    """Return a result with its wall and processor seconds."""
    wall, cpu = time.perf_counter(), time.process_time()
    found = act()
    return found, time.perf_counter() - wall, time.process_time() - cpu


def compared(memory: NeuroGraphMemory, updated: Created, whole: Created) -> None:
    """Print the agreement (NMI) and the modularity of communities."""
    view, rows = memory.view(), whole.structure.rows
    place = np.full(view.node_count, -1)
    place[rows] = np.arange(rows.size)
    edges = np.flatnonzero(whole.structure.inside)
    ends = (place[column[edges]] for column in (view.edge_source, view.edge_target))
    graph = WeightedGraph.of(rows.size, *ends, view.weight.take(edges).astype(np.float64))
    made = igraph.Graph(graph.nodes, list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)))
    labels = [one.structure.labels.tolist() for one in (updated, whole)]
    labels += list(_other_seeds(made, graph.weight.tolist()))
    agreement = [
        igraph.compare_communities(labels[first], labels[second], method="nmi") for first, second in ((0, 1), (2, 3))
    ]
    modularity = ", ".join(f"{made.modularity(one, weights=graph.weight.tolist()):.4f}" for one in labels)
    print(f"NMI with all at once {agreement[0]:.3f}, of two other seeds {agreement[1]:.3f}; modularity {modularity}")
    print(f"PageRank differs by {np.abs(updated.structure.rank - whole.structure.rank).sum():.4f} in sum", flush=True)


def _other_seeds(graph: Any, weights: list[float]) -> Iterator[list[int]]:  # noqa: ANN401 - igraph has no types
    for seed in (1, 2):
        igraph.set_random_number_generator(random.Random(seed))  # noqa: S311 - not a secret
        yield graph.community_leiden("modularity", weights=weights, n_iterations=2).membership


def main() -> None:
    """Run the measurements that the command line asks for."""
    parser = dataset_parser(__doc__, optional=True)
    parser.add_argument("--nodes", type=int, default=10_000, help="planted memories, without a data set")
    arguments = parser.parse_args()
    if arguments.dataset is None:
        grown(planted(arguments.nodes), 100)
        return
    dataset, config = chosen(arguments)
    with NeuroGraphMemory(config) as memory:
        for one in index(dataset, memory):
            grown(held(one), 20)


if __name__ == "__main__":
    main()
