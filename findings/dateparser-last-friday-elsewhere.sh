#!/bin/sh
# Package: dateparser 1.5.0, regex 2026.11.19
# Behaviour: 'last Friday' is read in English, and its equals in German, Spanish, French, Russian and Chinese are not.
# Guess: the equals are read like the English words; seen beside T4 and T12.
# Seen: None for all five.
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

others = [("letzten Freitag", "de"), ("el viernes pasado", "es"), ("vendredi dernier", "fr"), ("в прошлую пятницу", "ru"), ("上周五", "zh")]
got = [read(text, language) for text, language in others]
assert read("last Friday", "en") == "2026-03-13"
assert got == [None] * 5, got
END
