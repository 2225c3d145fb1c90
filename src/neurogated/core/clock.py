"""Time in this library: aware UTC datetimes in the API, integer microseconds inside."""

from collections.abc import Callable, Iterable
from datetime import MAXYEAR, MINYEAR, UTC, date, datetime, timedelta

from neurogated.errors import InputError
from neurogated.text.times import Zone

Clock = Callable[[], datetime]

Moment = datetime | str | float
"""A time as callers give it: a datetime, a text in ISO format such as `2027-01-31` or `2027-01-31T12:00:00Z`, or the
seconds or milliseconds since 1970 in UTC. Without a zone it is a time in the zone of the memory; see `Zone`. A day
without an hour is its midnight, so that clocks further west show the day before."""

MICROS_A_DAY = 86_400_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MOST_STEPS = 10_000
_MOST_SECONDS = 1e11
"""Seconds since 1970 are below: the year is 5138. Milliseconds are above it since 1973."""
_FEWEST_SECONDS = 1e8
"""Years, days such as 20270131, and offsets are below; seconds are above it since March 1973."""


def utc_now() -> datetime:
    """Return the current time, aware and in UTC. This is the default clock."""
    return datetime.now(UTC)


def offset_of(moment: object) -> Zone:
    """Return the zone in which a time is given; None if it names none, or UTC."""
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            return None
    return moment.tzinfo if isinstance(moment, datetime) and moment.utcoffset() else None


def offset_in_minutes(moment: datetime | None) -> int | None:
    """Return how many whole minutes the zone of a time is ahead of UTC; None without a zone, or for UTC."""
    offset = None if moment is None else moment.utcoffset()
    return (offset // timedelta(minutes=1) or None) if offset else None


def local(moment: datetime, zone: Zone) -> datetime:
    """Return a time as the clocks of a zone show it; unchanged at the ends of the calendar."""
    try:
        return moment.astimezone(zone)
    except (OverflowError, ValueError):
        return moment


def day_in(moment: datetime, zone: Zone) -> date:
    """Return the day in a zone on which a moment lies."""
    return local(moment, zone).date()


def to_utc(moment: datetime, zone: Zone = None) -> datetime:
    """Return `moment` in UTC, a naive one as a time in `zone`; raises InputError outside the years 1 to 9999."""
    if type(moment) is datetime and moment.tzinfo is UTC:
        return moment
    if not isinstance(moment, datetime):
        raise InputError(f"{moment!r} is not a datetime")
    try:
        if moment.tzinfo is None and zone is None and moment.year in (MINYEAR, MAXYEAR):
            # From Python 3.13 on, the machine's zone is not found at the ends of the calendar.
            zone = (moment + timedelta(2 if moment.year == MINYEAR else -2)).astimezone().tzinfo
        return (moment.replace(tzinfo=zone) if zone and moment.tzinfo is None else moment).astimezone(UTC)
    except (OverflowError, ValueError):
        raise InputError(f"the time {moment} is outside the years 1 to 9999 in UTC; choose one within") from None


def checked_moment(name: str, value: object, zone: Zone = None) -> datetime | None:
    """Return `value`, a `Moment` or None, in UTC or None; raises InputError, which calls it `name`."""
    moment = read_moment(name, value)
    return None if moment is None else to_utc(moment, zone)


def read_moment(name: str, value: object) -> datetime | None:
    """Return `value`, a `Moment` or None, as a datetime, without a zone if none is given; see `checked_moment`."""
    if value is None:
        return None
    moment = value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if not abs(value) < _MOST_SECONDS * 1000:
            raise InputError(f"{name} is {value!r}, too much for seconds or milliseconds since 1970")
        if 0 <= value < _FEWEST_SECONDS:
            raise InputError(
                f"{name} is {value!r}, which may be a year, a day or an offset instead of seconds since 1970; "
                "give a datetime, or a text such as 2027-01-31"
            )
        moment = _EPOCH + timedelta(seconds=value if abs(value) < _MOST_SECONDS else value / 1000)
    if not isinstance(moment, datetime):
        raise InputError(
            f"{name} is {value!r}, but must be a datetime, a text such as 2027-01-31T12:00:00Z, or seconds since 1970"
        )
    to_utc(moment)
    return moment


def read_expiration(name: str, value: object) -> datetime | None:
    """Return the end of an expiration date, which is the last day that counts; a time with an hour as it is."""
    found = read_moment(name, value)
    is_day = isinstance(value, str) and len(value) == len("2027-01-31")
    return found + timedelta(1) if found and is_day and found.date() < date.max else found


def checked_version(as_of: int | Moment | None, zone: Zone = None) -> int | datetime | None:
    """Return `as_of`, the number of a delta or a time, with the time in UTC; raises InputError if it is neither."""
    if isinstance(as_of, int) and not isinstance(as_of, bool):
        return as_of
    if isinstance(as_of, float):
        raise InputError(f"as_of is {as_of!r}; give a time as a datetime or a text, since numbers name changes")
    return checked_moment("as_of, where it is no number of the history,", as_of, zone)


def times_around(now: datetime, steps: int, step: timedelta) -> list[datetime]:
    """Return `steps` times before `now`, `now`, and `steps` times after it, each `step` apart; raises InputError."""
    if not 0 <= steps <= _MOST_STEPS:
        raise InputError(f"steps must be a whole number from 0 to {_MOST_STEPS}")
    try:
        return [now + number * step for number in range(-steps, steps + 1)]
    except OverflowError:
        raise InputError(f"{steps} steps of {step} around {now} leave the calendar; choose fewer or smaller") from None


def to_micros(moment: datetime) -> int:
    """Return whole microseconds since 1970-01-01 UTC."""
    return ((moment if moment.tzinfo is UTC else to_utc(moment)) - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the aware UTC datetime `micros` microseconds after 1970-01-01."""
    return _EPOCH + int(micros) * _MICROSECOND


def moments(micros: Iterable[int | None]) -> list[datetime | None]:
    """Return the aware UTC datetimes so many microseconds after 1970-01-01; None for None."""
    return [None if one is None else _EPOCH + one * _MICROSECOND for one in micros]
