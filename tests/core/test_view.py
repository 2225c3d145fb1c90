"""Columns and views return the written values in every layout."""

import hypothesis.strategies as st
import numpy as np
from hypothesis import given

from neurogated.storage.index.graph.topology import PatchedColumn


@given(
    st.lists(st.integers(-5, 5), min_size=1, max_size=9),
    st.lists(st.tuples(st.integers(0, 8), st.integers(-9, 9)), max_size=30),
    st.integers(1, 6),
)
def test_a_patched_column_equals_a_list_and_its_snapshots_never_change(
    start: list[int], changes: list[tuple[int, int]], fold_at: int
) -> None:
    column = PatchedColumn(np.int64, fold_at)
    column.extend(start)
    expected = list(start)
    snapshots = []
    for row, value in changes:
        snapshots.append((column.snapshot(), list(expected)))
        if row < len(expected):
            column.set([row], [value])
            expected[row] = value
        else:
            column.extend([value])
            expected.append(value)
    snapshots.append((column.snapshot(), list(expected)))
    for snapshot, values in snapshots:
        assert snapshot.all().tolist() == values
        rows = np.array([place for place in range(len(values)) for _ in range(2)][::-1])
        assert snapshot.take(rows).tolist() == [values[row] for row in rows]
