#!/bin/sh
# Package: sqlite-vec 0.1.9, lancedb 0.40.0, pyarrow 26.0.1, apsw 3.54.1.0
# Behaviour: By cosine, a row with a zero vector has distance NULL in sqlite-vec and may be the nearest of all, by the order of insertion; LanceDB never returns it.
# Guess: V39: the distance is NULL (0.5), so that the row comes last; V50: LanceDB returns it with distance 1 (0.4) or with nan.
# Seen: First if it was inserted first, last if it was inserted last; two of three rows for LanceDB.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: sqlite-vec==0.1.9 lancedb==0.40.0 pyarrow==26.0.1 apsw==3.54.1.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import tempfile

import apsw
import lancedb
import sqlite_vec

base = apsw.Connection(":memory:")
base.enable_load_extension(True)
base.load_extension(sqlite_vec.loadable_path())
pack, places = sqlite_vec.serialize_float32, []
for order in ([0, 1, 2], [2, 1, 0]):
    base.execute("create virtual table t using vec0(id integer primary key, e float[2] distance_metric=cosine)")
    for row in order:
        base.execute("insert into t(id, e) values (?, ?)", (row, pack([0, 0] if row == 0 else [1, row / 2])))
    found = base.execute("select id, distance from t where e match ? and k = 3", (pack([1, 0]),)).fetchall()
    places.append([one for one, _ in found])
    assert dict(found)[0] is None, found
    base.execute("drop table t")
assert places == [[0, 1, 2], [1, 2, 0]], places

with tempfile.TemporaryDirectory() as folder:
    rows = [{"id": row, "vector": vector} for row, vector in enumerate(([1.0, 0.0], [0.0, 0.0], [-1.0, 0.1]))]
    table = lancedb.connect(folder).create_table("t", rows)
    found = [one["id"] for one in table.search([1.0, 0.0]).distance_type("cosine").limit(10).to_list()]
    assert found == [0, 2] and table.count_rows() == 3, found
END
