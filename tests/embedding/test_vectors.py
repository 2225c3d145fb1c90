import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from neurogated.embedding.vectors import unit_vectors
from neurogated.errors import EmbeddingError


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("position", [0, 2])
def test_a_number_that_is_not_finite_is_refused_with_model_and_position(bad: float, position: int) -> None:
    matrix = np.ones((3, 4))
    matrix[position, 1] = bad

    with pytest.raises(EmbeddingError, match=rf"half-model .* text {position + 1} of 3"):
        unit_vectors(matrix, "half-model")


def test_the_first_of_several_bad_texts_is_named() -> None:
    with pytest.raises(EmbeddingError, match="text 2 of 3"):
        unit_vectors([[1.0], [np.nan], [np.nan]], "m")


def test_a_zero_vector_stays_zero() -> None:
    assert unit_vectors([[0.0, 0.0], [0.0, 2.0]], "m").tolist() == [[0.0, 0.0], [0.0, 1.0]]


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


@pytest.mark.parametrize("size", [1e-30, 1e-20, 1e20, 1e30])
def test_very_small_and_very_large_vectors_get_unit_length_too(size: float) -> None:
    np.testing.assert_allclose(unit_vectors([[3 * size, 4 * size]], "m"), [[0.6, 0.8]], rtol=1e-6)


def test_arguments_are_not_changed() -> None:
    given_vectors = np.full((2, 2), 7.0, dtype=np.float32)

    unit_vectors(given_vectors, "m")

    assert (given_vectors == 7.0).all()


def test_no_vectors_stay_none() -> None:
    assert unit_vectors(np.empty((0, 5)), "m").shape == (0, 5)
