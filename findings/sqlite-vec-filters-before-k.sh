#!/bin/sh
# Package: sqlite-vec 0.1.9, apsw 3.54.1.0
# Behaviour: A bound on the distance and a plain comparison of a metadata column filter before the k nearest are taken, the same condition in a function after.
# Guess: V38: a metadata condition is applied before (0.85); V45: the bound is applied before (0.5).
# Seen: Rows by `u = 'b'`, none by `lower(u) = 'b'`; the three rows after the bound, not the rest of the first three.
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
pack = sqlite_vec.serialize_float32
base.execute("create virtual table t using vec0(id integer primary key, e float[2], u text)")
for row in range(10):
    base.execute("insert into t(id, e, u) values (?, ?, ?)", (row, pack([row, 0]), "a" if row < 5 else "b"))

def found(condition):
    query = f"select id from t where e match ? and k = 3 and {condition}"
    return [one for (one,) in base.execute(query, (pack([0, 0]),))]

got = [found(condition) for condition in ("u = 'b'", "lower(u) = 'b'", "distance > 2.5")]
assert got == [[5, 6, 7], [], [3, 4, 5]], got
END
