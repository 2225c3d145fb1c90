"""A clock for tests, which stands still until it is moved."""

from datetime import UTC, datetime, timedelta

from neurogated.errors import MissingExtraError

__all__ = ["ManualClock"]

_MOVED = frozenset(("GraphModel", "GraphStoreContract", "GraphStoreMachine", "store_machine"))


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


def __getattr__(name: str) -> object:
    if name not in _MOVED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise MissingExtraError(
        f"{name} is in a package of its own: pip install ./kits/graph-store in a clone of the repository, "
        f"then from graph_store_kit import {name}"
    )
