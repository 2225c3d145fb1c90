#!/bin/sh
# Package: dateparser 1.5.0, regex 2026.11.19
# Behaviour: The search in a sentence takes the verb 'may' after a pronoun for the month.
# Guess: T16: only 'in March' is found (0.6).
# Seen: 'We may' is found too, as a day of May.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: dateparser==1.5.0 regex==2026.11.19
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from datetime import datetime
from dateparser.search import search_dates

found = search_dates("We may meet in March", languages=["en"], settings={"RELATIVE_BASE": datetime(2026, 3, 18, 12)})
assert [(text, day.month) for text, day in found] == [("We may", 5), ("in March", 3)], found
END
