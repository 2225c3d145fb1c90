import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import cosine_similarity as reference_cosine  # type: ignore[import-untyped]
from sklearn.neighbors import NearestNeighbors  # type: ignore[import-untyped]

from neurogated.errors import InputError
from neurogated.utils.vector_utils import cosine_similarity, retrieve_knn, top_k

SEEDS = range(5)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cosine_agrees_with_scikit_learn(seed: int, dtype: type[np.floating]) -> None:
    random = np.random.default_rng(seed)
    left = random.normal(size=(random.integers(1, 40), 17)).astype(dtype)
    right = random.normal(size=(random.integers(1, 40), 17)).astype(dtype)

    cosines = cosine_similarity(left, right)

    assert cosines.shape == (len(left), len(right))
    np.testing.assert_allclose(cosines, reference_cosine(left, right), atol=1e-6)


def test_a_vector_adds_no_axis() -> None:
    one, rows = [3.0, 4.0], [[4.0, 3.0], [3.0, 4.0], [-3.0, -4.0]]

    assert cosine_similarity(one, rows) == pytest.approx([24 / 25, 1.0, -1.0])
    assert cosine_similarity(rows, one) == pytest.approx([24 / 25, 1.0, -1.0])
    assert float(cosine_similarity(one, rows[0])) == pytest.approx(24 / 25)
    assert cosine_similarity([one], rows).shape == (1, 3)


@pytest.mark.parametrize("none", [[], np.empty((0, 2))])
def test_no_vectors_have_no_cosines(none: list[float]) -> None:
    assert cosine_similarity([3.0, 4.0], none).shape == (0,)
    assert cosine_similarity([[3.0, 4.0], [0.0, 1.0]], none).shape == (2, 0)


def test_a_row_of_zeros_has_cosine_zero_with_everything() -> None:
    rows = [[0.0, 0.0], [1.0, 2.0]]

    cosines = cosine_similarity(rows, rows)

    assert cosines == pytest.approx(np.array([[0.0, 0.0], [0.0, 1.0]]))


@given(st.lists(st.floats(-1e6, 1e6, width=32), min_size=1, max_size=8), st.floats(-100, 100, width=32))
def test_cosine_never_leaves_its_range(vector: list[float], factor: float) -> None:
    cosine = cosine_similarity(vector, [factor * value for value in vector]).item()

    assert -1.0 <= cosine <= 1.0


def test_vectors_of_different_dimension_are_refused_with_both_dimensions() -> None:
    with pytest.raises(InputError, match=r"dimension 3 and 2"):
        cosine_similarity(np.ones((2, 3)), np.ones((4, 2)))
    with pytest.raises(InputError, match=r"dimension 3 and 2"):
        retrieve_knn(np.ones((2, 3)), np.ones((4, 2)), 1)


@given(
    # Few different values, so that most examples have ties.
    scores=st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.25, 1.0]) | st.floats(-1, 1), max_size=30),
    k=st.integers(-2, 35),
)
def test_top_k_sorts_by_score_and_then_by_position(scores: list[float], k: int) -> None:
    expected = sorted(range(len(scores)), key=lambda position: (-scores[position], position))[: max(0, k)]

    assert top_k(np.array(scores, dtype=np.float64), k).tolist() == expected


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("k", [1, 4, 30])
def test_knn_agrees_with_scikit_learn(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    queries, keys = random.normal(size=(9, 12)), random.normal(size=(30, 12))

    positions, cosines = retrieve_knn(queries, keys, k)

    distances, expected = NearestNeighbors(n_neighbors=k, metric="cosine").fit(keys).kneighbors(queries)
    assert positions.tolist() == expected.tolist()
    np.testing.assert_allclose(cosines, 1 - distances, atol=1e-9)


def test_knn_returns_all_keys_where_there_are_fewer_than_k() -> None:
    positions, cosines = retrieve_knn([[1.0, 0.0]], [[0.0, 1.0], [2.0, 0.0]], 10)

    assert positions.tolist() == [[1, 0]]
    assert cosines.tolist() == [[1.0, 0.0]]


def test_knn_orders_equal_keys_by_position() -> None:
    keys = [[0.0, 1.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]]

    positions, _ = retrieve_knn([[5.0, 0.0]], keys, 2)

    assert positions.tolist() == [[1, 2]]


def test_a_key_of_zeros_ranks_between_like_and_unlike() -> None:
    positions, cosines = retrieve_knn([[1.0, 0.0]], [[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]], 3)

    assert positions.tolist() == [[2, 1, 0]]
    assert cosines.tolist() == [[1.0, 0.0, -1.0]]


@pytest.mark.parametrize(("n_queries", "n_keys"), [(0, 3), (2, 0), (0, 0)])
def test_knn_of_nothing_is_nothing(n_queries: int, n_keys: int) -> None:
    positions, cosines = retrieve_knn(np.ones((n_queries, 4)), np.ones((n_keys, 4)), 2)

    assert positions.shape == cosines.shape == (n_queries, min(2, n_keys))
