#!/bin/sh
# Package: parsedatetime 2.6
# Behaviour: The verb 'sat' and the noun 'sun' are days of the week.
# Guess: T41: no time is found in the sentence (0.7).
# Seen: Two times: Saturday and Sunday.
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

found = parsedatetime.Calendar().nlp("he sat on the sun deck", sourceTime=datetime(2026, 3, 18, 12))
got = [(one[4], one[0].strftime("%A")) for one in found]
assert got == [("sat", "Saturday"), ("sun", "Sunday")], got
END
