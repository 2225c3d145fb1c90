#!/bin/sh
# Package: faiss-cpu 1.15.1, numpy 2.4.6
# Behaviour: With a hash table as direct map, ids are removed by IDSelectorArray only; IDSelectorBatch is refused.
# Guess: V13: IDSelectorBatch works (0.6).
# Seen: RuntimeError; the array removes both.
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
index = faiss.IndexIVFFlat(faiss.IndexFlatL2(8), 8, 4)
index.train(vectors)
index.set_direct_map_type(faiss.DirectMap.Hashtable)
index.add_with_ids(vectors, numpy.arange(1000))
try:
    index.remove_ids(faiss.IDSelectorBatch([1, 2]))
except RuntimeError as error:
    assert "IDSelectorArray" in str(error), error
else:
    raise AssertionError("the batch selector worked")
assert index.remove_ids(faiss.IDSelectorArray([1, 2])) == 2
END
