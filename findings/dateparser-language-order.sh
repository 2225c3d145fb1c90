#!/bin/sh
# Package: dateparser 1.5.0, regex 2026.11.19
# Behaviour: The order of `languages` does not decide between day and month: English wins over German in either order.
# Guess: T21: for en, de, the first language makes it 11 December (0.65).
# Seen: 11 December for en, de and for de, en; 12 November for German alone.
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

got = [read("12/11/2025", "de", "en"), read("12/11/2025", "en", "de"), read("12/11/2025", "de")]
assert got == ["2025-12-11", "2025-12-11", "2025-11-12"], got
END
