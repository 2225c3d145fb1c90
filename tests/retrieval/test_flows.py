"""The flows into a node match a sum over every portion that moved."""

from collections import defaultdict

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from neurogated import EdgeKey, SpreadingActivation
from tests.retrieval.test_spreading_activation import World, config_of, gate_of, gates, switches, worlds


@given(worlds(), gates, st.sampled_from(["classic", "gated"]), switches)
def test_flows_into_a_node_are_all_that_arrived_there(
    world: World, quarters: list[int] | None, mode: str, changes: dict[str, object]
) -> None:
    view, gate = world.store().view(), gate_of(world, quarters)
    opens = None if gate is None else lambda rows: np.array([gate[view.ids[row]] for row in rows.tolist()])
    activation = SpreadingActivation(config_of(world, mode, **changes)).spread(view, world.anchors, world.kernel, opens)
    arrived: dict[tuple[EdgeKey, str], float] = defaultdict(float)
    hops: dict[tuple[EdgeKey, str], int] = {}
    for hop, flow in enumerate(activation.flows, start=1):
        for _, target, edge, amount in zip(*(column.tolist() for column in flow), strict=True):
            arrived[view.edge_key(edge), view.ids[target]] += amount
            hops.setdefault((view.edge_key(edge), view.ids[target]), hop)
    rows = view.rows(world.names)
    into = activation.flows_into(rows, np.full(rows.size, 0.5))
    for steps, total in zip(into, activation.spread.at(rows).tolist(), strict=True):
        assert sum(step.flow for step in steps) == pytest.approx(total / 2, rel=1e-9, abs=1e-12)
        assert [step.flow for step in steps] == sorted((step.flow for step in steps), reverse=True)
    found = [step for steps in into for step in steps]
    assert {(step.edge, step.target_id): pytest.approx(step.flow * 2) for step in found} == arrived
    assert {(step.edge, step.target_id): step.hop for step in found} == hops
    assert len(found) == len(arrived)
    assert all(step.weight == world.edges[step.edge] for step in found)
    assert all(step.target_id == name for name, steps in zip(world.names, into, strict=True) for step in steps)
