#!/bin/sh
# Package: parsedatetime 2.6
# Behaviour: 'a week from tuesday' is the next Tuesday: the week is ignored.
# Guess: T40: 31 March (0.5).
# Seen: 24 March, as for 'tuesday'.
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

got = [read("a week from tuesday")[:10], read("tuesday")[:10]]
assert got == ["2026-03-24", "2026-03-24"], got
END
