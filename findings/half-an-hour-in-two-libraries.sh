#!/bin/sh
# Package: parsedatetime 2.6, dateparser 1.5.0, regex 2026.11.19
# Behaviour: Half an hour is a whole hour for one library and not read by another, which reads '1.5 hours'.
# Guess: T36: 'in half an hour' is 12:30 for parsedatetime (0.7); T7: 'half an hour ago' is 11:30 for dateparser (0.75).
# Seen: 13:00, and 11:00 for a quarter of an hour ago; None.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: parsedatetime==2.6 dateparser==1.5.0 regex==2026.11.19
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from datetime import datetime
import dateparser
import parsedatetime

now = datetime(2026, 3, 18, 12)

def one(text):
    return parsedatetime.Calendar().parseDT(text, sourceTime=now)[0].strftime("%H:%M")

def other(text):
    found = dateparser.parse(text, languages=["en"], settings={"RELATIVE_BASE": now})
    return found and found.strftime("%H:%M")

assert [one("in half an hour"), one("a quarter of an hour ago")] == ["13:00", "11:00"]
assert [other("half an hour ago"), other("in half an hour"), other("in 1.5 hours")] == [None, None, "13:30"]
END
