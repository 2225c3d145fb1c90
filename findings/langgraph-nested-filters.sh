#!/bin/sh
# Package: langgraph-checkpoint 4.3.2, langgraph-checkpoint-sqlite 3.1.2
# Behaviour: A filter with a nested object matches items with further keys in memory, and is an error in SQLite.
# Guess: F28: SQLite matches the equal object (0.5).
# Seen: Both items in memory; ValueError in SQLite, where 'd.b' is a path.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: langgraph-checkpoint==4.3.2 langgraph-checkpoint-sqlite==3.1.2
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

with SqliteStore.from_conn_string(":memory:") as file:
    file.setup()
    memory = InMemoryStore()
    for store in (memory, file):
        store.put(("a",), "equal", {"d": {"b": 1}})
        store.put(("a",), "more", {"d": {"b": 1, "c": 2}})
    assert {item.key for item in memory.search(("a",), filter={"d": {"b": 1}})} == {"equal", "more"}
    assert len(file.search(("a",), filter={"d.b": 1})) == 2 and memory.search(("a",), filter={"d.b": 1}) == []
    try:
        file.search(("a",), filter={"d": {"b": 1}})
    except ValueError as error:
        assert "operator" in str(error), error
    else:
        raise AssertionError("SQLite took a nested object")
END
