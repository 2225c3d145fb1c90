#!/bin/sh
# Package: parsedatetime 2.6
# Behaviour: 'in half an hour' and 'a quarter of an hour ago' move by a whole hour.
# Guess: T36: 12:30 (0.7).
# Seen: 13:00, and 11:00 for the quarter.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: parsedatetime==2.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from datetime import datetime
import parsedatetime

def read(text):
    return parsedatetime.Calendar().parseDT(text, sourceTime=datetime(2026, 3, 18, 12))[0].isoformat(" ", "minutes")

got = [read("in half an hour"), read("a quarter of an hour ago")]
assert got == ["2026-03-18 13:00", "2026-03-18 11:00"], got
END
