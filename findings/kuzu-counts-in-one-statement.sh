#!/bin/sh
# Package: kuzu 0.11.3
# Behaviour: UNWIND with MERGE that counts ON MATCH gives null for a node or an edge that is new in the statement; in three statements it gives 3.
# Guess: L38: the count is 3 (0.3, after null had been seen of a node).
# Seen: null; a node that was there before counts right.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: kuzu==0.11.3
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import kuzu

graph = kuzu.Connection(kuzu.Database("graph"))

def run(text):
    return graph.execute(text).get_all()

run("CREATE NODE TABLE N (id INT64 PRIMARY KEY, n INT64)")
run("CREATE REL TABLE R (FROM N TO N, n INT64)")
run("CREATE (:N {id: 1, n: 0}), (:N {id: 2})")
count = "ON CREATE SET {0}.n = 1 ON MATCH SET {0}.n = {0}.n + 1"
run("UNWIND [1, 1, 1] AS i MATCH (a:N {id: 1}), (b:N {id: 2}) MERGE (a)-[r:R]->(b) " + count.format("r"))
assert run("MATCH (:N)-[r:R]->(:N) RETURN r.n") == [[None]]
for node, counted in ((1, 3), (3, None)):
    run(f"UNWIND [1, 1, 1] AS i MERGE (a:N {{id: {node}}}) " + count.format("a"))
    assert run(f"MATCH (a:N {{id: {node}}}) RETURN a.n") == [[counted]]
for _ in range(3):
    run("MERGE (a:N {id: 4}) " + count.format("a"))
assert run("MATCH (a:N {id: 4}) RETURN a.n") == [[3]]
END
