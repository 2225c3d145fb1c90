#!/bin/sh
# Package: lancedb 0.40.0, pyarrow 26.0.1
# Behaviour: A merge whose rows repeat a key is refused if the table has the key, and inserts both if it has not.
# Guess: V54: it raises an error (0.5).
# Seen: ValueError for a known key; two rows of one id for a new one. A delete that matches nothing makes a version (V49, 0.5).
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
    table = lancedb.connect(folder).create_table("t", [{"id": 1, "vector": [0.0, 1.0], "text": "old"}])

    def merge(key):
        rows = [{"id": key, "vector": [1.0, 0.0], "text": text} for text in ("a", "b")]
        table.merge_insert("id").when_matched_update_all().when_not_matched_insert_all().execute(rows)

    try:
        merge(1)
    except ValueError as error:
        assert "Ambiguous" in str(error), error
    else:
        raise AssertionError("a known key was merged twice")
    merge(2)
    assert table.count_rows("id = 2") == 2
    before = table.version
    table.delete("id = 99")
    assert table.version == before + 1
END
