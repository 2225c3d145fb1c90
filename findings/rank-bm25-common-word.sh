#!/bin/sh
# Package: rank-bm25 0.2.2, numpy 2.4.6
# Behaviour: If a word is in all texts of a small corpus, texts that contain the word of a query score below 0.
# Guess: X79: they score above 0, as the package sets a floor for rare weights (0.6).
# Seen: All scores are negative; the floor is a share of the mean, and the mean is negative.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check rank-bm25==0.2.2 numpy==2.4.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from rank_bm25 import BM25Okapi

scores = BM25Okapi([["cat"], ["cat", "ran"], ["cat"]]).get_scores(["cat"])
assert (scores < 0).all(), scores
assert (BM25Okapi([["cat", "sat"], ["dog", "ran"]]).get_scores(["cat"]) == 0).all()
END
