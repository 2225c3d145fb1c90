"""Time as the library keeps it: aware UTC datetimes outside, integer microseconds inside."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

__all__ = ["Clock", "from_micros", "to_micros", "to_utc", "utc_now"]

Clock = Callable[[], datetime]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def utc_now() -> datetime:
    """Return the current time, aware and in UTC; the clock used when none is injected."""
    return datetime.now(UTC)


def to_utc(moment: datetime) -> datetime:
    """Return `moment` in UTC; a naive datetime is taken as local time, as Python does."""
    return moment.astimezone(UTC)


def to_micros(moment: datetime) -> int:
    """Return whole microseconds since 1970-01-01 UTC."""
    return (to_utc(moment) - _EPOCH) // _MICROSECOND


def from_micros(micros: int) -> datetime:
    """Return the aware UTC datetime `micros` microseconds after 1970-01-01."""
    return _EPOCH + timedelta(microseconds=int(micros))
