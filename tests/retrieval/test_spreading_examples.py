"""Small graphs on which spreading activation can be followed by hand."""

from __future__ import annotations

from itertools import pairwise

import pytest

from neurogated import EdgeType, GraphStore, Kernel, MemoryConfig, MemoryNode, SpreadingActivation
from neurogated.config.retrieval_settings import RetrievalSettings, RetrievalSwitches


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
