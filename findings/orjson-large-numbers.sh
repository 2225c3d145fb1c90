#!/bin/sh
# Package: orjson 3.13.0
# Behaviour: An integer above 64 bits becomes an inexact float without a word, and 1e400 is refused.
# Guess: J29: a float (0.6); J31: 1e400 is refused (0.5).
# Seen: A float for 2**70 + 1; JSONDecodeError. The standard library reads both.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: orjson==3.13.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import json
import orjson

big = 2**70 + 1
assert json.loads(str(big)) == big
assert isinstance(orjson.loads(str(big)), float) and orjson.loads(str(big)) == 2**70
assert json.loads("1e400") == float("inf")
try:
    orjson.loads("1e400")
except orjson.JSONDecodeError:
    pass
else:
    raise AssertionError("1e400 was read")
END
