#!/bin/sh
# Package: msgspec 0.22.0
# Behaviour: 1.0 and 1e2 are refused for an int, and 2**70 is taken exactly.
# Guess: J35: 1.0 is taken (0.6); J33: 1e2 is taken (0.5).
# Seen: ValidationError for both.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: msgspec==0.22.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import msgspec

for text in ("1.0", "1e2"):
    try:
        msgspec.json.decode(text, type=int)
    except msgspec.ValidationError:
        continue
    raise AssertionError(text)
assert msgspec.json.decode(str(2**70), type=int) == 2**70
END
