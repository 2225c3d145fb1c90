"""How long energy takes to spread: `python benchmarks/expansion.py 10000.npz 100000.npz`.

Beside it, in the same run: the same formula as a loop over dictionaries without a cap of the frontier, and igraph's
personalised PageRank. The displacement says by how many places the ten best of the loop stand elsewhere with the cap.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from functools import partial
from pathlib import Path

import igraph
import numpy as np
from synthetic import TYPES, Synthetic, median_ms

from neurogated import GraphStore, Kernel, MemoryConfig, SpreadingActivation
from neurogated.core.view import GraphView, Rows

ANCHORS = 5
TRIALS = 101
HUB_HOPS = 3
LOOP_TRIALS = 3
TOP = 10
KERNEL = Kernel(dict(zip(TYPES, (0.3, 0.1, 1.5, 1.0), strict=True)), "mixed")
KERNELS = {"default": KERNEL, "neutral": Kernel()}

Walk = tuple[int, int, bool, float]
"""Target, type, whether along the stored direction, weight."""


class DictLoop:
    """The formula of SpreadingActivation over dictionaries of neighbours, with every node sending energy on."""

    def __init__(self, data: Synthetic, config: MemoryConfig) -> None:
        self._config = config
        self._classic = config.ACTIVATION == "classic"
        self._walks: dict[int, list[Walk]] = defaultdict(list)
        columns = (data.edges.tolist(), data.types.tolist(), data.weights.astype(float).tolist())
        for (source, target), kind, weight in zip(*columns, strict=True):
            self._walks[source].append((target, kind, True, weight))
            if TYPES[kind].both_ways and not self._classic:
                self._walks[target].append((source, kind, False, weight))

    def spread(
        self, anchors: dict[int, float], kernel: Kernel, gate: list[float] | None, hops: int
    ) -> tuple[dict[int, float], dict[int, float]]:
        """Return the energy that spread, and that with the anchors' own."""
        modulation = {(c, along): kernel[k] if along else kernel.backwards(k) for c, k in enumerate(TYPES)
                      for along in (False, True)}  # fmt: skip
        moving, spread = dict(anchors), defaultdict(float)
        for _ in range(hops):
            arrived: dict[int, float] = defaultdict(float)
            for node, energy in moving.items():
                for (target, kind, along, weight), share in zip(
                    self._walks[node], self._shares(self._walks[node], gate), strict=True
                ):
                    sent = energy * share * weight * modulation[kind, along] * self._config.ENERGY_DECAY_RATE
                    if sent > 0:
                        arrived[target] += sent
            for node, energy in arrived.items():
                spread[node] += energy
            if self._classic:
                for node, energy in arrived.items():
                    moving[node] = moving.get(node, 0.0) + energy
            else:
                moving = arrived
        total = defaultdict(float, anchors)
        for node, energy in spread.items():
            total[node] += energy
        return spread, total

    def _shares(self, walks: list[Walk], gate: list[float] | None) -> list[float]:
        if self._classic:
            return [1.0] * len(walks)
        exponent = self._config.GATE_EXPONENT
        claims = [weight * (gate[target] ** exponent if gate else 1.0) for target, _, _, weight in walks]
        totals: dict[int, float] = defaultdict(float)
        for claim, (_, kind, _, _) in zip(claims, walks, strict=True):
            totals[kind] += claim
        bare: dict[int, float] = defaultdict(float)
        for _, kind, _, weight in walks:
            bare[kind] += weight
        selective = self._config.SELECTIVE_EDGE_TYPES.split(",")
        shares = []
        for claim, (target, kind, _, weight) in zip(claims, walks, strict=True):
            share = claim / totals[kind] if totals[kind] else weight / bare[kind]
            if gate and TYPES[kind].name in selective:
                share *= gate[target] ** self._config.SELECTIVITY
            shares.append(share)
        return shares


def displacement(capped: dict[int, float], whole: dict[int, float]) -> float:
    """Return by how many places on average the best of `whole` stand elsewhere in `capped`."""
    ranks = [
        {node: rank for rank, node in enumerate(sorted(energies, key=lambda node: (-energies[node], node)))}
        for energies in (capped, whole)
    ]
    best = [node for node, rank in ranks[1].items() if rank < TOP]
    return float(np.mean([abs(ranks[0].get(node, len(ranks[0])) - ranks[1][node]) for node in best]))


def _energies(view: GraphView, rows: Rows, values: np.ndarray) -> dict[int, float]:
    return dict(zip((int(view.ids[row][1:]) for row in rows.tolist()), values.tolist(), strict=True))


def _print(what: str, ours: float, other: float, note: str = "") -> None:
    print(f"  {what:<46} {ours:8.3f} ms {other:10.2f} ms {other / ours:8.1f}× {note}")


def measure(data: Synthetic) -> None:
    """Print the table of one size."""
    store = GraphStore()
    data.fill(store)
    view, rng = store.view(), np.random.default_rng(0)
    print(f"{len(data)} nodes, {len(data.edges)} edges, {len(view.layers)} layers of them")
    openness = np.clip((np.random.default_rng(1).normal(0.5, 0.2, len(data))), 0, 1)
    places = np.array([int(name[1:]) for name in view.ids])
    gate = partial(np.take, openness[places])
    chosen = [rng.choice(len(data), ANCHORS, replace=False).tolist() for _ in range(TRIALS)]
    degrees = np.bincount(data.edges.ravel(), minlength=len(data))
    hubs = np.argsort(-degrees, kind="stable")[:ANCHORS].tolist()
    print(f"  {'':<46} {'arrays':>11} {'dict loop':>13} {'ratio':>9}")
    graph = igraph.Graph(n=len(data), edges=data.edges.tolist(), edge_attrs={"weight": data.weights.tolist()})
    ranks = [partial(graph.personalized_pagerank, reset_vertices=c, weights="weight") for c in chosen[:LOOP_TRIALS]]
    for mode in ("gated", "classic"):
        config = MemoryConfig(ACTIVATION=mode)
        loop = DictLoop(data, config)
        for opened, said in ((None, "no gate"), (gate, "gate"))[: 1 if mode == "classic" else 2]:
            gates = openness.tolist() if opened else None
            spread = SpreadingActivation(config).spread
            energies = [{number: 1.0 - place / 10 for place, number in enumerate(c)} for c in chosen]
            ours = median_ms(
                [partial(spread, view, {f"n{n}": e for n, e in a.items()}, KERNEL, opened) for a in energies]
            )
            other = median_ms([partial(loop.spread, a, KERNEL, gates, config.MAX_HOPS) for a in energies])
            _print(f"{mode}, {said}: {config.MAX_HOPS} hops from {ANCHORS} random", ours, other)
            if mode == "gated" and opened is None:
                _print("personalised PageRank of igraph instead", ours, median_ms(ranks))
            for name, kernel in KERNELS.items():
                far = SpreadingActivation(config.replace(MAX_HOPS=HUB_HOPS))
                start = dict.fromkeys(hubs, 1.0)
                named = {f"n{n}": e for n, e in start.items()}
                ours = median_ms([partial(far.spread, view, named, kernel, opened)] * TRIALS)
                other = median_ms([partial(loop.spread, start, kernel, gates, HUB_HOPS)] * LOOP_TRIALS)
                activation, whole = far.spread(view, named, kernel, opened), loop.spread(start, kernel, gates, HUB_HOPS)
                moved = [
                    displacement(_energies(view, *energy), expected)
                    for energy, expected in zip((activation.spread, activation.total), whole, strict=True)
                ]
                note = f"displaced by {moved[0]:.1f} (spread), {moved[1]:.1f} (total)"
                _print(f"{mode}, {said}, {name} kernel: {HUB_HOPS} hops from hubs", ours, other, note)


def main() -> None:
    """Measure and print a table for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path, help="synthetic memories, as .npz")
    for path in parser.parse_args().files:
        measure(Synthetic(path))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
