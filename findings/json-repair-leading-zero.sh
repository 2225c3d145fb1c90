#!/bin/sh
# Package: json-repair 0.64.6
# Behaviour: A number with a leading zero, such as a postal code without quotes, loses the zero.
# Guess: J4: it stays a text (0.4), or the zero is lost.
# Seen: 123 for 0123, and 5 for +5.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: json-repair==0.64.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from json_repair import loads

got = loads('{"code": 0123, "sum": +5}')
assert got == {"code": 123, "sum": 5}, got
END
