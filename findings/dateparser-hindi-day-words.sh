#!/bin/sh
# Package: dateparser 1.5.0, regex 2026.11.19
# Behaviour: Of two Hindi words that mean a day on either side of today, one is read as the future and one as the past.
# Guess: T23: yesterday, as a text usually looks back (0.6).
# Seen: The word for yesterday or tomorrow is tomorrow; the word for two days away is the day before yesterday.
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
    return found and found.date().isoformat()

got = [read(word, "hi") for word in ("कल", "परसों")]
assert got == ["2026-03-19", "2026-03-16"], got
END
