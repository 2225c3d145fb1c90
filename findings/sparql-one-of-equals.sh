#!/bin/sh
# Package: rdflib 7.6.0, pyoxigraph 0.5.13
# Behaviour: `?n = 1` meets 1.0 and `?n IN (1, 3)` does not, so that NOT IN returns it, too; in pyoxigraph, IN means the same as =.
# Guess: `IN` is short for `=` and `||`, as the specification has it; seen beside KG19 (0.8).
# Seen: 1 and 1.0 for =; 1 for IN; 1.0 and 2 for NOT IN. pyoxigraph: both, both, and 2.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: rdflib==7.6.0 pyoxigraph==0.5.13
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import pyoxigraph
import rdflib

def found(base, condition):
    return [float(row[0].value) for row in base.query(f"SELECT ?n {{ VALUES ?n {{ 1 1.0 2 }} FILTER({condition}) }}")]

conditions = ("?n = 1 || ?n = 3", "?n IN (1, 3)", "?n NOT IN (1, 3)")
got = [found(rdflib.Graph(), condition) for condition in conditions]
assert got == [[1.0, 1.0], [1.0], [1.0, 2.0]], got
got = [found(pyoxigraph.Store(), condition) for condition in conditions]
assert got == [[1.0, 1.0], [1.0, 1.0], [2.0]], got
END
