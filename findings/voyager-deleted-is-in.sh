#!/bin/sh
# Package: voyager 2.2.3, numpy 2.4.6
# Behaviour: A deleted id is still `in` the index and counted by `len`, though its vector cannot be read.
# Guess: V35: `len` leaves deleted vectors out (0.4).
# Seen: 2, True, and an error for `get_vector`.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: voyager==2.2.3 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import numpy
import voyager

index = voyager.Index(voyager.Space.Cosine, num_dimensions=2)
index.add_items(numpy.eye(2, dtype="float32"))
index.mark_deleted(1)
assert len(index) == 2 and 1 in index
try:
    index.get_vector(1)
except RuntimeError as error:
    assert "not found" in str(error), error
else:
    raise AssertionError("the deleted vector was read")
END
