#!/bin/sh
# Package: dateparser 1.5.0, regex 2026.11.19
# Behaviour: 'half an hour ago' is not read, though '1.5 hours' and 'a fortnight' are.
# Guess: T7: 11:30 (0.75).
# Seen: None; 13:30 for 'in 1.5 hours'; two weeks later for 'in a fortnight'.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: dateparser==1.5.0 regex==2026.11.19
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from datetime import datetime
import dateparser

def read(text, *languages, **settings):
    found = dateparser.parse(text, languages=languages, settings={"RELATIVE_BASE": datetime(2026, 3, 18, 12), **settings})
    return found and found.isoformat(" ", "minutes")

got = [read(text, "en") for text in ("half an hour ago", "in 1.5 hours", "in a fortnight")]
assert got == [None, "2026-03-18 13:30", "2026-04-01 12:00"], got
END
