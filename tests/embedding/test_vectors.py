import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from neurogated.embedding.exported_model import unit_vectors
from neurogated.errors import EmbeddingError


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("position", [0, 2])
def test_a_number_that_is_not_finite_is_refused_with_model_and_position(bad: float, position: int) -> None:
    matrix = np.ones((3, 4))
    matrix[position, 1] = bad

    with pytest.raises(EmbeddingError):
        unit_vectors(matrix, "half-model")


@given(
    hnp.arrays(
        np.float32, hnp.array_shapes(min_dims=2, max_dims=2, max_side=6), elements=st.floats(-100, 100, width=16)
    )
)
def test_every_other_vector_gets_unit_length_and_keeps_its_direction(matrix: np.ndarray) -> None:
    unit = unit_vectors(matrix, "m")

    assert unit.dtype == np.float32
    lengths = np.linalg.norm(matrix.astype(np.float64), axis=1, keepdims=True)
    np.testing.assert_allclose(unit * lengths, matrix, rtol=1e-5, atol=1e-30)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), lengths[:, 0] > 0, atol=1e-5)
