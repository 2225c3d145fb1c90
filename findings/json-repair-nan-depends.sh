#!/bin/sh
# Package: json-repair 0.64.6
# Behaviour: NaN is a number in a sound text and the text 'NaN' where anything else was mended.
# Guess: J5: a text (0.6).
# Seen: nan, and 'NaN' beside a comma too many.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: json-repair==0.64.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from json_repair import loads

sound, mended = loads('{"a": NaN}')["a"], loads('{"a": NaN,}')["a"]
assert isinstance(sound, float) and sound != sound and mended == "NaN", (sound, mended)
END
