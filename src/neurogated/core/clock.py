"""Time in this library: aware UTC datetimes in the API, integer microseconds inside."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from neurogated.errors import InputError

__all__ = ["MICROS_A_DAY", "Clock", "checked_moment", "from_micros", "to_micros", "to_utc", "utc_now"]

Clock = Callable[[], datetime]

MICROS_A_DAY = 86_400_000_000

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


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
    """Return `value`, a datetime in UTC or None; `name` names it in the error.

    Raises:
        InputError: it is no datetime, or outside the calendar.
    """
    if value is None:
        return None
    if not isinstance(value, datetime):
        raise InputError(f"{name} is {value!r}, but must be a datetime")
    return to_utc(value)


def to_micros(moment: datetime) -> int:
    """Return whole microseconds since 1970-01-01 UTC."""
    return (to_utc(moment) - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the aware UTC datetime `micros` microseconds after 1970-01-01."""
    return _EPOCH + timedelta(microseconds=int(micros))
