"""Spreading activation from anchors, compared with loops and graph libraries."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.baselines import DictGraph, networkx_expansion, pagerank
from benchmarks.measuring import measured, seconds_of
from benchmarks.synthetic import Synthetic
from neurogated import Kernel, MemoryConfig, NeuroGraphMemory, SpreadingActivation
from neurogated.core.view import GraphView
from neurogated.retrieval.formula import Formula

ANCHORS = 5
TOP = 10
SMALL = 100_000
"""networkx is measured up to this many nodes; beyond, building its graph takes minutes and gigabytes."""
# The loop and networkx let activation return over its edge.
LOOP = Formula(never_back=False)
KERNEL = Kernel.parse("MENTION=2.0, TERM=1.0, SEQ=0.3, SIM=0.1, CAUSE=0.5, ASSOC=1.0", "facts")
UNCAPPED = Formula(never_back=False, max_frontier=10**9)


@pytest.fixture(scope="module")
def graph(synthetic: Synthetic) -> DictGraph:
    """Return the graph for the loop."""
    return DictGraph(synthetic)


def _random_anchors(synthetic: Synthetic, seed: int = 1) -> Iterator[dict[int, float]]:
    rng = np.random.default_rng(seed)
    while True:
        yield {int(node): 1.0 - place / 10 for place, node in enumerate(rng.choice(synthetic.nodes, ANCHORS, False))}


def _hubs(synthetic: Synthetic) -> Iterator[dict[int, float]]:
    largest = np.argsort(-synthetic.degrees(), kind="stable")[:ANCHORS]
    while True:
        yield {int(node): 1.0 - place / 10 for place, node in enumerate(largest)}


def _named(anchors: dict[int, float]) -> dict[str, float]:
    return {f"n{node}": energy for node, energy in anchors.items()}


def _expand(
    benchmark: BenchmarkFixture,
    memory: NeuroGraphMemory,
    anchors: list[dict[int, float]],
    graph: DictGraph,
    hops: int,
    rounds: int,
) -> None:
    """Measure the expansion and the loop on the same anchors, and how much the cap moves the ten best."""
    view, config = memory.store.view(), MemoryConfig(MAX_HOPS=hops)
    activation, exact = SpreadingActivation(config, LOOP), SpreadingActivation(config, UNCAPPED)
    found = measured(
        benchmark, lambda start: activation.spread(view, start, KERNEL), ((_named(start),) for start in anchors), rounds
    )

    def loop(start: dict[int, float]) -> dict[int, float]:
        return graph.expand(start, KERNEL, hops=hops, decay=config.ENERGY_DECAY_RATE)

    benchmark.extra_info["dict loop"] = seconds_of(loop, ((start,) for start in anchors), rounds)
    shifts, shifts_of_spread = [], []
    for start, capped in list(zip(anchors[-len(found) :], found, strict=True))[:20]:
        whole, by_loop = exact.spread(view, _named(start), KERNEL), loop(start)
        spread = _by_id(view, whole.spread)
        assert spread == pytest.approx({f"n{node}": energy for node, energy in by_loop.items() if energy > 0})
        shifts.append(_displacement(_ranked(_by_id(view, whole.total)), _ranked(_by_id(view, capped.total))))
        shifts_of_spread.append(_displacement(_ranked(spread), _ranked(_by_id(view, capped.spread))))
    benchmark.extra_info["displacement"] = float(np.mean(shifts))
    benchmark.extra_info["displacement of spread"] = float(np.mean(shifts_of_spread))


def _by_id(view: GraphView, energy) -> dict[str, float]:  # noqa: ANN001 - the type is not public
    return {view.ids[row]: value for row, value in zip(energy.rows.tolist(), energy.values, strict=True)}


def _ranked(energies: dict[str, float]) -> list[str]:
    return sorted(energies, key=lambda node: (-energies[node], node))


def _displacement(exact: list[str], capped: list[str]) -> float:
    """Return the mean number of places that the ten best moved; a missing node counts as moved to the end."""
    places = {node: place for place, node in enumerate(capped)}
    return float(np.mean([abs(place - places.get(node, len(capped))) for place, node in enumerate(exact[:TOP])]))


def test_two_hops_from_random_anchors(
    benchmark: BenchmarkFixture, memory: NeuroGraphMemory, synthetic: Synthetic, graph: DictGraph
) -> None:
    rounds, drawn = 200, _random_anchors(synthetic)
    anchors = [next(drawn) for _ in range(rounds + rounds // 10)]
    _expand(benchmark, memory, anchors, graph, 2, rounds)


def test_three_hops_from_the_largest_hubs(
    benchmark: BenchmarkFixture, memory: NeuroGraphMemory, synthetic: Synthetic, graph: DictGraph
) -> None:
    rounds, hubs = 20, _hubs(synthetic)
    _expand(benchmark, memory, [next(hubs) for _ in range(rounds + 2)], graph, 3, rounds)


def test_networkx_two_hops_from_random_anchors(
    benchmark: BenchmarkFixture, synthetic: Synthetic, graph: DictGraph
) -> None:
    if synthetic.nodes > SMALL:
        pytest.skip(f"networkx is measured up to {SMALL} nodes")
    expand, decay = networkx_expansion(graph), MemoryConfig().ENERGY_DECAY_RATE
    start = next(_random_anchors(synthetic))
    by_loop = graph.expand(start, KERNEL, hops=2, decay=decay)
    assert expand(start, KERNEL, hops=2, decay=decay) == pytest.approx(by_loop)
    anchors = ((drawn,) for drawn in _random_anchors(synthetic))
    measured(benchmark, lambda drawn: expand(drawn, KERNEL, hops=2, decay=decay), anchors, 50)


def test_igraph_personalised_pagerank(benchmark: BenchmarkFixture, synthetic: Synthetic) -> None:
    anchors = ((list(start),) for start in _random_anchors(synthetic))
    ranks = measured(benchmark, pagerank(synthetic), anchors, 10 if synthetic.nodes <= SMALL else 3)
    assert sum(ranks[-1]) == pytest.approx(1)
