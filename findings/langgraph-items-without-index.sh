#!/bin/sh
# Package: langgraph-checkpoint 4.3.2
# Behaviour: A search by a query also returns items that were put with index=False, after the others and without a score.
# Guess: F37: they are left out (0.5).
# Seen: The item follows with score None.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: langgraph-checkpoint==4.3.2
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from langgraph.store.memory import InMemoryStore

store = InMemoryStore(index={"dims": 2, "embed": lambda texts: [[1.0, float(len(text))] for text in texts]})
store.put(("a",), "with", {"t": "hello"})
store.put(("a",), "without", {"t": "hello"}, index=False)
found = [(item.key, item.score is None) for item in store.search(("a",), query="hello")]
assert found == [("with", False), ("without", True)], found
END
