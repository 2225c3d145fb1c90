#!/bin/sh
# Package: syntok 1.4.4
# Behaviour: No sentence ends after 'p.m.', also before a capital.
# Guess: X33: two sentences (0.7).
# Seen: One sentence: 'We met at 5 p.m. She left.'
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: syntok==1.4.4
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from syntok.segmenter import process

def count(text):
    return sum(1 for paragraph in process(text) for _ in paragraph)

assert (count("We met at 5 p.m. She left."), count("We met at noon. She left.")) == (1, 2)
END
