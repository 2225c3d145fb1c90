#!/bin/sh
# Package: arrow 1.4.0
# Behaviour: 14 days are '2 weeks ago', 15 days are 'a month ago', and reading that phrase back gives 28 days.
# Guess: T43: 45 days are 'a month ago' (0.6); weeks go on to the month.
# Seen: 45 days are '2 months ago'; 15 days 'a month ago'.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: arrow==1.4.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import arrow

now = arrow.get("2026-03-18T12:00")
said = [now.shift(days=-days).humanize(now) for days in (14, 15, 45)]
assert said == ["2 weeks ago", "a month ago", "2 months ago"], said
assert (now - now.dehumanize(said[1])).days == 28
END
