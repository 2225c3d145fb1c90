"""Time in this library: aware UTC datetimes in the API, integer microseconds inside."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from neurogated.errors import InputError

Clock = Callable[[], datetime]

Moment = datetime | str | float
"""A time as callers give it: a datetime, a text in ISO format such as `2027-01-31` or `2027-01-31T12:00:00Z`, or the
seconds since 1970 in UTC."""

MICROS_A_DAY = 86_400_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_MOST_STEPS = 10_000
_MOST_SECONDS = 1e11
_LAST_YEAR = 9999
"""Seconds since 1970 are below: the year is 5138. Milliseconds are above it since 1973."""


def utc_now() -> datetime:
    """Return the current time, aware and in UTC. This is the default clock."""
    return datetime.now(UTC)


def to_utc(moment: datetime) -> datetime:
    """Return `moment` in UTC; Python takes a naive datetime as local time.

    Raises:
        InputError: it is no datetime, or its UTC time is outside the years 1 to 9999.
    """
    if not isinstance(moment, datetime):
        raise InputError(f"{moment!r} is not a datetime")
    try:
        return moment.astimezone(UTC)
    except (OverflowError, ValueError):
        raise InputError(f"the time {moment} is outside the years 1 to 9999 in UTC; choose one within") from None


def checked_moment(name: str, value: object) -> datetime | None:
    """Return `value`, a `Moment` or None, as a datetime in UTC or None; `name` names it in the error.

    Raises:
        InputError: it is no time, or outside the calendar.
    """
    if value is None:
        return None
    moment = value
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
        except ValueError:
            moment = value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        if not abs(value) < _MOST_SECONDS:
            raise InputError(f"{name} is {value!r}, too much for seconds since 1970; divide milliseconds by 1000")
        if 0 < value <= _LAST_YEAR:
            raise InputError(f"{name} is {value!r}, which may be a year; give a datetime, or a text such as 2027-01-31")
        moment = _EPOCH + timedelta(seconds=value)
    if not isinstance(moment, datetime):
        raise InputError(
            f"{name} is {value!r}, but must be a datetime, a text such as 2027-01-31T12:00:00Z, or seconds since 1970"
        )
    return to_utc(moment)


def checked_version(as_of: int | Moment | None) -> int | datetime | None:
    """Return `as_of`, the number of a delta or a time, with the time as a datetime in UTC.

    Raises:
        InputError: it is neither.
    """
    if isinstance(as_of, int) and not isinstance(as_of, bool):
        return as_of
    if isinstance(as_of, float):
        raise InputError(f"as_of is {as_of!r}; give a time as a datetime or a text, since numbers name changes")
    return checked_moment("as_of, where it is no number of the history,", as_of)


def times_around(now: datetime, steps: int, step: timedelta) -> list[datetime]:
    """Return `steps` times before `now`, `now`, and `steps` times after it, each `step` apart.

    Raises:
        InputError: there are too many steps, or one is outside the calendar.
    """
    if not 0 <= steps <= _MOST_STEPS:
        raise InputError(f"steps must be a whole number from 0 to {_MOST_STEPS}")
    try:
        return [now + number * step for number in range(-steps, steps + 1)]
    except OverflowError:
        raise InputError(f"{steps} steps of {step} around {now} leave the calendar; choose fewer or smaller") from None


def to_micros(moment: datetime) -> int:
    """Return whole microseconds since 1970-01-01 UTC."""
    return (to_utc(moment) - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the aware UTC datetime `micros` microseconds after 1970-01-01."""
    return _EPOCH + timedelta(microseconds=int(micros))
