#!/bin/sh
# Package: langgraph-checkpoint 4.3.2
# Behaviour: The serializer of checkpoints returns tuples as lists at any depth, and keeps sets and tuples that are keys.
# Guess: F39: tuples come back as tuples (0.6).
# Seen: Lists.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: langgraph-checkpoint==4.3.2
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

serde = JsonPlusSerializer()
got = [serde.loads_typed(serde.dumps_typed(value)) for value in ((1, 2), {"a": (1,)}, {1, 2}, {(1, 2): 3})]
assert got == [[1, 2], {"a": [1]}, {1, 2}, {(1, 2): 3}], got
END
