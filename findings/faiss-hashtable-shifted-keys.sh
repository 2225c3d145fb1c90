#!/bin/sh
# Package: faiss-cpu 1.15.1, numpy 2.4.6
# Behaviour: An inverted file with a hash table as direct map, filled by `add`, knows its vectors by ids that are too large by the size of the batch.
# Guess: vectors are removed by the ids that a search returns; seen beside V13.
# Seen: A search returns 1; removing 1 removes nothing; reading 1001 returns the vector. With `add_with_ids`, all agree.
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
one = faiss.IDSelectorArray(numpy.array([1]))
removed = []
for own_ids in (False, True):
    index = faiss.IndexIVFFlat(faiss.IndexFlatL2(8), 8, 4)
    index.train(vectors)
    index.set_direct_map_type(faiss.DirectMap.Hashtable)
    index.add_with_ids(vectors, numpy.arange(1000)) if own_ids else index.add(vectors)
    index.nprobe = 4
    assert index.search(vectors[1:2], 1)[1].tolist() == [[1]]
    assert (index.reconstruct(1 if own_ids else 1001) == vectors[1]).all()
    removed.append(index.remove_ids(one))
assert removed == [0, 1], removed
END
