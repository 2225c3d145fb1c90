#!/bin/sh
# Package: json-repair 0.64.6
# Behaviour: A value without quotes keeps its words after a comma if it is the last, and loses them if a key follows.
# Guess: J20: the words after the comma are lost (0.7).
# Seen: 'Paris, France' at the end; 'Paris' before another key.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: json-repair==0.64.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from json_repair import loads

got = loads('{"city": Paris, France}'), loads('{"city": Paris, France, "b": 2}')
assert got == ({"city": "Paris, France"}, {"city": "Paris", "b": 2}), got
END
