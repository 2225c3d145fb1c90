"""Small graphs on which spreading activation can be followed by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from neurogated import EdgeType, GraphStore, Kernel, MemoryConfig, MemoryNode, SpreadingActivation
from neurogated.config.retrieval_settings import RetrievalSettings, RetrievalSwitches
from neurogated.errors import ConfigError, InputError, UnknownIdError


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


def test_no_memory_lifts_itself() -> None:
    store = _line(("a", "b", EdgeType.SIM, 1.0), ("b", "c", EdgeType.SIM, 0.5))
    returning = MemoryConfig(MAX_HOPS=2, retrieval=RetrievalSettings(switches=RetrievalSwitches(never_back=False)))
    assert _by_id(store, Kernel(), returning, a=1.0)["a"] > 1
    reached = _by_id(store, Kernel(), MemoryConfig(MAX_HOPS=2), a=1.0)
    assert reached["a"] == 1
    # The other edge gets the share that would have returned.
    assert reached["c"] == pytest.approx(reached["b"] * 0.5 * MemoryConfig().ENERGY_DECAY_RATE)


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
        retrieval={"switches": {"damp_hubs": False, "move_once": False}, "gate_exponent": 2, "max_frontier": 1}
    )
    assert _by_id(store, Kernel(), plain, a=1.0) == _by_id(store, Kernel(), changed, a=1.0)
    assert _by_id(store, Kernel(), plain.replace(retrieval={"closed_edge_types": "SEQ"}), a=1.0) == {"a": 1.0}


def test_a_setting_that_names_no_edge_type_is_refused() -> None:
    closed = SpreadingActivation(MemoryConfig(retrieval=RetrievalSettings(closed_edge_types=" SIM , TERM,")))._closed
    assert closed == {EdgeType.SIM, EdgeType.TERM}
    for setting in ("retrieval.closed_edge_types", "retrieval.selective_edge_types"):
        with pytest.raises(ConfigError, match=f"{setting}.*SIMILAR"):
            SpreadingActivation(MemoryConfig().replace(**{setting: "SIMILAR"}))
