"""Lifetimes of items: a node's `expires_at`, which refreshing reads move, and the thread that deletes the expired."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from langgraph.store.base import TTLConfig

from neurogated.core.clock import from_micros
from neurogated.core.commit import REFRESHED
from neurogated.core.delta import Access, GraphDelta
from neurogated.integrations.langgraph.items import MICROS_A_MINUTE, Entry
from neurogated.runtime import Periodic
from neurogated.session import Notice, Session
from neurogated.subscribers import log_access

_SWEEP_MINUTES = 5.0
"""LangGraph's stores sweep as often unless they are told otherwise."""
_LEAST_SHARE = 0.01
"""A read moves the end of a lifetime only by this share of it or more, so that many reads are few writes."""


class _Move(NamedTuple):
    """A move of the end of a lifetime, in microseconds."""

    read: int
    """The end that was read."""
    end: int


class Lifetimes:
    """Refreshes items that are read, and counts accesses of them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._sweeper: Periodic | None = None

    def refresh(self, entries: Sequence[Entry], *, wanted: bool) -> None:
        """Count an access of each item, and begin their lifetimes again; without `wanted`, only of immortal ones."""
        read = [entry for entry in entries if wanted or entry.ttl is None]
        if not read:
            return
        log_access(self._session, Notice("changed", access=Access.of(entry.id for entry in read)))
        now, ends = self._session.now(), dict[str, _Move]()
        for entry in read:
            if entry.ttl is not None and entry.expires_at is not None:
                span = int(entry.ttl * MICROS_A_MINUTE)
                if now + span - entry.expires_at >= _LEAST_SHARE * span:
                    ends |= dict.fromkeys(entry.node_ids, _Move(entry.expires_at, now + span))
        if ends and not self._session.config.read_only:
            self._session.commit(lambda: self._later(ends))

    def _later(self, ends: dict[str, _Move]) -> GraphDelta:
        """Return the delta that moves the ends of lifetimes of nodes that have neither expired nor another end now."""
        nodes, now = self._session.store.get_nodes(list(ends), missing_ok=True), self._session.clock()
        moved = [
            one.changed(expires_at=from_micros(ends[one.id].end))
            for one in nodes
            if one.expires_at == from_micros(ends[one.id].read) and not one.has_expired(now)
        ]
        return GraphDelta(nodes=tuple(moved), reason=REFRESHED, at=self._session.clock())

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
