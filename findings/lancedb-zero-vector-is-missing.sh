#!/bin/sh
# Package: lancedb 0.40.0, pyarrow 26.0.1
# Behaviour: By cosine, a row with a zero vector is never returned, also if the limit is larger than the table.
# Guess: V50: it is returned with distance 1 (0.4) or with nan.
# Seen: Two of three rows.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: lancedb==0.40.0 pyarrow==26.0.1
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import tempfile
import lancedb

with tempfile.TemporaryDirectory() as folder:
    rows = [{"id": row, "vector": vector} for row, vector in enumerate(([1.0, 0.0], [0.0, 0.0], [-1.0, 0.1]))]
    table = lancedb.connect(folder).create_table("t", rows)
    search = table.search([1.0, 0.0])
    found = [one["id"] for one in search.distance_type("cosine").limit(10).to_list()]
    assert found == [0, 2], found
    assert table.count_rows() == 3
END
