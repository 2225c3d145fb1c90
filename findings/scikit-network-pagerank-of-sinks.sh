#!/bin/sh
# Package: scikit-network 0.33.5, networkx 3.6.1
# Behaviour: The default solver of PageRank gives too much to nodes without out-edges: from one seed, the end of a chain scores highest and the seed lowest, where networkx and its own solver 'diteration' say the reverse; 'push' passes over the seeds.
# Guess: SN3: a walk jumps from a sink to the seeds (0.7).
# Seen: 0.24, 0.32 and 0.44 from the seed on, for 0.39, 0.33 and 0.28; without sinks they agree.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: scikit-network==0.33.5 networkx==3.6.1
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import networkx as nx
from scipy.sparse import csr_matrix
from sknetwork.ranking import PageRank

def both(edges, seed, **options):
    graph = nx.DiGraph(edges)
    weights = csr_matrix(nx.to_numpy_array(graph, nodelist=sorted(graph)))
    theirs = nx.pagerank(graph, personalization={seed: 1})
    scores = PageRank(n_iter=100, **options).fit_predict(weights, weights={seed: 1}).tolist()
    return [round(theirs[node], 2) for node in sorted(graph)], [round(score, 2) for score in scores]

chains = [(0, 1), (1, 2), (3, 4)]
expected, default = both(chains, 0)
assert expected == [0.39, 0.33, 0.28, 0.0, 0.0], expected
assert default == [0.24, 0.32, 0.44, 0.0, 0.0], default
assert both(chains, 0, solver="diteration")[1] == [0.39, 0.33, 0.28, 0.0, 0.0]
assert both(chains, 0, solver="push")[1][3] > 0.1
ring = [(0, 1), (1, 2), (2, 0), (2, 1)]
assert both(ring, 0)[0] == both(ring, 0)[1], both(ring, 0)
END
