#!/bin/sh
# Package: igraph 1.0.0
# Behaviour: Leiden runs on a directed graph without a word, while multilevel refuses it.
# Guess: G1: Leiden raises an error (0.75); G2: multilevel does (0.7).
# Seen: Leiden returns two communities; multilevel raises ValueError.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: igraph==1.0.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import igraph

graph = igraph.Graph([(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 5), (5, 3)], directed=True)
assert len(graph.community_leiden(objective_function="modularity")) == 2
try:
    graph.community_multilevel()
except ValueError:
    pass
else:
    raise AssertionError("multilevel took a directed graph")
END
