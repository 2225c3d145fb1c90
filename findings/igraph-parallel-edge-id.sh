#!/bin/sh
# Package: igraph 1.0.0
# Behaviour: The id of an edge between two vertices that several edges join is that of the last, so its weight is read, and not their sum.
# Guess: G7: the first of them (0.8).
# Seen: 2, the last of three edges.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: igraph==1.0.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import igraph

graph = igraph.Graph([(0, 1), (0, 1), (0, 1)])
graph.es["weight"] = [1.0, 2.0, 4.0]
assert graph.get_eid(0, 1) == 2
assert graph.es[graph.get_eid(0, 1)]["weight"] == 4.0
END
