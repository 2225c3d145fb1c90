#!/bin/sh
# Package: json-repair 0.64.6
# Behaviour: Of several objects in one answer, only the last is kept if their keys are equal; otherwise all are.
# Guess: J3: all objects are returned as a list (0.6).
# Seen: {'a': 2} for two of equal keys; a list of two for different keys.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: json-repair==0.64.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from json_repair import loads

equal, different = loads('{"a": 1} {"a": 2}'), loads('{"a": 1} {"b": 2}')
assert (equal, different) == ({"a": 2}, [{"a": 1}, {"b": 2}]), (equal, different)
END
