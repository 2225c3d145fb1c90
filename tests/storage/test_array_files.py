"""Arrays in files: a read returns the written array, or a write raises an error."""

from pathlib import Path

import hypothesis.extra.numpy as some_numpy
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from numpy.typing import NDArray

from neurogated.storage.files import load_array, load_bytes, save_array

DISK = 2**20
FULL = r"space left|too large"
KINDS = st.sampled_from(["int8", "int32", "int64", "float32", "float64", "bool", "uint16"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(some_numpy.arrays(KINDS, some_numpy.array_shapes(max_dims=2, min_side=0)), st.booleans())
def test_a_stored_array_is_unchanged(tmp_path: Path, values: NDArray[np.generic], turned: bool) -> None:  # noqa: FBT001 - drawn
    path, written = tmp_path / "some.npy", values.T if turned else values
    save_array(path, written)
    found = load_array(path)
    assert found.dtype == written.dtype
    assert not found.flags.writeable
    np.testing.assert_array_equal(found, written)
    np.testing.assert_array_equal(np.load(path), written)
    assert load_bytes(path).tobytes() == path.read_bytes()


def test_an_array_that_the_disk_has_no_room_for_is_an_error(small_disk: Path) -> None:
    with pytest.raises(OSError, match=FULL):
        save_array(small_disk / "some.npy", np.zeros(DISK, dtype=np.uint8))
