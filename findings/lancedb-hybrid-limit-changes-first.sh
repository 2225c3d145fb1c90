#!/bin/sh
# Package: lancedb 0.40.0, pyarrow 26.0.1
# Behaviour: A hybrid search with limit 1 returns another row than the first of limit 10, as both searches are cut at the limit before their ranks are joined.
# Guess: L53: with limit 1, two rows of one list each have equal scores, and the first of limit 10 is among them (0.6).
# Seen: Row 0 with limit 1; row 1 is the first of limit 10.
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
from lancedb.index import FTS

with tempfile.TemporaryDirectory() as folder:
    rows = [{"id": 0, "text": "bus", "vector": [1.0, 0.0]}, {"id": 1, "text": "plums", "vector": [1.0, 0.1]}]
    table = lancedb.connect(folder).create_table("t", rows)
    table.create_index("text", config=FTS())
    first = {}
    for limit in (1, 10):
        search = table.search(query_type="hybrid").vector([1.0, 0.0]).text("plums")
        first[limit] = search.limit(limit).to_list()[0]["id"]
    assert first == {1: 0, 10: 1}, first
END
