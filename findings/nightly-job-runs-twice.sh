#!/bin/sh
# Package: croniter 7.0.0, APScheduler 3.11.3, cronsim 2.8
# Behaviour: A job at 02:30 each day runs twice in the night in which the clock goes back, by two libraries, and once by a third; in the night in which it goes forward they run it at 03:00, 03:30 and 03:00.
# Guess: SC13, SC14: once (0.6, 0.5).
# Seen: 02:30+02:00 and 02:30+01:00 on 25 October 2026 in Berlin by croniter and APScheduler, the first only by cronsim.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 143' INT TERM
python3 -m venv --without-pip "$work/venv"
python3 -m pip --python "$work/venv/bin/python" install --quiet --no-compile --disable-pip-version-check --only-binary :all: croniter==7.0.0 APScheduler==3.11.3 cronsim==2.8 tzdata==2026.6
cd "$work"
"$work/venv/bin/python" -W ignore - <<'END'
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo
from apscheduler.triggers.cron import CronTrigger
from croniter import croniter
from cronsim import CronSim

berlin = ZoneInfo("Europe/Berlin")
line = "30 2 * * *"

def by_croniter(now):
    times = croniter(line, now)
    return [times.get_next(datetime) for _ in range(3)]

def by_apscheduler(now):
    trigger, times = CronTrigger.from_crontab(line, timezone=berlin), []
    for _ in range(3):
        times.append(trigger.get_next_fire_time(times[-1] if times else None, now))
        now = (times[-1].astimezone(timezone.utc) + timedelta(seconds=1)).astimezone(berlin)
    return times

def by_cronsim(now):
    times = CronSim(line, now)
    return [next(times) for _ in range(3)]

def on(day, now, library):
    times = [time.astimezone(timezone.utc).strftime("%d %H:%M") for time in library(now)]
    return [time[3:] for time in times if time.startswith(day)]

libraries = (by_croniter, by_apscheduler, by_cronsim)
back = [on("25", datetime(2026, 10, 24, 12, tzinfo=berlin), each) for each in libraries]
assert back == [["00:30", "01:30"], ["00:30", "01:30"], ["00:30"]], back
forward = [on("29", datetime(2026, 3, 28, 12, tzinfo=berlin), each) for each in libraries]
assert forward == [["01:00"], ["01:30"], ["01:00"]], forward
END
