"""Activation against an obvious reference over dictionaries."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from neurogated import (
    EdgeKey,
    EdgeType,
    GraphDelta,
    GraphStore,
    Kernel,
    MemoryConfig,
    MemoryEdge,
    MemoryNode,
    SpreadingActivation,
)
from neurogated.core.view import Rows
from neurogated.retrieval.activation import SELECTIVITY
from neurogated.retrieval.formula import FORMULA, Formula

pytestmark = pytest.mark.usefixtures("small_overlay")

TYPES = (EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE)
DECAY = 0.5


@dataclass(frozen=True)
class World:
    """A graph, anchors and a kernel with numbers that are exact in binary, so that sums are exact too."""

    names: tuple[str, ...]
    edges: dict[EdgeKey, float]
    anchors: dict[str, float]
    kernel: Kernel
    hops: int

    def store(self) -> GraphStore:
        store = GraphStore()
        store.apply(GraphDelta(nodes=tuple(MemoryNode(id=name, content=name) for name in self.names)))
        for key, weight in self.edges.items():
            store.add_edge(MemoryEdge(*key, weight=weight))
        return store


@st.composite
def worlds(draw: st.DrawFn) -> World:
    names = tuple(f"n{place}" for place in range(draw(st.integers(1, 9))))
    name = st.sampled_from(names)
    eighths = st.integers(0, 8).map(lambda n: n / 8)
    keys = st.builds(EdgeKey, name, name, st.sampled_from(TYPES)).filter(lambda key: key.source_id != key.target_id)
    edges = draw(st.dictionaries(keys, eighths, max_size=20)) if len(names) > 1 else {}
    halves = st.integers(0, 4).map(lambda n: n / 2)
    kernel = Kernel({k: draw(halves) for k in TYPES}, "drawn", draw(st.dictionaries(st.sampled_from(TYPES), halves)))
    return World(names, edges, draw(st.dictionaries(name, eighths, max_size=4)), kernel, draw(st.integers(0, 3)))


def classic_reference(world: World, decay: float) -> dict[str, float]:
    """The specification's loop, word for word."""
    activations = {name: activation for name, activation in world.anchors.items() if activation > 0}
    for _ in range(world.hops):
        new_activations: dict[str, float] = defaultdict(float)
        for node, activation in activations.items():
            for (source, target, kind), weight in world.edges.items():
                if source == node:
                    new_activations[target] += activation * weight * world.kernel[kind] * decay
        for node, activation in new_activations.items():
            activations[node] = activations.get(node, 0.0) + activation
    return activations


Walk = tuple[str, EdgeType, float, float, EdgeKey]
Walks = dict[str, list[Walk]]


def _walks(world: World, formula: Formula) -> Walks:
    """Return for each node the reachable nodes, with the type, the weights of edge and kernel, and the edge."""
    walks: Walks = defaultdict(list)
    for key, weight in world.edges.items():
        source, target, kind = key
        if kind not in formula.closed_edge_types:
            walks[source].append((target, kind, weight, world.kernel[kind], key))
            if kind.both_ways:
                walks[target].append((source, kind, weight, world.kernel.backwards(kind), key))
    return walks


def _sent(walks: list[Walk], formula: Formula, gate: dict[str, float], came: EdgeKey | None) -> list[float]:
    """Return the share of a portion that arrives over each walk; it does not return over the edge `came`."""
    claims = [gate[target] ** formula.gate_exponent for target, *_ in walks]
    if formula.damp_hubs:
        claims = [claim * weight for claim, (_, _, weight, *_) in zip(claims, walks, strict=True)]
        for of_kind in EdgeType:
            if not sum(claim for claim, walk in zip(claims, walks, strict=True) if walk[1] is of_kind):
                claims = [w[2] if w[1] is of_kind else claim for claim, w in zip(claims, walks, strict=True)]
    sent = []
    for claim, (target, kind, weight, modulation, key) in zip(claims, walks, strict=True):
        total = (
            sum(c for c, walk in zip(claims, walks, strict=True) if walk[1] is kind and walk[-1] != came)
            if formula.damp_hubs
            else 1.0
        )
        share = claim / total if total and key != came else 0.0
        if kind is EdgeType.ASSOC:
            share *= gate[target] ** SELECTIVITY
        sent.append(share * weight * modulation * DECAY)
    return sent


Portions = dict[str, dict[EdgeKey | None, float]]
"""The activation of each node by the edge over which it came."""


def gated_reference(world: World, formula: Formula, gate: dict[str, float] | None = None) -> dict[str, float]:
    """Return the spread activation, by the formula of the class."""
    walks, is_open = _walks(world, formula), gate or dict.fromkeys(world.names, 1.0)

    def strongest_of(portions: Portions) -> Portions:
        # Nodes are numbered in this order, and of equal nodes the first ones pass activation on.
        totals = {name: sum(portions[name].values()) for name in portions}
        active = [name for name in portions if totals[name] > 0]
        active.sort(key=lambda name: (-totals[name], world.names.index(name)))
        return {name: portions[name] for name in active[: formula.max_frontier]}

    moving = strongest_of({name: {None: value} for name, value in world.anchors.items()})
    spread: dict[str, float] = defaultdict(float)
    for _ in range(world.hops):
        arrived: Portions = defaultdict(lambda: defaultdict(float))
        for node, portions in moving.items():
            for came, amount in portions.items():
                sent = _sent(walks[node], formula, is_open, came)
                for (target, *_, key), share in zip(walks[node], sent, strict=True):
                    arrived[target][key if formula.never_back else None] += amount * share
        for node, portions in arrived.items():
            spread[node] += sum(portions.values())
        moving = strongest_of(arrived)
    return spread


def _activations(
    world: World, mode: str, gate: dict[str, float] | None = None, formula: Formula = FORMULA
) -> tuple[dict[str, float], dict[str, float]]:
    view = world.store().view()
    config = MemoryConfig(ACTIVATION=mode, MAX_HOPS=world.hops, ENERGY_DECAY_RATE=DECAY)

    def shares(rows: Rows) -> np.ndarray:
        assert gate is not None
        return np.array([gate[view.ids[row]] for row in rows.tolist()])

    spreading = SpreadingActivation(config, formula)
    activation = spreading.spread(view, world.anchors, world.kernel, shares if gate else None)
    return tuple(
        {view.ids[row]: value for row, value in zip(levels.rows.tolist(), levels.values.tolist(), strict=True)}
        for levels in (activation.total, activation.spread)
    )  # type: ignore[return-value]


@given(worlds())
@settings(deadline=None)
def test_classic_equals_the_specification(world: World) -> None:
    total, _ = _activations(world, "classic")
    assert {name: activation for name, activation in total.items() if activation} == {
        name: activation for name, activation in classic_reference(world, 0.5).items() if activation
    }


def _assert_equal(spread: dict[str, float], expected: dict[str, float]) -> None:
    assert {n: pytest.approx(e) for n, e in spread.items() if e} == {n: e for n, e in expected.items() if e}


gates = st.none() | st.lists(st.integers(0, 4), min_size=9, max_size=9)
formulas = st.builds(
    Formula,
    damp_hubs=st.booleans(),
    never_back=st.booleans(),
    gate_exponent=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    closed_edge_types=st.frozensets(st.sampled_from(TYPES), max_size=2),
)


def gate_of(world: World, quarters: list[int] | None) -> dict[str, float] | None:
    return None if quarters is None else {n: quarter / 4 for n, quarter in zip(world.names, quarters, strict=False)}


@given(worlds(), gates, formulas)
def test_gated_equals_its_formula_with_any_term_switched(
    world: World, quarters: list[int] | None, formula: Formula
) -> None:
    gate = gate_of(world, quarters)
    _, spread = _activations(world, "gated", gate, formula)
    _assert_equal(spread, gated_reference(world, formula, gate))


@given(worlds(), st.integers(1, 3))
def test_only_the_strongest_nodes_send_activation_on(world: World, frontier: int) -> None:
    # Without shares every number is exact in binary, so ties are ties in both.
    formula = Formula(damp_hubs=False, max_frontier=frontier)
    _, spread = _activations(world, "gated", None, formula)
    _assert_equal(spread, gated_reference(world, formula))


@given(worlds(), st.sampled_from(["classic", "gated"]))
@settings(deadline=None)
def test_a_path_leads_from_an_anchor_over_stored_edges_to_its_node(world: World, mode: str) -> None:
    view = world.store().view()
    config = MemoryConfig(ACTIVATION=mode, MAX_HOPS=world.hops, ENERGY_DECAY_RATE=0.5)
    activation = SpreadingActivation(config).spread(view, world.anchors, world.kernel)
    rows, values = activation.total
    paths = activation.paths(rows, np.ones(rows.size))
    for row, value, path in zip(rows.tolist(), values.tolist(), paths, strict=True):
        name = view.ids[row]
        if value == 0:
            continue
        assert bool(path) == (world.anchors.get(name, 0.0) <= 0)
        for before, after in pairwise(path):
            assert before.target_id == after.source_id
        for step in path:
            assert world.edges[step.edge] == step.weight
            assert step.flow > 0
            assert step.forward or (mode == "gated" and step.type.both_ways)
        if path:
            assert world.anchors[path[0].source_id] > 0
            assert path[-1].target_id == name
        assert activation.edges_to(np.array([row])) == {step.edge for step in path}
    assert activation.edges_to(rows) == {step.edge for path in paths for step in path}


def test_a_path_leads_over_the_strongest_flow() -> None:
    edges = {EdgeKey("n0", "n3", EdgeType.SEQ): 0.25, EdgeKey("n1", "n3", EdgeType.SEQ): 0.75}
    edges[EdgeKey("n2", "n3", EdgeType.SEQ)] = 0.5
    world = World(
        ("n0", "n1", "n2", "n3"), edges, dict.fromkeys(("n0", "n1", "n2"), 1.0), Kernel({EdgeType.SEQ: 1.0}), 1
    )
    view = world.store().view()
    activation = SpreadingActivation(MemoryConfig(MAX_HOPS=1)).spread(view, world.anchors, world.kernel)
    (path,) = activation.paths(view.rows(["n3"]), np.ones(1))
    assert [step.source_id for step in path] == ["n1"]
