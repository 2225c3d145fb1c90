"""Lifetimes of items: which have expired, which reads have refreshed, and the thread that deletes them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from langgraph.store.base import TTLConfig

from neurogated.core.delta import Access
from neurogated.integrations.langgraph.items import Entry
from neurogated.runtime import Periodic
from neurogated.session import Notice, Session
from neurogated.subscribers import log_access

_SWEEP_MINUTES = 5.0
"""LangGraph's stores sweep as often unless they are told otherwise."""


class Lifetimes:
    """Counts each refreshing read as an access of the item, so the access log writes many of them in one delta."""

    def __init__(self, session: Session) -> None:
        self._session = session
        # The accesses that the log may not have written yet.
        self._used: dict[str, int] = {}
        self._sweeper: Periodic | None = None

    def refresh(self, entries: Iterable[Entry], *, wanted: bool) -> None:
        """Count an access of each item; without `wanted`, only of those that never expire."""
        read, now = [entry for entry in entries if wanted or entry.ttl is None], self._session.now()
        if read:
            self._used.update((entry.id, now) for entry in read if entry.ttl is not None)
            log_access(self._session, Notice("changed", access=Access.of(entry.id for entry in read)))

    def alive(self) -> Callable[[Entry, int], bool]:
        """Return a function that tells whether an item has not expired by now, given its last access."""
        now = self._session.now()
        return lambda entry, used_at: now < self.expires_at(entry, used_at)

    def expires_at(self, entry: Entry, used_at: int) -> float:
        """Return when an item expires, given the last access that the graph knows; in microseconds since 1970 UTC."""
        return entry.expires_at(max(used_at, self._used.get(entry.id, 0)))

    def forget(self, ids: Iterable[str]) -> None:
        """Forget the accesses of items that are deleted or replaced."""
        for name in ids:
            self._used.pop(name, None)

    def start(self, config: TTLConfig | None, minutes: float | None, sweep: Callable[[], int]) -> None:
        """Sweep again and again until `stop`, in a thread."""
        self.stop()
        every = minutes or (config or {}).get("sweep_interval_minutes") or _SWEEP_MINUTES
        self._sweeper = Periodic("ttl-sweeper", every * 60, sweep)

    def stop(self) -> bool:
        """End the thread; return whether there was one."""
        sweeper, self._sweeper = self._sweeper, None
        if sweeper is not None:
            sweeper.close()
        return sweeper is not None
