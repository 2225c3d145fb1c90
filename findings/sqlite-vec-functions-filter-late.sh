#!/bin/sh
# Package: sqlite-vec 0.1.9, apsw 3.54.1.0
# Behaviour: A plain comparison of a metadata column filters before the k nearest are taken, the same condition in a function after.
# Guess: V38: a metadata condition is applied before (0.85).
# Seen: Two rows by `u = 'b'`, none by `lower(u) = 'b'`.
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

run("create virtual table t using vec0(id integer primary key, e float[2], u text)")
for row in range(10):
    run("insert into t(id, e, u) values (?, ?, ?)", row, pack([row, 0]), "a" if row < 5 else "b")
plain = run("select id from t where e match ? and k = 2 and u = 'b'", pack([0, 0]))
wrapped = run("select id from t where e match ? and k = 2 and lower(u) = 'b'", pack([0, 0]))
assert (plain, wrapped) == ([(5,), (6,)], []), (plain, wrapped)
END
