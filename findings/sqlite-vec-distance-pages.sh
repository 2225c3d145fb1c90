#!/bin/sh
# Package: sqlite-vec 0.1.9, apsw 3.54.1.0
# Behaviour: A bound on the distance is applied before the k nearest are taken, so it turns pages.
# Guess: V45: the bound is applied before the k nearest (0.5), seen beside guesses that it is not.
# Seen: The three after the bound, not the rest of the first three.
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

run("create virtual table t using vec0(id integer primary key, e float[2])")
for row in range(10):
    run("insert into t(id, e) values (?, ?)", row, pack([row, 0]))
found = run("select id from t where e match ? and k = 3 and distance > 2.5", pack([0, 0]))
assert [one for (one,) in found] == [3, 4, 5], found
END
