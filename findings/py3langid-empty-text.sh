#!/bin/sh
# Package: py3langid 0.4.0
# Behaviour: An empty text is Afrikaans, the first of its labels, as its scores are all equal; digits have a label of their own.
# Guess: X37: 'en' (0.8).
# Seen: 'af' for '', and 'zxx' for '12345'.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: py3langid==0.4.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import py3langid

got = [py3langid.classify(text)[0] for text in ("", "12345")]
assert got == ["af", "zxx"], got
END
