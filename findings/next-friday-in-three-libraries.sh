#!/bin/sh
# Package: parsedatetime 2.6, dateparser 1.5.0, timefhuman 0.1.5
# Behaviour: Said on a Wednesday, 'next Friday' is in nine days for one library and in two days for two others.
# Guess: T5, T35, T53: 20 March, 27 March, 27 March (0.6, 0.45, 0.4).
# Seen: 20 March (dateparser), 27 March (parsedatetime), 20 March (timefhuman).
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: parsedatetime==2.6 dateparser==1.5.0 timefhuman==0.1.5
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from datetime import datetime
import parsedatetime

def read(text):
    return parsedatetime.Calendar().parseDT(text, sourceTime=datetime(2026, 3, 18, 12))[0].isoformat(" ", "minutes")

import dateparser
from timefhuman import tfhConfig, timefhuman

now = datetime(2026, 3, 18, 12)
other = dateparser.parse("next Friday", languages=["en"], settings={"RELATIVE_BASE": now})
(third,) = timefhuman("next Friday", config=tfhConfig(now=now))
got = [str(other.date()), read("next friday")[:10], str(third.date())]
assert got == ["2026-03-20", "2026-03-27", "2026-03-20"], got
END
