#!/bin/sh
# Package: json-repair 0.64.6
# Behaviour: A number with a unit loses the unit, and one with a leading zero, such as a postal code, the zero; a fraction or a range is kept as text.
# Guess: J18: the text '50%' (0.6); J19: the text '1/2' (0.6); J4: 0123 stays a text (0.4).
# Seen: 50 and 5 for '50%' and '5 kg', 123 for 0123; '1/2' and '1-2'.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: json-repair==0.64.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from json_repair import loads

got = [loads('{"a": %s, "b": 1}' % value)["a"] for value in ("50%", "5 kg", "0123", "1/2", "1-2")]
assert got == [50, 5, 123, "1/2", "1-2"], got
END
