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
from neurogated.config.groups import RuntimeSettings
from neurogated.config.retrieval_settings import RetrievalSettings, RetrievalSwitches
from neurogated.core.view import Rows
from neurogated.errors import ConfigError, InputError, UnknownIdError

TYPES = (EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE)


@dataclass(frozen=True)
class World:
    """A graph, anchors and a kernel with numbers that are exact in binary, so that sums are exact too."""

    names: tuple[str, ...]
    edges: dict[EdgeKey, float]
    anchors: dict[str, float]
    kernel: Kernel
    hops: int

    def store(self) -> GraphStore:
        store = GraphStore(config=MemoryConfig(runtime=RuntimeSettings(overlay_edges=5)))
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


Walks = dict[str, list[tuple[str, EdgeType, float, float]]]


def _walks(world: World, config: MemoryConfig) -> Walks:
    """Return for each node the reachable nodes, with the type and the weights of edge and kernel."""
    walks: Walks = defaultdict(list)
    for (source, target, kind), weight in world.edges.items():
        if kind.name not in config.retrieval.closed_edge_types.split(","):
            walks[source].append((target, kind, weight, world.kernel[kind]))
            if kind.both_ways:
                walks[target].append((source, kind, weight, world.kernel.backwards(kind)))
    return walks


def _sent(walks: list[tuple[str, EdgeType, float, float]], config: MemoryConfig, gate: dict[str, float]) -> list[float]:
    """Return the share of its activation that arrives over each walk from a node."""
    claims = [
        gate[target] ** config.retrieval.gate_exponent if config.retrieval.switches.gate_hops else 1.0
        for target, *_ in walks
    ]
    if config.retrieval.switches.damp_hubs:
        claims = [claim * weight for claim, (_, _, weight, _) in zip(claims, walks, strict=True)]
        for of_kind in EdgeType:
            if not sum(claim for claim, walk in zip(claims, walks, strict=True) if walk[1] is of_kind):
                claims = [w[2] if w[1] is of_kind else claim for claim, w in zip(claims, walks, strict=True)]
    sent = []
    for claim, (target, kind, weight, modulation) in zip(claims, walks, strict=True):
        total = (
            sum(c for c, walk in zip(claims, walks, strict=True) if walk[1] is kind)
            if config.retrieval.switches.damp_hubs
            else 1.0
        )
        share = claim / total if total else 0.0
        if config.retrieval.switches.gate_hops and kind.name in config.retrieval.selective_edge_types.split(","):
            share *= gate[target] ** config.retrieval.selectivity
        sent.append(share * weight * modulation * config.ENERGY_DECAY_RATE)
    return sent


def gated_reference(world: World, config: MemoryConfig, gate: dict[str, float] | None = None) -> dict[str, float]:
    """Return the spread activation, by the formula of the class and the settings that change its terms."""
    walks, is_open = _walks(world, config), gate or dict.fromkeys(world.names, 1.0)

    def strongest_of(activations: dict[str, float]) -> dict[str, float]:
        # Nodes are numbered in this order, and of equal nodes the first ones pass activation on.
        active = [name for name in activations if activations[name] > 0]
        active.sort(key=lambda name: (-activations[name], world.names.index(name)))
        return {name: activations[name] for name in active[: config.retrieval.max_frontier]}

    moving = strongest_of(world.anchors)
    spread: dict[str, float] = defaultdict(float)
    for _ in range(world.hops):
        arrived: dict[str, float] = defaultdict(float)
        for node, activation in moving.items():
            for (target, *_), share in zip(walks[node], _sent(walks[node], config, is_open), strict=True):
                arrived[target] += activation * share
        for node, activation in arrived.items():
            spread[node] += activation
        kept = {} if config.retrieval.switches.move_once else moving
        going = {name: kept.get(name, 0.0) + arrived.get(name, 0.0) for name in {*kept, *arrived}}
        moving = strongest_of(going)
    return spread


def config_of(world: World, mode: str = "gated", /, **settings: object) -> MemoryConfig:
    return MemoryConfig(ACTIVATION=mode, MAX_HOPS=world.hops, ENERGY_DECAY_RATE=0.5).replace(**settings)


def _activations(
    world: World, mode: str, gate: dict[str, float] | None = None, /, **settings: object
) -> tuple[dict[str, float], dict[str, float]]:
    view = world.store().view()
    config = config_of(world, mode, **settings)

    def shares(rows: Rows) -> np.ndarray:
        assert gate is not None
        return np.array([gate[view.ids[row]] for row in rows.tolist()])

    activation = SpreadingActivation(config).spread(view, world.anchors, world.kernel, shares if gate else None)
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
type_names = st.sets(st.sampled_from([kind.name for kind in TYPES]), max_size=2).map(",".join)
switches = st.fixed_dictionaries(
    {},
    optional={
        "retrieval.switches.damp_hubs": st.booleans(),
        "retrieval.switches.move_once": st.booleans(),
        "retrieval.switches.gate_hops": st.booleans(),
        "retrieval.gate_exponent": st.sampled_from([0.0, 1.0, 2.0]),
        "retrieval.selective_edge_types": type_names,
        "retrieval.selectivity": st.sampled_from([0.0, 1.0]),
        "retrieval.closed_edge_types": type_names,
    },
)


def gate_of(world: World, quarters: list[int] | None) -> dict[str, float] | None:
    return None if quarters is None else {n: quarter / 4 for n, quarter in zip(world.names, quarters, strict=False)}


@given(worlds(), gates)
def test_gated_equals_its_formula(world: World, quarters: list[int] | None) -> None:
    gate = gate_of(world, quarters)
    _, spread = _activations(world, "gated", gate)
    _assert_equal(spread, gated_reference(world, config_of(world), gate))


@given(worlds(), gates, switches)
@settings(max_examples=200)
def test_gated_equals_its_formula_with_any_term_switched(
    world: World, quarters: list[int] | None, changes: dict[str, object]
) -> None:
    gate = gate_of(world, quarters)
    _, spread = _activations(world, "gated", gate, **changes)
    _assert_equal(spread, gated_reference(world, config_of(world, **changes), gate))


@given(worlds(), st.integers(1, 3), st.booleans())
def test_only_the_strongest_nodes_send_activation_on(world: World, frontier: int, move_once: object) -> None:
    # Without shares every number is exact in binary, so ties are ties in both.
    changes = {
        "retrieval.switches.damp_hubs": False,
        "retrieval.max_frontier": frontier,
        "retrieval.switches.move_once": move_once,
    }
    _, spread = _activations(world, "gated", **changes)
    _assert_equal(spread, gated_reference(world, config_of(world, **changes)))


@given(worlds(), gates, st.booleans())
def test_a_node_hands_on_no_more_of_a_type_than_its_activation_times_weight_kernel_and_decay(
    world: World, quarters: list[int] | None, move_once: object
) -> None:
    view = world.store().view()
    config = MemoryConfig(
        MAX_HOPS=world.hops,
        ENERGY_DECAY_RATE=0.5,
        retrieval=RetrievalSettings(switches=RetrievalSwitches(move_once=bool(move_once))),
    )

    def gate(rows: Rows) -> np.ndarray:
        return np.array([(quarters or [])[row] / 4 for row in rows.tolist()])

    activation = SpreadingActivation(config).spread(view, world.anchors, world.kernel, gate if quarters else None)
    moving = {view.row(name): activation for name, activation in world.anchors.items() if activation > 0}
    for flow in activation.flows:
        given_away: dict[tuple[int, EdgeType], float] = defaultdict(float)
        arrived: dict[int, float] = defaultdict(float)
        for source, target, edge, amount in zip(*(column.tolist() for column in flow), strict=True):
            given_away[source, view.edge_key(edge).type] += amount
            arrived[target] += amount
        for (source, kind), amount in given_away.items():
            name = view.ids[source]
            strongest = max(w for key, w in world.edges.items() if name in key[:2] and key.type is kind)
            modulation = max(world.kernel[kind], world.kernel.backwards(kind))
            assert amount <= moving[source] * strongest * modulation * 0.5 + 1e-9
        if move_once:
            moving = arrived
        else:
            moving = {row: moving.get(row, 0.0) + arrived.get(row, 0.0) for row in {*moving, *arrived}}


@pytest.mark.parametrize("move_once", [True, False])
@pytest.mark.parametrize("frontier", [1, 2, 100])
def test_a_path_is_whole_however_activation_moves(frontier: int, *, move_once: bool) -> None:
    edges = [(f"n{a}", f"n{b}", EdgeType.SIM, 1 / (1 + abs(a - b))) for a in range(6) for b in range(a)]
    view = _line(*edges).view()
    config = MemoryConfig(
        MAX_HOPS=3, retrieval=RetrievalSettings(max_frontier=frontier, switches=RetrievalSwitches(move_once=move_once))
    )
    activation = SpreadingActivation(config).spread(view, {"n0": 1.0}, Kernel())
    for row in activation.spread.rows.tolist():
        path = activation.path(row)
        if view.ids[row] == "n0":
            assert path == ()
            continue
        assert path[0].source_id == "n0"
        assert path[-1].target_id == view.ids[row]
        assert all(before.target_id == after.source_id for before, after in pairwise(path))


def test_classic_is_not_touched_by_the_settings_of_the_gated_flow() -> None:
    store = _line(("a", "b", EdgeType.SEQ, 1.0), ("a", "c", EdgeType.SEQ, 0.5), ("b", "d", EdgeType.SEQ, 1.0))
    plain = MemoryConfig(ACTIVATION="classic")
    changed = plain.replace(
        retrieval={"switches": {"damp_hubs": False, "move_once": False, "gate_hops": False}, "max_frontier": 1}
    )
    assert _by_id(store, Kernel(), plain, a=1.0) == _by_id(store, Kernel(), changed, a=1.0)
    assert _by_id(store, Kernel(), plain.replace(retrieval={"closed_edge_types": "SEQ"}), a=1.0) == {"a": 1.0}


def test_a_setting_that_names_no_edge_type_is_refused() -> None:
    closed = SpreadingActivation(MemoryConfig(retrieval=RetrievalSettings(closed_edge_types=" SIM , TERM,")))._closed
    assert closed == {EdgeType.SIM, EdgeType.TERM}
    for setting in ("retrieval.closed_edge_types", "retrieval.selective_edge_types"):
        with pytest.raises(ConfigError, match=f"{setting}.*SIMILAR"):
            SpreadingActivation(MemoryConfig().replace(**{setting: "SIMILAR"}))


@given(worlds())
@settings(deadline=None)
def test_gated_activation_grows_by_no_more_than_the_kernel_allows(world: World) -> None:
    _, spread = _activations(world, "gated")
    start = sum(activation for activation in world.anchors.values() if activation > 0)
    # For any number of edges, each type passes on at most the received activation, times decay and kernel weight.
    factor = 0.5 * sum(max(world.kernel[kind], world.kernel.backwards(kind)) for kind in TYPES)
    assert sum(spread.values()) <= start * sum(factor**hop for hop in range(1, world.hops + 1)) + 1e-9


@given(worlds(), st.sampled_from(["classic", "gated"]))
@settings(deadline=None)
def test_a_path_leads_from_an_anchor_over_stored_edges_to_its_node(world: World, mode: str) -> None:
    view = world.store().view()
    config = MemoryConfig(ACTIVATION=mode, MAX_HOPS=world.hops, ENERGY_DECAY_RATE=0.5)
    activation = SpreadingActivation(config).spread(view, world.anchors, world.kernel)
    for row, value in zip(activation.total.rows.tolist(), activation.total.values.tolist(), strict=True):
        path, name = activation.path(row), view.ids[row]
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


def _line(*edges: tuple[str, str, EdgeType, float]) -> GraphStore:
    store = GraphStore()
    for name in sorted({end for edge in edges for end in edge[:2]}):
        store.add_node(MemoryNode(id=name, content=name))
    for source, target, kind, weight in edges:
        store.add_edge(source, target, kind, weight)
    return store


def _by_id(store: GraphStore, kernel: Kernel, config: MemoryConfig, **anchors: float) -> dict[str, float]:
    view = store.view()
    total = SpreadingActivation(config).spread(view, anchors, kernel).total
    return {view.ids[row]: value for row, value in zip(total.rows.tolist(), total.values.tolist(), strict=True)}


def test_the_kernel_decides_where_activation_goes() -> None:
    store = _line(("event", "reason", EdgeType.CAUSE, 0.5), ("event", "next", EdgeType.SEQ, 0.5))
    config = MemoryConfig(MAX_HOPS=1)
    why = _by_id(store, Kernel({EdgeType.CAUSE: 2.0, EdgeType.SEQ: 0.5}), config, event=1.0)
    when = _by_id(store, Kernel({EdgeType.CAUSE: 0.5, EdgeType.SEQ: 2.0}), config, event=1.0)
    assert why["reason"] > why["next"]
    assert when["next"] > when["reason"]


def test_a_closed_type_carries_nothing() -> None:
    store = _line(("a", "b", EdgeType.SEQ, 1.0))
    assert _by_id(store, Kernel({EdgeType.SEQ: 0.0}), MemoryConfig(), a=1.0) == {"a": 1.0}


def test_classic_follows_stored_directions_and_gated_goes_both_ways() -> None:
    store = _line(("a", "b", EdgeType.SEQ, 1.0))
    assert "a" not in _by_id(store, Kernel(), MemoryConfig(ACTIVATION="classic"), b=1.0)
    assert _by_id(store, Kernel(), MemoryConfig(MAX_HOPS=1), b=1.0)["a"] == 0.5


def test_classic_walks_the_types_of_the_specification_only() -> None:
    types = [EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE, EdgeType.TERM, EdgeType.MENTION, EdgeType.ASSOC]
    store = _line(*(("a", kind.name, kind, 1.0) for kind in types))
    assert _by_id(store, Kernel(), MemoryConfig(ACTIVATION="classic"), a=1.0).keys() == {"a", "SEQ", "SIM", "CAUSE"}
    assert _by_id(store, Kernel(), MemoryConfig(MAX_HOPS=1), a=1.0).keys() > {"TERM", "MENTION", "ASSOC"}


def test_a_hub_passes_on_no_more_than_it_got() -> None:
    store = _line(*((f"leaf{n}", "hub", EdgeType.SIM, 1.0) for n in range(50)))
    gated = _by_id(store, Kernel(), MemoryConfig(MAX_HOPS=1), hub=1.0)
    assert sum(gated.values()) == pytest.approx(1.5)


def test_the_strongest_way_is_told() -> None:
    store = _line(("a", "b", EdgeType.SEQ, 0.25), ("a", "c", EdgeType.CAUSE, 1.0), ("c", "b", EdgeType.SEQ, 1.0))
    view = store.view()
    config = MemoryConfig(ACTIVATION="classic", MAX_HOPS=2)
    path = SpreadingActivation(config).spread(view, {"a": 1.0}, Kernel()).path(view.row("b"))
    assert [(step.source_id, step.target_id, step.type) for step in path] == [
        ("a", "c", EdgeType.CAUSE),
        ("c", "b", EdgeType.SEQ),
    ]
    assert [step.flow for step in path] == [0.5, 0.25]


def test_an_unknown_anchor_is_named() -> None:
    with pytest.raises(UnknownIdError, match="'ghost'"):
        SpreadingActivation(MemoryConfig()).spread(GraphStore().view(), {"ghost": 1.0}, Kernel())


@pytest.mark.parametrize("weight", [-0.1, 2.1, float("nan")])
def test_a_kernel_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="CAUSE"):
        Kernel({EdgeType.CAUSE: weight})


def test_where_no_neighbour_is_like_the_question_the_weights_decide() -> None:
    store = _line(("a", "b", EdgeType.SEQ, 0.75), ("a", "c", EdgeType.SEQ, 0.25))
    algorithm = SpreadingActivation(MemoryConfig(MAX_HOPS=1))
    spread = algorithm.spread(store.view(), {"a": 1.0}, Kernel(), lambda rows: np.zeros(rows.size))
    flows = dict(zip(spread.spread.rows.tolist(), spread.spread.values.tolist(), strict=True))
    assert [flows[store.view().row(name)] for name in "bc"] == pytest.approx([0.75 * 0.75 / 2, 0.25 * 0.25 / 2])
