#!/bin/sh
# Package: json-repair 0.64.6
# Behaviour: A clock time without quotes loses its minutes, while a date without quotes is kept as text.
# Guess: J8: the text '12:30' (0.5); J9: the text of the date (0.6).
# Seen: 12 and '2026-03-18'.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: json-repair==0.64.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from json_repair import loads

got = loads('{"at": 12:30, "on": 2026-03-18}'), loads('{"at": 10:30 pm}')
assert got == ({"at": 12, "on": "2026-03-18"}, {"at": 10}), got
END
