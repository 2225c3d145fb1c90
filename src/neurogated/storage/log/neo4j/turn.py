"""`Turn`: the write lock of a memory, held in its database."""

from __future__ import annotations

import contextlib
import random
import secrets
import threading
import time
from collections.abc import Iterator
from typing import Any

from neurogated.errors import MemoryClosedError, MemoryLockedError, StorageError
from neurogated.storage.log.neo4j.connection import Connection

_LEASE_SECONDS = 6.0
"""How long others wait for a holder that died; less than the default of `runtime.write_lock_seconds`."""
_RENEWAL_SECONDS = 2.0
_LOOK_SECONDS = 0.002
_LONGEST_LOOK_SECONDS = 0.05

_IS_FREE = "m.until < timestamp() OR m.holder = $holder"
# Setting a property takes the lock of the node, where the server has locks; only then is the second condition certain.
_TAKE = (
    f"MATCH (m:NeurogatedMemory {{memory: $memory}}) WHERE {_IS_FREE} SET m.asked = $holder WITH m WHERE {_IS_FREE}"
    " SET m.holder = $holder, m.until = timestamp() + $lease RETURN properties(m) AS memory"
)
_RENEW = "MATCH (m:NeurogatedMemory {memory: $memory}) WHERE m.holder = $holder SET m.until = timestamp() + $lease"
_RELEASE = "MATCH (m:NeurogatedMemory {memory: $memory}) WHERE m.holder = $holder SET m.until = 0, m.holder = ''"


class Turn:
    """One hold of the write lock. The database keeps it as a lease, which a thread renews while the block runs.

    A lease, not a lock of the server: a block may last long, and some servers that speak Bolt have no locks.
    """

    def __init__(self, connection: Connection) -> None:
        self.holder = secrets.token_hex(8)
        """A text that no other turn has."""
        self._connection = connection
        self._ended = threading.Event()

    @contextlib.contextmanager
    def held(self, patience: float) -> Iterator[dict[str, Any]]:
        """Wait for the lock, and run a block with it; give the properties of the memory.

        Raises:
            MemoryLockedError: another process holds the lock for longer than `patience` seconds.
        """
        memory = self._taken(patience)
        threading.Thread(target=self._keep, name="neurogated-turn", daemon=True).start()
        try:
            yield memory
        finally:
            self._ended.set()
            # What the block wrote is committed. If the server is away, the lease ends by itself.
            with contextlib.suppress(StorageError, MemoryClosedError):
                self._connection.read(_RELEASE, holder=self.holder)

    def _taken(self, patience: float) -> dict[str, Any]:
        end, pause, lease = time.monotonic() + patience, _LOOK_SECONDS, int(1000 * _LEASE_SECONDS)
        while not (rows := self._connection.read(_TAKE, holder=self.holder, lease=lease)):
            if time.monotonic() > end:
                raise MemoryLockedError(
                    f"another process is writing to {self._connection.address}; try again later, or raise "
                    f"runtime.write_lock_seconds, which is {patience:g} here"
                )
            time.sleep(pause * random.random())  # noqa: S311 - parts contenders
            pause = min(2 * pause, _LONGEST_LOOK_SECONDS)
        return dict(rows[0]["memory"])

    def _keep(self) -> None:
        while not self._ended.wait(_RENEWAL_SECONDS):
            # The next write reports a server that is away.
            with contextlib.suppress(StorageError, MemoryClosedError):
                self._connection.read(_RENEW, holder=self.holder, lease=int(1000 * _LEASE_SECONDS))
