#!/bin/sh
# Package: faiss-cpu 1.15.1, numpy 2.4.6
# Behaviour: An inverted file by inner product trains unit centroids without being asked; one by distance does not.
# Guess: V16: it must be asked for (0.6).
# Seen: `cp.spherical` is true and all centroids have length 1.
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

vectors = numpy.random.default_rng(0).normal(size=(1000, 8)).astype("float32")
spherical, lengths = [], []
for quantizer, metric in ((faiss.IndexFlatIP(8), faiss.METRIC_INNER_PRODUCT), (faiss.IndexFlatL2(8), faiss.METRIC_L2)):
    index = faiss.IndexIVFFlat(quantizer, 8, 16, metric)
    index.train(vectors)
    spherical.append(index.cp.spherical)
    lengths.append(numpy.linalg.norm(quantizer.reconstruct_n(0, 16), axis=1))
assert spherical == [True, False], spherical
assert numpy.allclose(lengths[0], 1, atol=1e-3) and not numpy.allclose(lengths[1], 1, atol=1e-1)
END
