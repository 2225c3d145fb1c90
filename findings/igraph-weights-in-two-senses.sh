#!/bin/sh
# Package: igraph 1.0.0
# Behaviour: Weights are lengths in betweenness and strengths in edge-betweenness communities.
# Guess: G10: heavy edges are cut first, as weights are lengths (0.6).
# Seen: A heavy edge is avoided by shortest paths and kept by the communities.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: igraph==1.0.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import igraph

ring = igraph.Graph([(0, 1), (1, 2), (2, 3), (3, 0)])
ring.es["weight"] = [10.0, 1.0, 10.0, 1.0]
parts = ring.community_edge_betweenness(weights="weight", directed=False).as_clustering(2)
assert [*parts] == [[0, 1], [2, 3]], [*parts]
triangle = igraph.Graph([(0, 1), (1, 2), (0, 2)])
triangle.es["weight"] = [1.0, 1.0, 10.0]
assert triangle.betweenness(weights="weight") == [0.0, 1.0, 0.0]
END
