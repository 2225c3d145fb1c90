"""The order of ranked memories."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from neurogated import GraphDelta, GraphStore, MemoryNode
from neurogated.core.view import best_places

NAMES = [f"n{number}" for number in range(12)]
STORE = GraphStore()
STORE.apply(GraphDelta(nodes=tuple(MemoryNode(name, name) for name in reversed(NAMES))))


@given(st.lists(st.sampled_from([-1.0, -0.0, 0.0, 0.25, 0.5, 1.0]), max_size=len(NAMES)), st.integers(0, 14))
def test_the_best_come_first_and_equal_ones_in_order_of_id(scores: list[float], count: int) -> None:
    view = STORE.view()
    rows, values = np.arange(len(scores)), np.array(scores)
    expected = sorted(range(len(scores)), key=lambda place: (-scores[place], view.ids[place]))[:count]
    assert best_places(view, rows, values, count) == expected
