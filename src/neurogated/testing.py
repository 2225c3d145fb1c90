"""A clock for tests, which stands still until it is moved."""

from datetime import UTC, datetime, timedelta

__all__ = ["ManualClock"]


class ManualClock:
    """A clock that stands still until `advance` moves it."""

    def __init__(self, start: datetime = datetime(2026, 1, 1, tzinfo=UTC)) -> None:
        self.now = start

    def __call__(self) -> datetime:
        """Return the time it shows."""
        return self.now

    def advance(self, by: timedelta) -> None:
        """Move it forward; a negative `by` moves it back."""
        self.now += by
