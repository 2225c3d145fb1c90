#!/bin/sh
# Package: pyturso 0.8.3
# Behaviour: A query that fails as it computes, by an overflow or text that is no JSON, rolls back the open transaction with earlier inserts; SQLite ends only the statement.
# Guess: L37: earlier rows of the open transaction stay (0.5); after refused inserts they do (L35, L36).
# Seen: The row is gone and a commit stores nothing.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: pyturso==0.8.3
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import sqlite3
import turso

def kept(library, place, text):
    database = library.connect(place)
    database.execute("CREATE TABLE t (a UNIQUE)")
    database.commit()
    database.execute("INSERT INTO t VALUES ('x')")
    try:
        database.execute(text).fetchall()
    except (sqlite3.Error, turso.Error):
        pass
    else:
        raise AssertionError("no error")
    database.commit()
    return len(database.execute("SELECT * FROM t").fetchall())

failing = ("SELECT abs(-9223372036854775808)", "SELECT json_extract('{', '$.a')", "INSERT INTO t VALUES ('x')")
assert [kept(sqlite3, f"one{place}.db", text) for place, text in enumerate(failing)] == [1, 1, 1]
assert [kept(turso, f"two{place}.db", text) for place, text in enumerate(failing)] == [0, 0, 1]
END
