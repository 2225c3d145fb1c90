#!/bin/sh
# Package: sqlite-vec 0.1.9, apsw 3.54.1.0
# Behaviour: By cosine, a zero vector has distance NULL, and may be the nearest of all: its place depends on the order of insertion.
# Guess: V39: the distance is NULL (0.5), so that the row comes last.
# Seen: First if it was inserted first, last if it was inserted last.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: sqlite-vec==0.1.9 apsw==3.54.1.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import apsw
import sqlite_vec

base = apsw.Connection(":memory:")
base.enable_load_extension(True)
base.load_extension(sqlite_vec.loadable_path())

def run(statement, *values):
    return base.execute(statement, values).fetchall()

pack = sqlite_vec.serialize_float32

places = []
for order in ([0, 1, 2], [2, 1, 0]):
    run("create virtual table t using vec0(id integer primary key, e float[2] distance_metric=cosine)")
    for row in order:
        run("insert into t(id, e) values (?, ?)", row, pack([0, 0] if row == 0 else [1, row / 2]))
    found = run("select id, distance from t where e match ? and k = 3", pack([1, 0]))
    places.append([one for one, _ in found])
    assert dict(found)[0] is None, found
    run("drop table t")
assert places == [[0, 1, 2], [1, 2, 0]], places
END
