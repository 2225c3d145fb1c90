#!/bin/sh
# Package: python-dateutil 4.0.0, dateparser 1.5.0
# Behaviour: parse reads 'GMT+0300', as JavaScript writes it after a time, and 'UTC+3' as three hours west, while gettz of the same package and dateparser read three hours east; of 'UTC +3' it reads UTC.
# Guess: DU13: 'UTC+3' is three hours east (0.6).
# Seen: -03:00 behind a time, +3 hours from gettz; the text is six hours off.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: python-dateutil==4.0.0 dateparser==1.5.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from datetime import datetime, timedelta
import dateparser
from dateutil import tz
from dateutil.parser import parse

for text in ("Wed Mar 18 2026 12:00:00 GMT+0300", "2026-03-18 12:00 UTC+3"):
    assert parse(text).utcoffset() == timedelta(hours=-3), parse(text)
    assert dateparser.parse(text).utcoffset() == timedelta(hours=3)
assert tz.gettz("UTC+3").utcoffset(datetime(2026, 3, 18)) == timedelta(hours=3)
assert parse("2026-03-18 12:00 UTC +3").utcoffset() == timedelta(0)
assert parse("2026-03-18 12:00 +3").utcoffset() == timedelta(hours=3)
END
