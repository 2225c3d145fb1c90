#!/bin/sh
# Package: dateparser 1.5.0, regex 2026.11.19
# Behaviour: The day before yesterday is known in eight languages, and not in Italian, Korean and Arabic, where yesterday is.
# Guess: T20: Italian knows it (0.8); T22: Korean knows it (0.6).
# Seen: None for the three; 16 March for the eight.
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

known = [("the day before yesterday", "en"), ("vorgestern", "de"), ("avant-hier", "fr"), ("anteayer", "es"), ("anteontem", "pt"), ("позавчера", "ru"), ("前天", "zh"), ("przedwczoraj", "pl")]
unknown = [("l'altro ieri", "it"), ("그저께", "ko"), ("أول أمس", "ar")]
assert {read(*one) for one in known} == {"2026-03-16"}
assert [read(*one) for one in unknown] == [None] * 3
assert [read("ieri", "it"), read("어제", "ko"), read("أمس", "ar")] == ["2026-03-17"] * 3
END
