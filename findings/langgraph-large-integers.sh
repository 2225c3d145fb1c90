#!/bin/sh
# Package: langgraph-checkpoint 4.3.2
# Behaviour: The serializer of checkpoints refuses integers above 64 bits.
# Guess: F42: they come back exactly (0.4).
# Seen: TypeError for 2**70; 2**64 - 1 is fine.
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
assert serde.loads_typed(serde.dumps_typed(2**64 - 1)) == 2**64 - 1
try:
    serde.dumps_typed(2**70)
except TypeError as error:
    assert "64-bit" in str(error), error
else:
    raise AssertionError("2**70 was written")
END
