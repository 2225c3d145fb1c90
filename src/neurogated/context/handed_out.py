"""The memories that recalls have handed out lately, to which echoes are compared."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from datetime import datetime, timedelta

from neurogated.config.metabolism_settings import MetabolismSettings

# Users whose memories a process remembers.
_MOST_USERS = 1000

# Memories that recalls handed out last, and that can be echoed.
_ECHO_MEMORIES = 100

# Minutes after a recall in which messages can echo its memories.
_ECHO_MINUTES = 60.0


class HandedOut:
    """The memories that recalls have handed out lately, by owner. Several threads may use it. It holds ids only."""

    def __init__(self, settings: MetabolismSettings) -> None:
        self._is_on = settings.find_echoes or settings.skip_echoes
        self._most, self._owners = _ECHO_MEMORIES, _MOST_USERS
        self._lasts = timedelta(minutes=_ECHO_MINUTES)
        self._lock = threading.Lock()
        self._ids: OrderedDict[tuple[str, str | None], OrderedDict[str, datetime]] = OrderedDict()

    def add(self, namespace: str, user_id: str | None, ids: Sequence[str], now: datetime) -> None:
        """Note the memories of a recall, best first."""
        if not self._is_on:
            return
        with self._lock:
            held = self._ids.setdefault((namespace, user_id), OrderedDict())
            self._ids.move_to_end((namespace, user_id))
            for name in reversed(ids[: self._most]):
                held[name] = now
                held.move_to_end(name)
            while len(held) > self._most:
                held.popitem(last=False)
            while len(self._ids) > self._owners:
                self._ids.popitem(last=False)

    def ids(self, namespace: str, user_id: str | None, now: datetime) -> list[str]:
        """Return the memories that were handed out lately, the latest first."""
        with self._lock:
            held = self._ids.get((namespace, user_id), OrderedDict[str, datetime]())
            return [name for name, at in reversed(held.items()) if abs(now - at) <= self._lasts]
