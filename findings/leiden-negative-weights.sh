#!/bin/sh
# Package: igraph 1.0.0, leidenalg 0.12.0
# Behaviour: Of two Leiden packages on one graph, leidenalg refuses a negative weight and igraph joins the two ends of that edge.
# Guess: G20: leidenalg refuses it (0.5).
# Seen: leidenalg raises an error; igraph returns one community of all three.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: igraph==1.0.0 leidenalg==0.12.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import igraph
import leidenalg

graph = igraph.Graph([(0, 1), (1, 2)])
graph.es["weight"] = [2.0, -1.0]
found = graph.community_leiden(objective_function="modularity", weights="weight").membership
assert found == [0, 0, 0], found
try:
    leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, weights="weight")
except BaseException as error:
    assert "negative weights" in str(error), error
else:
    raise AssertionError("leidenalg took a negative weight")
END
