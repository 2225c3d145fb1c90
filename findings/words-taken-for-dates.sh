#!/bin/sh
# Package: parsedatetime 2.6, dateparser 1.5.0, regex 2026.11.19
# Behaviour: The search for dates in a sentence takes the verbs 'may' and 'sat' and the noun 'sun' for a month and days.
# Guess: T16: only 'in March' is found (0.6); T41: no time is found in 'he sat on the sun deck' (0.7).
# Seen: 'We may' is a day of May for dateparser; 'sat' and 'sun' are Saturday and Sunday for parsedatetime.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: parsedatetime==2.6 dateparser==1.5.0 regex==2026.11.19
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from datetime import datetime
import parsedatetime
from dateparser.search import search_dates

now = datetime(2026, 3, 18, 12)
found = search_dates("We may meet in March", languages=["en"], settings={"RELATIVE_BASE": now})
assert [(text, day.month) for text, day in found] == [("We may", 5), ("in March", 3)], found
found = parsedatetime.Calendar().nlp("he sat on the sun deck", sourceTime=now)
got = [(one[4], one[0].strftime("%A")) for one in found]
assert got == [("sat", "Saturday"), ("sun", "Sunday")], got
END
