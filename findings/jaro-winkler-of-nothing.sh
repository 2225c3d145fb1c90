#!/bin/sh
# Package: jellyfish 1.3.0, rapidfuzz 3.14.6
# Behaviour: Two empty texts are fully alike for rapidfuzz and not at all for jellyfish.
# Guess: J62: 1 for jellyfish (0.5).
# Seen: 0.0 and 1.0; they agree on other texts.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: jellyfish==1.3.0 rapidfuzz==3.14.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import jellyfish
from rapidfuzz.distance import JaroWinkler

pairs = [("", ""), ("abcxxx", "abcyyy"), ("martha", "marhta")]
here = [round(jellyfish.jaro_winkler_similarity(*pair), 6) for pair in pairs]
there = [round(JaroWinkler.similarity(*pair), 6) for pair in pairs]
assert (here[0], there[0]) == (0.0, 1.0) and here[1:] == there[1:], (here, there)
END
