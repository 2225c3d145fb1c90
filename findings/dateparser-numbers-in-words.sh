#!/bin/sh
# Package: dateparser 1.5.0, regex 2026.11.19
# Behaviour: Numbers in words are read in English, German and Russian, and not in Spanish, Italian, Portuguese or Chinese.
# Guess: T9: 'hace dos semanas' is two weeks ago (0.95).
# Seen: None for the four; digits in their place are read.
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

known = [read("two weeks ago", "en"), read("vor zwei Wochen", "de"), read("два дня назад", "ru")]
unknown = [read("hace dos semanas", "es"), read("due giorni fa", "it"), read("há dois dias", "pt"), read("两天前", "zh")]
digits = [read("hace 2 semanas", "es"), read("2天前", "zh")]
assert known == ["2026-03-04", "2026-03-04", "2026-03-16"], known
assert unknown == [None] * 4, unknown
assert digits == ["2026-03-04", "2026-03-16"], digits
END
