#!/bin/sh
# Package: pendulum 3.3.0
# Behaviour: Differences for people are rounded to the nearest unit: 10 days are a week, 11 days two weeks and 350 days a year.
# Guess: T49: 13 days are '1 week before', as whole weeks are counted (0.7).
# Seen: '2 weeks before' from 11 days; '1 year before' at 350 days.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: pendulum==3.3.0
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
import pendulum

now = pendulum.datetime(2026, 3, 18, 12)
said = [now.subtract(days=days).diff_for_humans(now) for days in (10, 11, 13, 340, 350)]
assert said == ["1 week before", "2 weeks before", "2 weeks before", "11 months before", "1 year before"], said
END
