#!/bin/sh
# Package: langgraph-checkpoint 4.3.2, langgraph-checkpoint-sqlite 3.1.2
# Behaviour: An update resets `created_at` of an item, in the store in memory and in the one in SQLite.
# Guess: F36: it is kept and `updated_at` changes (0.9).
# Seen: `created_at` is the time of the update in both.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: langgraph-checkpoint==4.3.2 langgraph-checkpoint-sqlite==3.1.2
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import time
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

with SqliteStore.from_conn_string(":memory:") as file:
    file.setup()
    for store in (InMemoryStore(), file):
        store.put(("a",), "k", {"v": 1})
        first = store.get(("a",), "k").created_at
        time.sleep(1.2)
        store.put(("a",), "k", {"v": 2})
        assert store.get(("a",), "k").created_at > first, type(store)
END
