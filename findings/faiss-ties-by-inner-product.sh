#!/bin/sh
# Package: faiss-cpu 1.15.1, numpy 2.4.6
# Behaviour: Equal inner products come with the highest ids first, equal distances with the lowest.
# Guess: V9: the lowest id first (0.75).
# Seen: 4, 3, 2, 1, 0 by inner product, also though 5 to 49 are equal; 0, 1, 2, 3, 4 by distance.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: faiss-cpu==1.15.1 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import faiss
import numpy

same, got = numpy.ones((50, 2), "float32"), []
for index in (faiss.IndexFlatIP(2), faiss.IndexFlatL2(2)):
    index.add(same)
    got.append(index.search(same[:1], 5)[1][0].tolist())
assert got == [[4, 3, 2, 1, 0], [0, 1, 2, 3, 4]], got
END
